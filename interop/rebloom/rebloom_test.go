package rebloom

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/bloomtest"
	"github.com/stretchr/testify/require"
)

// A recording is what a real RedisBloom 2.8.20 did and answered; see testdata/README.md.
type recording struct {
	Name    string            `json:"name"`
	Reserve []json.RawMessage `json:"reserve"`
	N       int               `json:"n"`
	Info    string            `json:"info"`
	Asked   int               `json:"absent_asked"`
	True    []int             `json:"absent_answered_true"`
	Chunks  []struct {
		Iter int64  `json:"iter"`
		Hex  string `json:"hex"`
	} `json:"chunks"`
}

func recordings(t testing.TB) (list []recording) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.Len(t, files, 5)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var r recording
		require.NoError(t, json.Unmarshal(raw, &r))
		list = append(list, r)
	}
	return list
}

func (r recording) chunks(t testing.TB) (list []Chunk) {
	for _, c := range r.Chunks {
		data, err := hex.DecodeString(c.Hex)
		require.NoError(t, err)
		list = append(list, Chunk{c.Iter, data})
	}
	return list
}

// file is the recording in the form of Filter.WriteTo.
func (r recording) file(t testing.TB) (data []byte) {
	for _, c := range r.chunks(t) {
		data = binary.LittleEndian.AppendUint64(data, uint64(c.Iterator))
		data = binary.LittleEndian.AppendUint64(data, uint64(len(c.Data)))
		data = append(data, c.Data...)
	}
	return data
}

// reserve makes the filter with the arguments of BF.RESERVE.
func (r recording) reserve(t testing.TB) *Filter {
	var rate string
	var n uint64
	require.NoError(t, json.Unmarshal(r.Reserve[0], &rate))
	require.NoError(t, json.Unmarshal(r.Reserve[1], &n))
	var p float64
	_, err := fmt.Sscan(rate, &p)
	require.NoError(t, err)
	var opts []Option
	if len(r.Reserve) > 2 {
		var times uint32
		require.NoError(t, json.Unmarshal(r.Reserve[3], &times))
		opts = append(opts, WithExpansion(times))
	}
	f, err := New(n, p, opts...)
	require.NoError(t, err)
	return f
}

// feed yields chunks as the replies of a server come.
func feed(chunks []Chunk) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func collect(f *Filter) (list []Chunk) {
	for c := range f.Chunks() {
		list = append(list, Chunk{c.Iterator, slices.Clone(c.Data)})
	}
	return list
}

// TestAgainstRecordings: the server's chunks are read, answer as the server did, and are
// written again byte for byte; and the same keys, added here, make the same bytes.
func TestAgainstRecordings(t *testing.T) {
	for _, r := range recordings(t) {
		chunks := r.chunks(t)
		pulled, err := FromChunks(feed(chunks))
		require.NoError(t, err, r.Name)
		made := r.reserve(t)
		for i := range r.N {
			_, err := made.AddString(fmt.Sprintf("key-%d", i))
			require.NoError(t, err)
		}
		for what, f := range map[string]*Filter{"read": pulled, "made": made} {
			require.True(t, reflect.DeepEqual(chunks, collect(f)), "%s, %s", r.Name, what)
			var yes []int
			for i := range r.Asked {
				if f.ContainsString(fmt.Sprintf("absent-%d", i)) {
					yes = append(yes, i)
				}
			}
			require.Equal(t, r.True, yes, "%s, %s", r.Name, what)
			for i := range r.N {
				require.True(t, f.Contains(fmt.Appendf(nil, "key-%d", i)))
			}
			s := f.Stats()
			var capacity, items uint64
			var size, layers, expansion int
			_, err := fmt.Sscanf(r.Info, "[Capacity %d Size %d Number of filters %d Number of items inserted %d Expansion rate %d]", &capacity, &size, &layers, &items, &expansion)
			require.NoError(t, err)
			require.Equal(t, []any{capacity, layers, items, expansion}, []any{s.N, len(f.Layers()), s.EstimatedCount, int(f.Plan().Expansion)}, r.Name)
		}
		// A filter that was read goes on as the one that was made.
		for i := range 200 {
			a, err := pulled.AddString(fmt.Sprintf("more-%d", i))
			require.NoError(t, err)
			b, err := made.AddString(fmt.Sprintf("more-%d", i))
			require.NoError(t, err)
			require.Equal(t, a, b)
		}
		require.True(t, reflect.DeepEqual(collect(made), collect(pulled)), r.Name)
	}
}

