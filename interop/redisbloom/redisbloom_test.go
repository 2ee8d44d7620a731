package redisbloom

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/bloomtest"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// A recording has the commands and replies of RedisBloom 2.8.20, see testdata/README.md.
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

// A reply is one of BF.SCANDUMP.
type reply struct {
	iterator int64
	data     []byte
}

func (r recording) chunks(t testing.TB) (list []reply) {
	for _, c := range r.Chunks {
		data, err := hex.DecodeString(c.Hex)
		require.NoError(t, err)
		list = append(list, reply{c.Iter, data})
	}
	return list
}

func (r recording) filter(t testing.TB) *Filter {
	f, err := FromDump(feed(r.chunks(t)))
	require.NoError(t, err)
	return f
}

// file is the recording in the form of Filter.WriteTo.
func (r recording) file(t testing.TB) (data []byte) {
	for _, c := range r.chunks(t) {
		data = binary.LittleEndian.AppendUint64(data, uint64(c.iterator))
		data = binary.LittleEndian.AppendUint64(data, uint64(len(c.data)))
		data = append(data, c.data...)
	}
	return data
}

// plan is the arguments of its BF.RESERVE.
func (r recording) plan(t testing.TB) Plan {
	var rate string
	plan := Plan{Expansion: 2}
	require.NoError(t, json.Unmarshal(r.Reserve[0], &rate))
	require.NoError(t, json.Unmarshal(r.Reserve[1], &plan.N))
	_, err := fmt.Sscan(rate, &plan.P)
	require.NoError(t, err)
	if len(r.Reserve) > 2 {
		require.NoError(t, json.Unmarshal(r.Reserve[3], &plan.Expansion))
	}
	return plan
}

func newFilter(t testing.TB, plan Plan, opts ...bloom.Option) *Filter {
	f, err := New(plan, opts...)
	require.NoError(t, err)
	return f
}

// feed returns chunks as a server does.
func feed(chunks []reply) func(iterator int64) (int64, []byte, error) {
	return func(iterator int64) (int64, []byte, error) {
		if len(chunks) == 0 {
			return 0, nil, nil
		}
		next := chunks[0]
		chunks = chunks[1:]
		return next.iterator, next.data, nil
	}
}

func collect(f *Filter) (list []reply) {
	for iterator, data := range f.Chunks() {
		list = append(list, reply{iterator, slices.Clone(data)})
	}
	return list
}

// TestAgainstRecordings: the server's chunks are read, answer as the server did, and are
// written again byte for byte; and the same keys, added here, make the same bytes.
func TestAgainstRecordings(t *testing.T) {
	for _, r := range recordings(t) {
		chunks := r.chunks(t)
		pulled, made := r.filter(t), newFilter(t, r.plan(t))
		plan, err := ReadPlan(chunks[0].data)
		require.NoError(t, err)
		require.Equal(t, r.plan(t), plan)
		for i := range r.N {
			_, err := made.Add(fmt.Appendf(nil, "key-%d", i))
			require.NoError(t, err)
		}
		for what, f := range map[string]*Filter{"read": pulled, "made": made} {
			require.True(t, reflect.DeepEqual(chunks, collect(f)), "%s, %s", r.Name, what)
			require.Equal(t, r.file(t), fileFormat.Bytes(t, f))
			asked, want := make([][]byte, r.Asked), make([]bool, r.Asked)
			for i := range asked {
				asked[i] = fmt.Appendf(nil, "absent-%d", i)
			}
			for _, i := range r.True {
				want[i] = true
			}
			found := make([]bool, r.Asked)
			require.Equal(t, len(r.True), f.ContainsMany(asked, found))
			require.Equal(t, want, found, "%s, %s", r.Name, what)
			require.Equal(t, len(r.True), f.ContainsMany(asked, nil))
			require.Panics(t, func() { f.ContainsMany(asked, found[1:]) })
			for i, key := range asked {
				require.Equal(t, want[i], f.Contains(key), "%s, %s: %s", r.Name, what, key)
			}
			for i := range r.N {
				require.True(t, f.Contains(fmt.Appendf(nil, "key-%d", i)))
			}
			require.Equal(t, plan, f.Plan())
			s := f.Stats()
			var capacity, items uint64
			var size, layers, expansion int
			_, err := fmt.Sscanf(r.Info, "[Capacity %d Size %d Number of filters %d Number of items inserted %d Expansion rate %d]", &capacity, &size, &layers, &items, &expansion)
			require.NoError(t, err)
			require.Equal(t, []any{capacity, layers, items, expansion}, []any{s.N, len(f.Layers()), s.EstimatedCount, int(f.Plan().Expansion)}, r.Name)
			require.Equal(t, plan.P, s.P)
		}
		// Both grow alike.
		for i := range 200 {
			a, err := pulled.Add(fmt.Appendf(nil, "more-%d", i))
			require.NoError(t, err)
			b, err := made.Add(fmt.Appendf(nil, "more-%d", i))
			require.NoError(t, err)
			require.Equal(t, a, b)
		}
		require.True(t, reflect.DeepEqual(collect(made), collect(pulled)), r.Name)
	}
}

