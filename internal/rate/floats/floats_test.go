package floats

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestAgainstMath: each function is within four units in the last place of package math's.
func TestAgainstMath(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	check := func(name string, x, got, want float64) {
		unit := math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want)
		if math.Abs(got-want) > 4*unit {
			t.Errorf("%s(%v) = %v, want %v", name, x, got, want)
		}
	}
	for range testkit.Times(100_000, 1_000_000, 100_000_000) {
		x := rng.NormFloat64() * math.Exp(60*rng.Float64()-55)
		check("Log", math.Abs(x), Log(math.Abs(x)), math.Log(math.Abs(x)))
		if x > -1 {
			check("Log1p", x, Log1p(x), math.Log1p(x))
		}
		if math.Abs(x) < 700 {
			check("Exp", x, Exp(x), math.Exp(x))
			check("Expm1", x, Expm1(x), math.Expm1(x))
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, -745, -746, 709, 710, math.Inf(1), math.Inf(-1), 5e-324, 1e-310, math.MaxFloat64} {
		for name, f := range map[string][2]func(float64) float64{"Exp": {Exp, math.Exp}, "Expm1": {Expm1, math.Expm1}, "Log": {Log, math.Log}, "Log1p": {Log1p, math.Log1p}} {
			got, want := f[0](x), f[1](x)
			if name == "Log" && x < 1e-300 && x > 0 {
				want = math.Log(x*0x1p200) - 200*math.Ln2 // math.Log has none of subnormal numbers on amd64
			}
			if math.IsNaN(want) || math.IsInf(want, 0) {
				require.Equal(t, math.IsNaN(want), math.IsNaN(got), "%s(%v)", name, x)
				require.Equal(t, math.IsInf(want, 0), math.IsInf(got, 0), "%s(%v)", name, x)
				continue
			}
			check(name, x, got, want)
		}
	}
	for k := range 256 {
		require.InEpsilon(t, math.Pow(0.7, float64(k)), Pow(0.7, k), 1e-13)
		require.InEpsilon(t, math.Pow(0.7, 1/float64(k+1)), Root(0.7, k+1), 1e-15)
	}
	require.Zero(t, Root(0, 7))
}

// TestNoFusedOperations: the compiler joins no product and sum, and nothing is called whose last digit
// depends on the architecture, in the packages that sizes come from.
func TestNoFusedOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED with -short: that the compiler fuses no product and sum, which takes a build of the runtime")
	}
	architectures := []string{"arm64"}
	if *testkit.Long {
		architectures = append(architectures, "amd64", "loong64", "ppc64le", "riscv64", "s390x")
	}
	fused := regexp.MustCompile(`\bV?FN?M(ADD|SUB)\w*|\bWFN?M[AS]DB\b|\bCALL\tmath\.(Cos|Exp|Exp2|Expm1|Log|Log10|Log1p|Log2|Pow|Sin|Sincos)\b.*`)
	for _, arch := range architectures {
		cmd := exec.Command("go", "build", "-gcflags=-S", "github.com/seed3447c163/bloom/internal/rate/floats", "github.com/seed3447c163/bloom/internal/rate")
		cmd.Env = append(os.Environ(), "GOARCH="+arch, "GOAMD64=v3", "CGO_ENABLED=0")
		code, err := cmd.CombinedOutput()
		require.NoError(t, err, "%.2000s", code)
		require.Contains(t, string(code), "rate.Independent STEXT")
		for line := range strings.Lines(string(code)) {
			// Allowed: the logarithm of a number that has none, and exact.go, which asks for fused operations.
			if fused.MatchString(line) && !strings.Contains(line, "math.Log(SB)") && !strings.Contains(line, "/exact.go:") {
				t.Errorf("%s: %s", arch, line)
			}
		}
	}
}
