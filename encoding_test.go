package bloom

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestFrozenFiles: bytes that were written once are what is written today, on every
// architecture. A difference breaks every file: mend the code, never the golden.
func TestFrozenFiles(t *testing.T) {
	filters := portables(t)
	for name, p := range filters {
		require.True(t, bytes.Equal(golden(t, name, p.f), marshal(t, p.f)), name)
	}
	files := must(filepath.Glob("testdata/*.bloom"))
	require.Len(t, files, len(filters), "a golden file of no filter")
}

// TestRoundTrip: every filter of a golden file, by every way to write and to read it. TestConformance has the rest.
func TestRoundTrip(t *testing.T) {
	for name, p := range portables(t) {
		data := marshal(t, p.f)
		require.Len(t, data, headerBytes(len(p.f.Scheme().Strategy().Name())+len(p.f.scheme.hash.name))+len(p.f.bits)*8+8, name)

		same(t, p.f, must(Read(bytes.NewReader(data), p.opts...)))

		// Into a filter that has the key and the strategy.
		g := MustNew(5, 0.5, p.opts...)
		n, err := g.readFrom(bytes.NewReader(data))
		require.NoError(t, err)
		require.Equal(t, int64(len(data)), n)
		same(t, p.f, g)
		g.Add([]byte("another"))
		require.NoError(t, g.UnmarshalBinary(data))
		same(t, p.f, g)

		text := must(p.f.MarshalText())
		g = MustNew(5, 0.5, p.opts...)
		require.NoError(t, g.UnmarshalText(text))
		same(t, p.f, g)

		var zero BloomFilter
		if err := zero.UnmarshalBinary(data); len(p.opts) == 0 {
			require.NoError(t, err)
			same(t, p.f, &zero)
		} else {
			require.ErrorIs(t, err, ErrIncompatible)
			require.Equal(t, BloomFilter{}, zero)
		}
	}
}

// TestRoundTripOfManyChunks: sizes around the writer's chunk and the reader's
// doubling.
func TestRoundTripOfManyChunks(t *testing.T) {
	const chunk = format.ChunkBytes / 8
	for _, words := range []uint64{1, 2, 63, 64, 65, 127, 128, 129, chunk - 9, chunk - 8, chunk - 7, chunk, chunk + 1, 2*chunk - 8, 2*chunk - 7, 5*chunk + 3} {
		f := must(newWithParams(Params{M: words*64 - 17, K: 3}))
		for i := range f.bits {
			f.bits[i].Store(mix(uint64(i)))
		}
		f.bits[words-1].And(1<<47 - 1)
		data := marshal(t, f)
		for _, r := range []io.Reader{bytes.NewReader(data), io.MultiReader(bytes.NewReader(data))} {
			g := must(Read(r))
			require.True(t, f.Equal(g), "%d words", words)
		}
	}
}

func TestGobAndJSON(t *testing.T) {
	type state struct {
		Name    string
		Pointer *BloomFilter
		Value   BloomFilter
		Nil     *BloomFilter
	}
	f, g := MustNew(100, 0.01), MustNew(10, 0.1, WithStrategy(Blocked))
	f.AddString("f")
	g.AddString("g")
	in := state{Name: "state", Pointer: f, Value: *g}

	// Not behind a pointer: nothing is addressable.
	text := must(json.Marshal(in))
	var out state
	require.NoError(t, json.Unmarshal(text, &out))
	same(t, f, out.Pointer)
	same(t, g, &out.Value)
	require.Nil(t, out.Nil)

	var stream bytes.Buffer
	require.NoError(t, gob.NewEncoder(&stream).Encode(in))
	out = state{}
	require.NoError(t, gob.NewDecoder(&stream).Decode(&out))
	same(t, f, out.Pointer)
	same(t, g, &out.Value)
	require.Nil(t, out.Nil)

	require.Error(t, json.Unmarshal([]byte(`"AAAA"`), new(BloomFilter)))
	_, err := json.Marshal(BloomFilter{})
	require.ErrorIs(t, err, ErrInvalid)
}

func TestTextIsStrict(t *testing.T) {
	f := MustNew(10, 0.1)
	text := must(f.MarshalText())
	g := MustNew(20, 0.2)
	for _, bad := range []string{"", "A", "====", string(text[:len(text)-1]), string(text) + "AAAA", string(text) + "\x00", " " + string(text)} {
		require.ErrorIs(t, g.UnmarshalText([]byte(bad)), ErrCorrupt, "%q", bad)
	}
	require.Equal(t, uint64(20), g.Params().N)
	require.NoError(t, g.UnmarshalText([]byte(string(text[:10])+"\r\n"+string(text[10:])+"\n")))
	require.True(t, f.Equal(g))
}

