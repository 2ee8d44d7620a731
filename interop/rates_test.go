// Package interop_test holds what is true of the strategies of all other systems.
package interop_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/seed3447c163/bloom/interop/npmbloomfilters"
	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/stretchr/testify/require"
)

// TestRatesOfSmallFilters measures the table of docs/formats.md: the rate of a filter of bloom.New in times of p.
// The hits are within 5 standard deviations, and 10 % for the table's own error.
func TestRatesOfSmallFilters(t *testing.T) {
	doc, err := os.ReadFile("../docs/formats.md")
	require.NoError(t, err)
	for _, s := range []bloom.Strategy{guava.Mitz64, guava.Mitz32, redisbloom.Strategy, npmbloomfilters.Strategy, bitsandblooms.Strategy} {
		_, row, found := strings.Cut(string(doc), "\n| `"+s.Name()+"` |")
		require.True(t, found, s)
		row, _, _ = strings.Cut(row, "|\n")
		cells := strings.Split(row, "|")
		for i, plan := range []bloom.Params{{N: 100, P: 1e-4}, {N: 100, P: 1e-6}, {N: 1000, P: 1e-6}} {
			times, err := strconv.ParseFloat(strings.TrimSpace(cells[i]), 64)
			require.NoError(t, err)
			trials := testkit.Times(500_000, 1_000_000, 60_000_000)
			hits, want := float64(measure(t, s, plan, trials)), times*plan.P*float64(trials)
			require.InDelta(t, want, hits, 5*math.Sqrt(want)+0.1*want+1, "%v %v", s, plan)
		}
	}
}

// measure counts the false positives among random keys, in filters of n random keys.
func measure(t *testing.T, s bloom.Strategy, plan bloom.Params, trials int) (hits int) {
	const filters = 50
	r := rand.New(rand.NewPCG(plan.N, 7))
	scheme, err := bloom.NewScheme(plan.N, plan.P, bloom.WithStrategy(s))
	require.NoError(t, err)
	var key [16]byte
	for range filters {
		f, err := scheme.Filter()
		require.NoError(t, err)
		add, contains := f.AddDigest, f.ContainsDigest
		if s.NeedsKey() {
			add = func(h1, h2 uint64) bool {
				return f.Add(append(binary.LittleEndian.AppendUint64(key[:0], h1), byte(h2)))
			}
			contains = func(h1, h2 uint64) bool {
				return f.Contains(append(binary.LittleEndian.AppendUint64(key[:0], h1), byte(h2)))
			}
		}
		digest := func() (h1, h2 uint64) {
			h1, h2 = r.Uint64(), r.Uint64()
			if s == npmbloomfilters.Strategy {
				return h1 >> 32, h2 >> 32 // its hash has 32 bits
			}
			return h1, h2
		}
		for range plan.N {
			add(digest())
		}
		for range trials / filters {
			if contains(digest()) {
				hits++
			}
		}
	}
	return hits
}