func TestLargeLayersAreCut(t *testing.T) {
	f, err := New(13_000_000, 0.01) // 18 MB
	require.NoError(t, err)
	_, err = f.AddString("key")
	require.NoError(t, err)
	var sizes []int
	var again *Filter
	again, err = FromChunks(func(yield func(Chunk, error) bool) {
		for c := range f.Chunks() {
			sizes = append(sizes, len(c.Data))
			if !yield(c, nil) {
				return
			}
		}
	})
	require.NoError(t, err)
	require.Equal(t, []int{headerBytes + layerBytes, maxChunk, int(f.SizeBytes()) - maxChunk}, sizes)
	require.True(t, again.ContainsString("key"))
}

func TestFull(t *testing.T) {
	f, err := New(10, 0.001, WithoutScaling())
	require.NoError(t, err)
	added := 0
	for i := range 10 {
		yes, err := f.AddString(fmt.Sprint(i))
		require.NoError(t, err)
		if yes {
			added++
		}
	}
	require.Equal(t, 10, added)
	_, err = f.AddString("one more")
	require.ErrorIs(t, err, ErrFull)
	yes, err := f.AddString("3")
	require.NoError(t, err, "a key that is in is no new one")
	require.False(t, yes)
	require.Zero(t, f.Plan().Expansion)
	g, err := FromChunks(feed(collect(f)), WithoutScaling())
	require.NoError(t, err)
	_, err = g.AddString("one more")
	require.ErrorIs(t, err, ErrFull)
}

func TestOneWinner(t *testing.T) {
	f, err := New(100, 0.01)
	require.NoError(t, err)
	const keys = 3000
	wins := make([][]bool, 4)
	var all sync.WaitGroup
	for g := range wins {
		wins[g] = make([]bool, keys)
		all.Go(func() {
			for i := range keys {
				yes, err := f.AddString(fmt.Sprint("key", i))
				if err != nil {
					t.Error(err)
				}
				wins[g][i] = yes
			}
		})
	}
	all.Wait()
	total := uint64(0)
	for i := range keys {
		won := 0
		for g := range wins {
			if wins[g][i] {
				won++
			}
		}
		require.LessOrEqual(t, won, 1, "key %d", i)
		total += uint64(won)
	}
	require.Equal(t, f.Stats().EstimatedCount, total)
}

func TestLimits(t *testing.T) {
	f, err := New(100, 0.01, WithBloom(bloom.WithMaxBytes(900)))
	require.NoError(t, err)
	for i := 0; err == nil; i++ {
		_, err = f.AddString(fmt.Sprint(i))
	}
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	require.LessOrEqual(t, f.SizeBytes(), uint64(900))
	_, err = FromChunks(feed(collect(f)), WithBloom(bloom.WithMaxBytes(f.SizeBytes()-1)))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	_, err = FromChunks(feed(collect(f)), WithBloom(bloom.WithMaxBytes(f.SizeBytes())))
	require.NoError(t, err)
	for _, c := range []struct {
		n    uint64
		p    float64
		opts []Option
	}{{0, 0.1, nil}, {1, 0, nil}, {1, 1, nil}, {1, math.NaN(), nil}, {1, 0.1, []Option{WithExpansion(0)}}} {
		_, err := New(c.n, c.p, c.opts...)
		require.ErrorIs(t, err, bloom.ErrInvalid)
	}
	_, err = New(math.MaxUint64, 0.01)
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	for _, opt := range []Option{nil, WithBloom(bloom.WithStrategy(bloom.Blocked)), WithBloom(bloom.WithHash(bloom.MapHash)), WithBloom(bloom.WithSeed(1)), WithBloom(bloom.WithKey([16]byte{1}))} {
		_, err = New(100, 0.01, opt)
		require.ErrorIs(t, err, bloom.ErrInvalid)
		_, err = FromChunks(feed(collect(f)), opt)
		require.ErrorIs(t, err, bloom.ErrInvalid)
	}
	_, err = FromChunks(feed(collect(f)), WithExpansion(3))
	require.ErrorIs(t, err, bloom.ErrIncompatible)
}