func TestFull(t *testing.T) {
	f := newFilter(t, Plan{N: 10, P: 0.001})
	for i := range 10 {
		yes, err := f.Add(fmt.Append(nil, i))
		require.NoError(t, err)
		require.True(t, yes)
	}
	_, err := f.Add([]byte("one more"))
	require.ErrorIs(t, err, bloom.ErrFull)
	yes, err := f.Add([]byte("3"))
	require.NoError(t, err, "the key is not new")
	require.False(t, yes)
	g, err := FromDump(feed(collect(f)))
	require.NoError(t, err)
	require.Equal(t, Plan{N: 10, P: 0.001}, g.Plan())
	_, err = g.Add([]byte("one more"))
	require.ErrorIs(t, err, bloom.ErrFull)
}

func TestOneWinner(t *testing.T) {
	f := newFilter(t, Plan{100, 0.01, 2})
	wins := make([]atomic.Uint64, 3000)
	var all testkit.Group
	for range 4 {
		all.Go(func() {
			for i := range wins {
				yes, err := f.Add(fmt.Append(nil, "key", i))
				if err != nil {
					t.Error(err)
				} else if yes {
					wins[i].Add(1)
				}
			}
		})
	}
	all.Wait()
	total := uint64(0)
	for i := range wins {
		require.LessOrEqual(t, wins[i].Load(), uint64(1), "key %d", i)
		total += wins[i].Load()
	}
	require.Equal(t, f.Stats().EstimatedCount, total)
}

func TestLimits(t *testing.T) {
	f, err := New(Plan{100, 0.01, 2}, bloom.WithMaxBytes(900))
	require.NoError(t, err)
	for i := 0; err == nil; i++ {
		_, err = f.Add(fmt.Append(nil, i))
	}
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	size := f.Stats().SizeBytes
	require.LessOrEqual(t, size, uint64(900))
	_, err = FromDump(feed(collect(f)), bloom.WithMaxBytes(size-1))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	_, err = FromDump(feed(collect(f)), bloom.WithMaxBytes(size))
	require.NoError(t, err)
	_, err = New(Plan{0, 0.1, 2})
	require.ErrorIs(t, err, bloom.ErrInvalid)
}

