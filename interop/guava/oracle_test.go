package guava

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// debian is the class path of Debian's libguava-java: Guava, and a small library that some versions need.
var debian = strings.Join([]string{"/usr/share/java/guava.jar", "/usr/share/java/failureaccess.jar"}, string(filepath.ListSeparator))

// An oracle runs testdata/Oracle.java, Guava itself, on folders of cases. It is one process
// for all tests of a release.
type oracle struct {
	t              *testing.T
	dir, classPath string // dir: of the cases
	commands       io.Writer
	answers        *bufio.Reader
	stderr         *bytes.Buffer
}

// newOracle starts the program.
func newOracle(t *testing.T, classPath string) *oracle {
	if !*testkit.Long {
		t.Skip("NOT TESTED without -long: the comparison with Guava, which recorded the golden files")
	}
	if _, err := os.Stat(filepath.SplitList(classPath)[0]); err != nil {
		testkit.Missing(t, classPath+" (Debian: libguava-java)")
	}
	testkit.Program(t, "javac", "default-jdk-headless")
	o := &oracle{t: t, dir: t.TempDir(), classPath: classPath, stderr: new(bytes.Buffer)}
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

// An oracleCase is a filter that both sides make. The other side then adds more keys.
type oracleCase struct {
	name               string
	strategy           int
	n                  uint64
	p                  float64
	keys, more, probes oracleKeys
}

// oracleSizes are n and p of the cases: from one word to more than one chunk, from k = 1
// to k = 133.
var oracleSizes = []bloom.Params{
	{P: 0.03}, {N: 1, P: 0.5}, {N: 1, P: 0.3}, {N: 10, P: 0.01}, {N: 100, P: 1e-40}, {N: 1000, P: 0.03}, {N: 1000, P: 1e-6}, {N: 30_000, P: 1e-4}, {N: 200_000, P: 0.03},
}

// oracleCases are all strategies with all sizes and all funnels.
func oracleCases() (list []oracleCase) {
	const most = 100_000
	for _, funnel := range slices.Sorted(maps.Keys(funnels)) {
		keys, more, probes := keysFor(funnel, 0, 3000), keysFor(funnel, 1, 1000), keysFor(funnel, 2, most)
		probes.list = slices.Concat(keys.list, more.list, probes.list)[:most]
		for strategy := range 2 {
			for i, size := range oracleSizes {
				list = append(list, oracleCase{fmt.Sprintf("%s-%d-%d", funnel, strategy, i), strategy, size.N, size.P, keys, more, probes})
			}
		}
	}
	return list
}

// filter is an empty one, with the parameters that the Guava at hand chooses.
func (c *oracleCase) filter(t *testing.T, release Release) *bloom.BloomFilter {
	params, err := Params(c.n, c.p, release)
	require.NoError(t, err)
	f, err := testkit.Filter(bloom.NewSchemeWithParams(params, bloom.WithStrategy(strategies[c.strategy])))
	require.NoError(t, err)
	return f
}

// prepare writes down the cases and their keys.
func (o *oracle) prepare(cases []oracleCase) {
	var lines strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&lines, "%s %d %d %v %s", c.name, c.strategy, c.n, c.p, c.keys.funnel)
		for i, keys := range []oracleKeys{c.keys, c.more, c.probes} {
			var list bytes.Buffer
			for _, key := range keys.list {
				fmt.Fprintf(&list, "%x\n", key)
			}
			name := fmt.Sprintf("%s.keys%d", keys.funnel, i)
			o.write(name, list.Bytes())
			fmt.Fprint(&lines, " ", name)
		}
		fmt.Fprintln(&lines)
	}
	o.write("cases.txt", []byte(lines.String()))
}

// oracleKeys are keys in the form in which the oracle takes them; see decode in Oracle.java.
type oracleKeys struct {
	funnel string
	list   [][]byte
}

// answers calls Add or Contains of a filter with each key, and returns the answers as the oracle does.
func (k *oracleKeys) answers(call func([]byte) bool) string {
	answers := bytes.Repeat([]byte("0"), len(k.list))
	for i, key := range k.list {
		if call(funnels[k.funnel](nil, key)) {
			answers[i] = '1'
		}
	}
	return string(answers)
}