// TestForgedHeaders: each field of a header is checked, and none is believed.
func TestForgedHeaders(t *testing.T) {
	le := binary.LittleEndian
	five := recordings(t)[2]
	require.Equal(t, "five-layers", five.Name)
	at := func(layer, field int) int { return headerBytes + layer*layerBytes + field }
	for name, forge := range map[string]func(h []byte) []byte{
		"empty":                      func(h []byte) []byte { return nil },
		"cut":                        func(h []byte) []byte { return h[:len(h)-1] },
		"longer":                     func(h []byte) []byte { return append(h, 0) },
		"items":                      func(h []byte) []byte { h[0]++; return h },
		"no layers":                  func(h []byte) []byte { le.PutUint32(h[8:], 0); return h },
		"4 billion layers":           func(h []byte) []byte { le.PutUint32(h[8:], math.MaxUint32); return h },
		"options":                    func(h []byte) []byte { le.PutUint32(h[12:], 16); return h },
		"32-bit hashes":              func(h []byte) []byte { le.PutUint32(h[12:], 1); return h },
		"many layers do not grow":    func(h []byte) []byte { le.PutUint32(h[12:], 13); return h },
		"expansion":                  func(h []byte) []byte { le.PutUint32(h[16:], 0); return h },
		"bytes":                      func(h []byte) []byte { le.PutUint64(h[at(1, 0):], 1<<40); return h },
		"bits":                       func(h []byte) []byte { le.PutUint64(h[at(1, 8):], 1<<43); return h },
		"no bits":                    func(h []byte) []byte { le.PutUint64(h[at(1, 0):], 0); le.PutUint64(h[at(1, 8):], 0); return h },
		"2^63 bits":                  func(h []byte) []byte { le.PutUint64(h[at(1, 0):], 1<<60); le.PutUint64(h[at(1, 8):], 1<<63); return h },
		"items of a layer":           func(h []byte) []byte { le.PutUint64(h[at(2, 16):], 1<<40); return h },
		"rate":                       func(h []byte) []byte { le.PutUint64(h[at(0, 24):], math.Float64bits(1)); return h },
		"rate NaN":                   func(h []byte) []byte { le.PutUint64(h[at(0, 24):], math.Float64bits(math.NaN())); return h },
		"bits per key":               func(h []byte) []byte { le.PutUint64(h[at(0, 32):], math.Float64bits(99)); return h },
		"bits per key NaN":           func(h []byte) []byte { le.PutUint64(h[at(0, 32):], math.Float64bits(math.NaN())); return h },
		"k":                          func(h []byte) []byte { le.PutUint32(h[at(0, 40):], 1); return h },
		"capacity":                   func(h []byte) []byte { le.PutUint64(h[at(0, 44):], 0); return h },
		"a power of two":             func(h []byte) []byte { h[at(0, 52)] = 9; return h },
		"bits and no bytes to match": func(h []byte) []byte { le.PutUint64(h[at(1, 0):], le.Uint64(h[at(1, 0):])+8); return h },
	} {
		chunks := five.chunks(t)
		chunks[0].Data = forge(chunks[0].Data)
		_, err := FromChunks(feed(chunks))
		require.Error(t, err, name)
		known := errors.Is(err, bloom.ErrCorrupt) || errors.Is(err, bloom.ErrIncompatible) || errors.Is(err, bloom.ErrTooLarge)
		require.True(t, known, "%s: %v", name, err)
		require.ErrorContains(t, err, "bloom: ")
	}
}

// TestSmallestRateIsTheLast: half of it is none, and a filter with such a layer could not be
// read back.
func TestSmallestRateIsTheLast(t *testing.T) {
	five := recordings(t)[2]
	chunks := five.chunks(t)
	last := chunks[0].Data[headerBytes+4*layerBytes:]
	binary.LittleEndian.PutUint64(last[24:], 1)                                     // the bits of the smallest rate
	binary.LittleEndian.PutUint64(last[44:], binary.LittleEndian.Uint64(last[16:])) // full
	f, err := FromChunks(feed(chunks))
	require.NoError(t, err)
	for i := 0; err == nil && i < 1000; i++ {
		_, err = f.AddString(fmt.Sprint("another key ", i))
	}
	require.ErrorIs(t, err, bloom.ErrTooLarge)
}