// TestForgedHeaders: each field of a header is checked, and none is believed.
func TestForgedHeaders(t *testing.T) {
	le := binary.LittleEndian
	five := recordings(t)[2]
	require.Equal(t, "five-layers", five.Name)
	at := func(layer, field int) int { return headerBytes + layer*layerBytes + field }
	for name, forge := range map[string]func(h []byte) []byte{
		"empty":                   func(h []byte) []byte { return nil },
		"cut":                     func(h []byte) []byte { return h[:len(h)-1] },
		"longer":                  func(h []byte) []byte { return append(h, 0) },
		"items":                   func(h []byte) []byte { h[0]++; return h },
		"no layers":               func(h []byte) []byte { le.PutUint32(h[8:], 0); return h },
		"4 billion layers":        func(h []byte) []byte { le.PutUint32(h[8:], math.MaxUint32); return h },
		"options":                 func(h []byte) []byte { le.PutUint32(h[12:], 16); return h },
		"32-bit hashes":           func(h []byte) []byte { le.PutUint32(h[12:], 1); return h },
		"many layers do not grow": func(h []byte) []byte { le.PutUint32(h[12:], 13); return h },
		"expansion":               func(h []byte) []byte { le.PutUint32(h[16:], 0); return h },
		"bytes":                   func(h []byte) []byte { le.PutUint64(h[at(1, 0):], 1<<40); return h },
		"bits":                    func(h []byte) []byte { le.PutUint64(h[at(1, 8):], 1<<43); return h },
		"no bits":                 func(h []byte) []byte { le.PutUint64(h[at(1, 0):], 0); le.PutUint64(h[at(1, 8):], 0); return h },
		"2^63 bits":               func(h []byte) []byte { le.PutUint64(h[at(1, 0):], 1<<60); le.PutUint64(h[at(1, 8):], 1<<63); return h },
		"items of a layer":        func(h []byte) []byte { le.PutUint64(h[at(2, 16):], 1<<40); return h },
		"rate":                    func(h []byte) []byte { le.PutUint64(h[at(0, 24):], math.Float64bits(1)); return h },
		"rate NaN":                func(h []byte) []byte { le.PutUint64(h[at(0, 24):], math.Float64bits(math.NaN())); return h },
		"bits per key":            func(h []byte) []byte { le.PutUint64(h[at(0, 32):], math.Float64bits(99)); return h },
		"bits per key NaN":        func(h []byte) []byte { le.PutUint64(h[at(0, 32):], math.Float64bits(math.NaN())); return h },
		"k":                       func(h []byte) []byte { le.PutUint32(h[at(0, 40):], 1); return h },
		"capacity":                func(h []byte) []byte { le.PutUint64(h[at(0, 44):], 0); return h },
		"2^64 keys": func(h []byte) []byte { // items, capacities and their sum mod 2^64 agree
			le.PutUint64(h, le.Uint64(h)-le.Uint64(h[at(0, 16):])-le.Uint64(h[at(1, 16):]))
			for i := range 2 {
				le.PutUint64(h[at(i, 16):], 1<<63)
				le.PutUint64(h[at(i, 44):], 1<<63)
			}
			return h
		},
		"a power of two":             func(h []byte) []byte { h[at(0, 52)] = 9; return h },
		"bits and no bytes to match": func(h []byte) []byte { le.PutUint64(h[at(1, 0):], le.Uint64(h[at(1, 0):])+8); return h },
	} {
		chunks := five.chunks(t)
		chunks[0].data = forge(chunks[0].data)
		_, err := FromDump(feed(chunks))
		require.Error(t, err, name)
		known := errors.Is(err, bloom.ErrCorrupt) || errors.Is(err, bloom.ErrIncompatible) || errors.Is(err, bloom.ErrTooLarge)
		require.True(t, known, "%s: %v", name, err)
		require.ErrorContains(t, err, "bloom: ")
	}
}