// texts are empty, without ASCII, with surrogate pairs, long, and with special characters.
var texts = []string{
	"", " ", "\x00", "\x7f", "é", "e\u0301", "Grüße aus Köln", "日本語", "\ufffd", "\ufeff", "\uffff", "\ue000",
	"😀", "a😀b", "👩‍👩‍👧‍👦", "\U0010ffff", "𝄞𝄞𝄞", "مرحبا", "\"\\\r\t",
	strings.Repeat("a", 15), strings.Repeat("b", 16), strings.Repeat("c", 17), strings.Repeat("d", 10_000),
	strings.Repeat("ü", 5000), strings.Repeat("😀", 3333), strings.Repeat("日本", 31),
}

var numbers = []int64{0, 1, -1, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, 0x0123456789abcdef}

// text is the i-th of a set of texts; sets have none in common. The special ones are in
// set 0.
func text(set, i int) string {
	if set == 0 && i < len(texts) {
		return texts[i]
	}
	kind := [...]string{"https://example.com/%d/%d", "ключ-%d-%d", "鍵 %d/%d", "😀%d😀%d"}[i%4]
	return fmt.Sprintf(kind, set, i)
}

// number is text for numbers. All differ as int32 too.
func number(set, i int) int64 {
	if set == 0 && i < len(numbers) {
		return numbers[i]
	}
	return int64(set+1)<<40 + int64(i+7)*0x9e3779b1
}

// keysFor returns the first count keys of a set.
func keysFor(funnel string, set, count int) oracleKeys {
	k := oracleKeys{funnel: funnel}
	for i := range count {
		k.list = append(k.list, keyFor(funnel, set, i))
	}
	return k
}

func keyFor(funnel string, set, i int) []byte {
	switch s := text(set, i); funnel {
	case "int":
		return binary.BigEndian.AppendUint32(nil, uint32(number(set, i)+int64(set)<<30))
	case "long":
		return binary.BigEndian.AppendUint64(nil, uint64(number(set, i)))
	case "longs":
		var key []byte
		for j := range i % 4 {
			key = binary.BigEndian.AppendUint64(key, uint64(number(set, i+j)))
		}
		return key
	case "fields":
		return append(binary.BigEndian.AppendUint64(nil, uint64(number(set, i))), s...)
	case "bytes":
		if set == 0 && i < 300 { // all lengths, all values
			key := make([]byte, i)
			for j := range key {
				key[j] = byte(i + j)
			}
			return key
		}
		return append([]byte{0xff, byte(i), 0x80, 0}, s...)
	default:
		return []byte(s)
	}
}

// funnels feed such keys to a filter, by the functions that users have.
var funnels = map[string]func(dst, key []byte) []byte{
	"utf8":  appendKey[[]byte],
	"utf16": func(dst, key []byte) []byte { return UnencodedCharsFunnel(dst, string(key)) },
	"int":   func(dst, key []byte) []byte { return IntegerFunnel(dst, int32(binary.BigEndian.Uint32(key))) },
	"long":  func(dst, key []byte) []byte { return LongFunnel(dst, int64(binary.BigEndian.Uint64(key))) },
	"bytes": appendKey[[]byte],
	"longs": func(dst, key []byte) []byte {
		for ; len(key) > 0; key = key[8:] {
			dst = LongFunnel(dst, int64(binary.BigEndian.Uint64(key)))
		}
		return dst
	},
	"fields": func(dst, key []byte) []byte {
		n, s := int64(binary.BigEndian.Uint64(key)), string(key[8:])
		dst = append(dst, s...)
		dst = UnencodedCharsFunnel(dst, s)
		dst = LongFunnel(dst, n)
		dst = IntegerFunnel(dst, int32(n))
		dst = binary.LittleEndian.AppendUint16(dst, uint16(n)) // putShort
		dst = binary.LittleEndian.AppendUint16(dst, uint16(n)) // putChar
		dst = append(dst, byte(n), byte(n&1))                  // putByte, putBoolean
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(n)))
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(float64(n)))
	},
}
