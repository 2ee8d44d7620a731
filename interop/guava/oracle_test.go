package guava

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// debian has the jars of Debian's libguava-java: Guava, and a small library that some versions need.
var debian = []string{"/usr/share/java/guava.jar", "/usr/share/java/failureaccess.jar"}

// guavas are the class paths of the releases to compare with: Debian's, and the jars that
// BLOOM_GUAVA_JARS names. bash .ci/install DIR fetches some and prints the variable.
func guavas() [][]string {
	paths := [][]string{debian}
	for _, jar := range filepath.SplitList(os.Getenv("BLOOM_GUAVA_JARS")) {
		paths = append(paths, []string{jar})
	}
	return paths
}

// An oracle runs testdata/Oracle.java, Guava itself, on folders of cases. It is one process
// for all tests of a release.
type oracle struct {
	t         *testing.T
	dir       string // of the cases
	classPath string

	commands io.Writer
	answers  *bufio.Reader
	stderr   *bytes.Buffer
}

// newOracle starts the program. Without a JDK and Guava the test is skipped, or,
// with BLOOM_REQUIRE=1 in the environment, fails.
func newOracle(t *testing.T, path []string) *oracle {
	if testing.Short() {
		t.Skip("NOT TESTED with -short: the comparison with Guava")
	}
	missing := func(what string) {
		if os.Getenv("BLOOM_REQUIRE") != "" {
			t.Fatalf("%s, and BLOOM_REQUIRE is set", what)
		}
		t.Skipf("NOT TESTED against Guava: %s. Debian has default-jdk-headless and libguava-java; BLOOM_REQUIRE=1 makes this a failure", what)
	}
	if _, err := os.Stat(path[0]); err != nil {
		missing("there is no " + path[0])
	}
	for _, command := range []string{"javac", "java"} {
		if _, err := exec.LookPath(command); err != nil {
			missing("there is no " + command)
		}
	}
	o := &oracle{t: t, dir: t.TempDir(), classPath: strings.Join(path, string(filepath.ListSeparator)), stderr: new(bytes.Buffer)}
	java := exec.Command("java", append(quickJava, "-Xmx4g", "-cp", o.classPath, "testdata/Oracle.java")...)
	java.Env, java.Stderr = utf8Environment(), o.stderr
	stdin, err := java.StdinPipe()
	require.NoError(t, err)
	stdout, err := java.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, java.Start())
	t.Cleanup(func() {
		require.NoError(t, stdin.Close())
		require.NoError(t, java.Wait(), "%s", o.stderr)
	})
	o.commands, o.answers = stdin, bufio.NewReader(stdout)
	return o
}

// quickJava are options for programs that live for seconds.
var quickJava = []string{"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"}

// utf8Environment is needed before Java 18, which reads sources as the locale says.
func utf8Environment() []string { return append(os.Environ(), "LC_ALL=C.UTF-8") }

// run sends a command to Guava.
func (o *oracle) run(what string) {
	_, err := fmt.Fprintln(o.commands, what, o.dir)
	require.NoError(o.t, err)
	answer, err := o.answers.ReadString('\n')
	require.NoError(o.t, err, "%s: %s", what, o.stderr)
	o.t.Log(what, "by", strings.TrimSpace(answer))
}

func (o *oracle) write(name string, data []byte) {
	require.NoError(o.t, os.WriteFile(filepath.Join(o.dir, name), data, 0o600))
}

func (o *oracle) read(name string) []byte {
	data, err := os.ReadFile(filepath.Join(o.dir, name))
	require.NoError(o.t, err)
	return data
}

// An oracleCase is a filter that both sides make. more are keys that the other side
// adds to it afterwards.
type oracleCase struct {
	name               string
	strategy           int
	n                  uint64
	p                  float64
	funnel             string
	keys, more, probes *oracleKeys
}

// oracleKeys are keys in two forms: for the oracle, and as the funnel's bytes.
type oracleKeys struct{ raw, fed keyList }

func feed(funnel string, raw keyList) *oracleKeys {
	fed := make(keyList, len(raw))
	for i, key := range raw {
		fed[i] = funnels[funnel](nil, key)
	}
	return &oracleKeys{raw, fed}
}

// oracleSizes are n and p of the cases: from one word to more than one chunk, from k = 1
// to k = 133.
var oracleSizes = []struct {
	n uint64
	p float64
}{{0, 0.03}, {1, 0.5}, {1, 0.3}, {10, 0.01}, {100, 1e-40}, {1000, 0.03}, {1000, 1e-6}, {30_000, 1e-4}, {200_000, 0.03}}

// someQuestions are asked by default, so that the tests are quick; .ci/long asks more.
const someQuestions = 5000

var (
	allCases  = flag.Bool("all", false, "compare with Guava on all cases instead of a quarter, and beyond 2^31 bits: a minute and some memory")
	questions = flag.Int("questions", someQuestions, "how many questions each filter is asked, here and there: 4000 at least")
)

// oracleCases are all strategies with all sizes and all funnels, or some of each.
func oracleCases() (list []oracleCase) {
	number, most := 0, *questions
	for _, funnel := range slices.Sorted(maps.Keys(funnels)) {
		keys, more, probes := keysFor(funnel, 0, 3000), keysFor(funnel, 1, 1000), keysFor(funnel, 2, most)
		probes = append(append(append(keyList{}, keys...), more...), probes[:most-len(keys)-len(more)]...)
		fedKeys, fedMore, fedProbes := feed(funnel, keys), feed(funnel, more), feed(funnel, probes)
		for strategy := range 2 {
			for i, size := range oracleSizes {
				if number++; !*allCases && number%4 != 0 {
					continue
				}
				name := fmt.Sprintf("%s-%d-%d", funnel, strategy, i)
				list = append(list, oracleCase{name, strategy, size.n, size.p, funnel, fedKeys, fedMore, fedProbes})
			}
		}
	}
	return list
}

// filter is an empty one, with the parameters that the Guava at hand chooses.
func (c *oracleCase) filter(t *testing.T, parameters func(uint64, float64) (bloom.Params, error)) *bloom.BloomFilter {
	params, err := parameters(c.n, c.p)
	require.NoError(t, err)
	f, err := bloom.NewWithParams(params, bloom.WithStrategy(strategies[c.strategy]))
	require.NoError(t, err)
	return f
}

// add adds keys, and returns the answers as the oracle does.
func (k *oracleKeys) add(f *bloom.BloomFilter) []byte { return k.each(f.Add) }

func (k *oracleKeys) ask(f *bloom.BloomFilter) []byte { return k.each(f.Contains) }

func (k *oracleKeys) each(op func([]byte) bool) []byte {
	answers := make([]byte, len(k.fed))
	for i, key := range k.fed {
		answers[i] = '0'
		if op(key) {
			answers[i] = '1'
		}
	}
	return answers
}

// prepare writes down the cases and their keys.
func (o *oracle) prepare(cases []oracleCase) {
	var lines strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&lines, "%s %d %d %v %s", c.name, c.strategy, c.n, c.p, c.funnel)
		for _, which := range []struct {
			name string
			keys *oracleKeys
		}{{"keys", c.keys}, {"more", c.more}, {"probes", c.probes}} {
			name := c.funnel + "." + which.name
			o.write(name, which.keys.raw.encode())
			fmt.Fprintf(&lines, " %s", name)
		}
		fmt.Fprintln(&lines)
	}
	o.write("cases.txt", []byte(lines.String()))
}

func since(release Release) func(uint64, float64) (bloom.Params, error) {
	return func(n uint64, p float64) (bloom.Params, error) { return Params(n, p, release) }
}