func TestNotPortable(t *testing.T) {
	for text, f := range map[string]*BloomFilter{
		"its hash is maphash, want Murmur3, RapidHash or a secret": MustNew(10, 0.1, WithHash(MapHash)),
		"its strategy has no name":                                 MustNew(10, 0.1, WithStrategy(NewStrategy("", tripleDefinition))),
		"its hash has no name":                                     MustNew(10, 0.1, WithHash(NewHash64("", func([]byte) uint64 { return 0 }))),
	} {
		var out bytes.Buffer
		_, written := f.WriteTo(&out)
		require.Zero(t, out.Len())
		_, binary := f.MarshalBinary()
		_, text2 := f.MarshalText()
		_, scheme := f.Scheme().AppendBinary(nil)
		for _, err := range []error{written, binary, text2, scheme, f.Scheme().Portable()} {
			require.ErrorIs(t, err, ErrNotPortable)
			require.EqualError(t, err, "bloom: filter is not portable: "+text)
		}
	}
	for _, n := range []int{1, 16, 17, 80, 81, 255} {
		s := NewStrategy(strings.Repeat("x", n), tripleDefinition)
		f := MustNew(10, 0.1, WithStrategy(s))
		same(t, f, must(Read(bytes.NewReader(marshal(t, f)), WithStrategy(s))))
	}
}

// TestEncodingAllocatesOnce: bytes and text are made in one slice of their size.
func TestEncodingAllocatesOnce(t *testing.T) {
	sequential(t) // with the race detector, slices.Grow allocates twice
	f := must(newWithParams(Params{M: 1 << 24, K: 7}))
	size, text := float64(f.SizeBytes()), must(f.MarshalText())
	for name, c := range map[string]struct {
		call func() error
		most float64 // times the size; text is 4/3 of it
	}{
		"WriteTo":       {func() error { _, err := f.WriteTo(io.Discard); return err }, 0.1},
		"MarshalBinary": {func() error { _, err := f.MarshalBinary(); return err }, 1.1},
		"MarshalText":   {func() error { _, err := f.MarshalText(); return err }, 1.4},
		"UnmarshalText": {func() error { return new(BloomFilter).UnmarshalText(text) }, 2.1}, // the bytes, and the filter
		"gob":           {func() error { return gob.NewEncoder(io.Discard).Encode(f) }, 2.3},
	} {
		got := testkit.Allocated(func() { require.NoError(t, c.call()) })
		require.Less(t, float64(got), c.most*size, name)
	}
}

// encodedBytes returns the size of the filter in a file.
func encodedBytes(f *BloomFilter) uint64 {
	h, err := f.scheme.header()
	if err != nil {
		panic(err)
	}
	return h.FileBytes(len(f.bits))
}

// TestEncodingOfTheLargestOn32Bits: a filter of nearly 2 GiB has room in the address
// space, its encoding has none.
func TestEncodingOfTheLargestOn32Bits(t *testing.T) {
	largest := struct { // a slice that is never looked into
		words    *atomic.Uint64
		len, cap int
	}{new(atomic.Uint64), math.MaxInt32 / 8, math.MaxInt32 / 8}
	f := BloomFilter{kernelArgs: kernelArgs{bits: *(*bitArray)(unsafe.Pointer(&largest))}, scheme: MustNew(10, 0.1).scheme}
	require.Greater(t, encodedBytes(&f), uint64(math.MaxInt32))
	if math.MaxInt == math.MaxInt32 {
		for _, encode := range []func() ([]byte, error){f.MarshalBinary, f.MarshalText} {
			_, err := encode()
			require.ErrorIs(t, err, ErrTooLarge)
			require.ErrorContains(t, err, "2147483776 bytes")
		}
	}
}

// TestFormatDocHasEveryName: the document names all strategies and hashes that files have.
func TestFormatDocHasEveryName(t *testing.T) {
	doc := string(must(os.ReadFile("docs/spec.md")))
	for _, s := range builtins {
		require.Contains(t, doc, "`"+s.Name()+"`")
	}
	for _, h := range hashes {
		require.Contains(t, doc, "`"+h.name+"`")
	}
	require.Contains(t, doc, "`"+secretCheckText+"`")
}