// TestLyingHeaderAllocatesLittle: a header with a false size costs no memory for it.
func TestLyingHeaderAllocatesLittle(t *testing.T) {
	f, err := New(1, 0.01)
	require.NoError(t, err)
	header := collect(f)[0].Data
	le := binary.LittleEndian
	le.PutUint64(header[headerBytes:], 1<<30)
	le.PutUint64(header[headerBytes+8:], 1<<33)
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := FromChunks(feed([]Chunk{{1, header}, {101, make([]byte, 100)}})); !errors.Is(err, bloom.ErrCorrupt) {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	require.Less(t, allocated, int64(100_000))
}

// TestDamagedChunks: lost, doubled, swapped and cut chunks.
func TestDamagedChunks(t *testing.T) {
	for _, r := range recordings(t) {
		for i := range r.chunks(t) {
			lost := slices.Delete(r.chunks(t), i, i+1)
			_, err := FromChunks(feed(lost))
			require.ErrorIs(t, err, bloom.ErrCorrupt, "%s without chunk %d", r.Name, i)
			doubled := slices.Insert(r.chunks(t), i, r.chunks(t)[i])
			_, err = FromChunks(feed(doubled))
			require.ErrorIs(t, err, bloom.ErrCorrupt, "%s with chunk %d twice", r.Name, i)
			cut := r.chunks(t)
			cut[i].Data = cut[i].Data[:len(cut[i].Data)-1]
			_, err = FromChunks(feed(cut))
			require.ErrorIs(t, err, bloom.ErrCorrupt, "%s with chunk %d cut", r.Name, i)
			if i > 0 {
				swapped := r.chunks(t)
				swapped[i], swapped[i-1] = swapped[i-1], swapped[i]
				_, err = FromChunks(feed(swapped))
				require.ErrorIs(t, err, bloom.ErrCorrupt, "%s with chunks %d and %d swapped", r.Name, i-1, i)
			}
		}
		_, err := FromChunks(feed(append(r.chunks(t), Chunk{0, nil})))
		require.ErrorIs(t, err, bloom.ErrCorrupt, "the empty reply that ends a dump is not one of its chunks")
	}
	_, err := FromChunks(feed(nil))
	require.ErrorIs(t, err, bloom.ErrCorrupt)
	gone := errors.New("connection lost")
	_, err = FromChunks(func(yield func(Chunk, error) bool) { yield(Chunk{}, gone) })
	require.ErrorIs(t, err, gone)
}

func TestNoAllocations(t *testing.T) {
	f, err := New(100, 0.01)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		var key [20]byte
		f.Contains(key[:])
		f.ContainsString("some key")
		_, _ = f.AddString("some key")
	}))
}

func FuzzRead(f *testing.F) {
	for _, r := range recordings(f) {
		f.Add(r.file(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		filter, err := Read(bytes.NewReader(data), WithBloom(bloom.WithMaxBytes(1<<20)))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if _, err := filter.WriteTo(&again); err != nil {
			t.Fatal(err)
		}
		// The chunks may have been cut elsewhere, so the bytes may differ once.
		second, err := Read(bytes.NewReader(again.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		require.Equal(t, collect(filter), collect(second))
	})
}

// TestConformance, at points where RedisBloom's sizes keep p.
func TestConformance(t *testing.T) {
	require.NoError(t, bloomtest.TestStrategy(Strategy, bloomtest.Point{N: 1000, P: 0.02}, bloomtest.Point{N: 20_000, P: 0.002}))
	err := bloomtest.TestStrategy(Strategy, bloomtest.Point{N: 20_000, P: 0.124})
	require.ErrorContains(t, err, "m = 86912 and k = 4 are chosen, whose promised rate is 0.131")
	require.NoError(t, bloomtest.TestHash(Hash))
}