// TestTooManyLayers: with an expansion of 1, k grows by one from layer to layer and ends at 255. A longer
// filter of a server is refused by name, and its plan can be read: redisfilter/bf needs no more.
func TestTooManyLayers(t *testing.T) {
	f := newFilter(t, Plan{1, 0.01, 1})
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		_, err = f.Add(fmt.Append(nil, i))
	}
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	require.ErrorContains(t, err, "k = 256, want at most 255: choose a larger Expansion")
	chunks := collect(f)
	require.Equal(t, 255, f.all()[len(f.all())-1].Params().K)
	again, err := FromDump(feed(chunks))
	require.NoError(t, err)
	require.Equal(t, chunks, collect(again))

	for _, count := range []int{len(f.all()) + 1, 1060} { // the server goes on until the rate is 0
		longer, _ := f.state()
		for i := range longer.layers {
			longer.layers[i].items = 0
		}
		for len(longer.layers) < count {
			params, bitsPerKey, err := layerParams(1, longer.layers[len(longer.layers)-1].P/2)
			require.NoError(t, err)
			longer.layers = append(longer.layers, shape{Params: params, bitsPerKey: bitsPerKey})
		}
		plan, err := ReadPlan(longer.append(nil))
		require.NoError(t, err)
		require.Equal(t, f.Plan(), plan)
		_, err = FromDump(feed(append([]reply{{1, longer.append(nil)}}, chunks[1:]...)))
		require.ErrorIs(t, err, bloom.ErrIncompatible)
		require.ErrorContains(t, err, "needs k = 256, want at most 255")
	}
}

func TestValues(t *testing.T) {
	require.Equal(t, "redisbloom.Filter(zero)", fmt.Sprint(new(Filter)))
	layeredtest.Values(t, newFilter(t, Plan{100, 0.01, 2}))
}

// TestSmallestRateIsTheLast: half of it is none, and a filter with such a layer could not be
// read back.
func TestSmallestRateIsTheLast(t *testing.T) {
	five := recordings(t)[2]
	chunks := five.chunks(t)
	last := chunks[0].data[headerBytes+4*layerBytes:]
	binary.LittleEndian.PutUint64(last[24:], 1)                                     // the bits of the smallest rate
	binary.LittleEndian.PutUint64(last[44:], binary.LittleEndian.Uint64(last[16:])) // full
	f, err := FromDump(feed(chunks))
	require.NoError(t, err)
	for i := 0; err == nil && i < 1000; i++ {
		_, err = f.Add(fmt.Append(nil, "another key ", i))
	}
	require.ErrorIs(t, err, bloom.ErrTooLarge)
}

func TestNoAllocations(t *testing.T) {
	f := newFilter(t, Plan{100, 0.01, 2})
	require.Zero(t, testing.AllocsPerRun(100, func() {
		var key [20]byte
		f.Contains(key[:])
		f.Contains([]byte("some key"))
		_, _ = f.Add([]byte("some key"))
	}))
}

// TestConformance, at points where RedisBloom's sizes keep p.
func TestConformance(t *testing.T) {
	require.NoError(t, bloomtest.TestStrategy(Strategy, bloom.Params{N: 1000, P: 0.02}, bloom.Params{N: 20_000, P: 0.002}))
	err := bloomtest.TestStrategy(Strategy, bloom.Params{N: 20_000, P: 0.124})
	require.ErrorContains(t, err, "m = 86912 and k = 4 are chosen, whose promised rate is 0.131")
	require.NoError(t, bloomtest.TestHash(Hash))
}

func TestWriteToRefuses(t *testing.T) {
	for _, f := range []*Filter{nil, {}} {
		_, err := f.WriteTo(io.Discard)
		require.ErrorIs(t, err, bloom.ErrInvalid)
	}
}

// TestAddMany: it adds as Add does, up to the first key without room.
func TestAddMany(t *testing.T) {
	for _, plan := range []Plan{{N: 10, P: 0.01, Expansion: 2}, {N: 200, P: 0.01}} {
		one, err := New(plan)
		require.NoError(t, err)
		many, err := New(plan)
		require.NoError(t, err)
		keys, want := make([][]byte, 300), make([]bool, 300)
		var failed error
		for i := range keys {
			keys[i] = []byte{byte(i % 250), byte(i % 7)}
			if failed == nil {
				want[i], failed = one.Add(keys[i])
			}
		}
		added := make([]bool, len(keys))
		count, err := many.AddMany(keys, added)
		require.Equal(t, failed, err)
		require.Equal(t, want, added)
		require.EqualValues(t, count, many.Stats().EstimatedCount)
		require.Equal(t, one.Stats(), many.Stats())
		require.Equal(t, many.Stats().SizeBytes, many.SizeBytes())
	}
}