// TestPythonReader runs testdata/reader.py on the golden files.
func TestPythonReader(t *testing.T) {
	t.Parallel()
	python := testkit.Program(t, "python3", "python3")
	code := string(must(os.ReadFile("testdata/reader.py"))) + `
import sys
for path in sys.argv[1:]:
    with open(path, "rb") as f:
        header, bits = read_filter(f)
        assert not f.read(), "more bytes"
    ones = [i for i in range(header["m"]) if bits[i // 8] >> i % 8 & 1]
    print(*header.values(), *ones)
`
	filters := portables(t)
	args, want := []string{"-c", code}, ""
	for name, p := range filters {
		args = append(args, filepath.Join("testdata", name+".bloom"))
		params := p.f.Params()
		rate := strings.TrimSuffix(fmt.Sprint(params.P), ".0")
		if params.P == 0 {
			rate = "0.0"
		}
		want += fmt.Sprint(params.M, params.K, params.N) + fmt.Sprintf(" %s %s %v %d", rate, p.f.Scheme().Strategy(), p.f.scheme.hash.name, p.f.scheme.checkValue())
		for _, pos := range setBits(p.f) {
			want += fmt.Sprint(" ", pos)
		}
		want += "\n"
	}
	got, err := exec.Command(python, args...).CombinedOutput()
	require.NoError(t, err, string(got))
	require.Equal(t, want, string(got))
}

// busy is a filter to which several goroutines add keys.
type busy struct {
	f    *BloomFilter
	keys uint64                    // of each adder
	done [busyAdders]atomic.Uint64 // keys i·busyAdders+a with i < done[a] are in
	wg   testkit.Group
}

const busyAdders = 3

func (b *busy) start() {
	for a := range uint64(busyAdders) {
		b.wg.Go(func() {
			var buf [40]byte
			for i := range b.keys {
				b.f.Add(key40(&buf, i*busyAdders+a))
				b.done[a].Store(i + 1)
				if i%64 == 0 { // for the snapshots' turn on few processors
					runtime.Gosched()
				}
			}
		})
	}
}

// progress waits until each adder has added another key, or all of its.
func (b *busy) progress() {
	for a := range b.done {
		for before := b.done[a].Load(); b.done[a].Load() == before && before < b.keys; {
			runtime.Gosched()
		}
	}
}

// Write takes a chunk of a snapshot, and returns when further keys have been added.
func (b *busy) Write(p []byte) (int, error) {
	b.progress()
	return len(p), nil
}

// TestSnapshotWhileAdding: what is written contains every key whose Add had
// returned before WriteTo was called.
func TestSnapshotWhileAdding(t *testing.T) {
	keys, rounds := uint64(testkit.Times(10_000, 20_000, 60_000)), testkit.Times(2, 2, 50)
	for _, s := range builtins {
		snapshots, during, checked := 0, 0, 0
		for range rounds {
			f := must(newWithParams(fit(s, 5*format.ChunkBytes*8, 6), WithStrategy(s)))
			b := &busy{f: f, keys: keys}
			b.start()
			for last := false; !last; snapshots++ {
				b.progress()
				var in [busyAdders]uint64
				last = true
				for a := range in {
					in[a] = b.done[a].Load()
					last = last && in[a] == keys
				}
				var out bytes.Buffer
				to := io.Writer(&out)
				if snapshots%4 == 0 {
					to = io.MultiWriter(&out, b)
				}
				if _, err := f.WriteTo(to); err != nil {
					t.Fatal(err)
				}
				if b.done[0].Load() > in[0] {
					during++
				}
				g, err := Read(&out)
				if err != nil {
					t.Fatal(err)
				}
				var buf [40]byte
				for a, n := range in {
					for i := n; i > 0; i -= min(i, 1+(n-i)/64) { // the latest, and some of the others
						checked++
						if !g.Contains(key40(&buf, (i-1)*busyAdders+uint64(a))) {
							t.Fatalf("%s: key %d of adder %d is not in the snapshot", s, i-1, a)
						}
					}
				}
			}
			b.wg.Wait()
			var buf [40]byte
			for i := range keys * busyAdders { // writing takes nothing away
				if !f.Contains(key40(&buf, i)) {
					t.Fatalf("%s: key %d is lost", s, i)
				}
			}
		}
		t.Logf("%s: %d snapshots, in %d of them keys were added; %d keys looked for", s, snapshots, during, checked)
	}
}

// BenchmarkEncoding writes and reads filters in memory; by=copy is what the machine needs to
// copy as many bytes.
func BenchmarkEncoding(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20, 1 << 26} {
		f := must(newWithParams(Params{M: uint64(size) * 8, K: 7}))
		for i := range f.bits {
			f.bits[i].Store(mix(uint64(i)))
		}
		data := must(f.MarshalBinary())
		for by, once := range map[string]func() error{
			"copy":          func() error { bytes.Clone(data); return nil },
			"WriteTo":       func() error { _, err := f.WriteTo(io.Discard); return err },
			"MarshalBinary": func() error { _, err := f.MarshalBinary(); return err },
			"MarshalText":   func() error { _, err := f.MarshalText(); return err },
			"Read":          func() error { _, err := Read(bytes.NewReader(data)); return err },
			"ReadStream":    func() error { _, err := Read(io.MultiReader(bytes.NewReader(data))); return err },
		} {
			b.Run(fmt.Sprintf("bytes=%d/by=%s", size, by), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					if err := once(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
