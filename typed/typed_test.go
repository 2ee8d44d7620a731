package typed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/lockstep"
	"github.com/stretchr/testify/require"
)

// appendVarying makes keys of 0 to 99 bytes, which overflow a group's buffer now
// and then, whatever its size.
func appendVarying(dst []byte, v uint64) []byte {
	length := mix(v) % 100
	for range length {
		dst = append(dst, byte(v))
	}
	if length > 8 {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

// TestEqualsUntyped: each way to add gives the bits and answers that the bytes
// give to the filter itself.
func TestEqualsUntyped(t *testing.T) {
	const n = 1000
	// Some new, some old, some twice in a group.
	values := make([]uint64, n)
	for i := range values {
		values[i] = mix(uint64(i)) % (uint64(i)/2 + 1)
	}
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.SeededHashing, bloom.Blocked2, bloom.SplitBlock} {
		want := bloom.MustNew(n, 0.01, bloom.WithStrategy(s))
		wantAdded, wantFound, total := make([]bool, n), make([]bool, n), 0
		for i, v := range values {
			if wantAdded[i] = want.Add(appendVarying(nil, v)); wantAdded[i] {
				total++
			}
		}
		absent, present := make([]uint64, n), 0
		for i := range absent {
			absent[i] = mix(uint64(i))
			if wantFound[i] = want.Contains(appendVarying(nil, absent[i])); wantFound[i] {
				present++
			}
		}

		check := func(how string, typed *Filter[uint64]) {
			t.Helper()
			require.True(t, want.Equal(typed.Bloom()), "%s %s", s, how)
			found := slices.Repeat([]bool{true}, n)
			require.Equal(t, present, typed.ContainsMany(absent, found))
			require.Equal(t, wantFound, found)
			for i, v := range absent {
				if typed.Contains(v) != wantFound[i] {
					t.Fatalf("%s %s: Contains(%d) = %v", s, how, v, !wantFound[i])
				}
			}
			require.Equal(t, n, typed.ContainsMany(values, nil))
		}
		newTyped := func() *Filter[uint64] {
			typed, err := New(n, 0.01, appendVarying, bloom.WithStrategy(s))
			require.NoError(t, err)
			return typed
		}

		one := newTyped()
		for i, v := range values {
			if one.Add(v) != wantAdded[i] {
				t.Fatalf("%s: Add(%d) = %v", s, v, !wantAdded[i])
			}
		}
		check("Add", one)

		many := newTyped()
		added := slices.Repeat([]bool{true}, n)
		sum := 0
		for first, length := 0, 0; first < n; first, length = first+length, length+29 { // also an empty one
			next := min(first+length, n)
			sum += many.AddMany(values[first:next], added[first:next])
		}
		require.Equal(t, total, sum)
		require.Equal(t, wantAdded, added)
		check("AddMany", many)

		for _, length := range []int{0, 1, 33, groupKeys - 1, groupKeys, groupKeys + 1} {
			a, b := newTyped(), newTyped()
			count := 0
			for _, v := range values[:length] {
				if b.Add(v) {
					count++
				}
			}
			require.Equal(t, a.AddMany(values[:length], nil), count)
			require.True(t, a.Bloom().Equal(b.Bloom()), "length %d", length)
		}
	}
}

// TestKeepsForeignMemory: an append function that does not append, but returns
// bytes of its own, gives the same answers by all ways, and its bytes are not used
// as a buffer.
func TestKeepsForeignMemory(t *testing.T) {
	words := []string{"a", "bb", "a rather long key that does not fit where the others do ", "", "dd"}
	memory := []byte(fmt.Sprint(words, "and much behind them that nobody may write to"))
	before := bytes.Clone(memory)
	foreign := func(_ []byte, i int) []byte { return memory[i : 2*i] } // with capacity to the end
	one, err := New(100, 1e-6, foreign)
	require.NoError(t, err)
	many, err := New(100, 1e-6, foreign)
	require.NoError(t, err)
	values := []int{7, 0, 30, 1, 7, 40}
	for _, v := range values {
		one.Add(v)
		require.True(t, one.Contains(v))
	}
	require.Equal(t, 5, many.AddMany(values, nil))
	require.True(t, one.Bloom().Equal(many.Bloom()))
	uints := Over(one.Bloom(), binary.LittleEndian.AppendUint64)
	for i := range uint64(1000) {
		uints.Add(i)
	}
	require.Equal(t, before, memory)
}

func TestHugeKeys(t *testing.T) {
	typed := Over(bloom.MustNew(100, 1e-6), func(dst []byte, n int) []byte {
		return append(dst, make([]byte, n)...)
	})
	sizes := []int{0, 1, 127, 128, 129, 1 << 20, 3 << 20, 5}
	require.Equal(t, len(sizes), typed.AddMany(sizes, nil))
	for _, n := range sizes {
		require.True(t, typed.Bloom().Contains(make([]byte, n)), "%d bytes", n)
		require.True(t, typed.Contains(n))
		require.False(t, typed.Add(n))
	}
}

// TestConcurrently: buffers are never shared between goroutines, and every
// value has one winner.
func TestConcurrently(t *testing.T) {
	const n, workers = 20_000, 8
	typed, err := New(n, 1e-9, func(dst []byte, v uint64) []byte {
		dst = append(dst, "some text before the number: "...)
		runtime.Gosched() // others run with their buffers half written
		return binary.BigEndian.AppendUint64(dst, v)
	})
	require.NoError(t, err)
	var winners atomic.Int64
	var wg sync.WaitGroup
	for w := range uint64(workers) {
		wg.Go(func() {
			group := make([]uint64, 0, 100)
			for i := range uint64(n) {
				v := (i + w*n/workers) % n
				if w%2 == 0 {
					if typed.Add(v) {
						winners.Add(1)
					}
				} else if group = append(group, v); len(group) == cap(group) {
					winners.Add(int64(typed.AddMany(group, nil)))
					group = group[:0]
				}
				if w%2 == 0 && !typed.Contains(v) {
					t.Errorf("%d is missed right after its Add", v)
					return
				}
			}
		})
	}
	wg.Wait()
	want := bloom.MustNew(n, 1e-9)
	for i := range uint64(n) {
		want.Add(binary.BigEndian.AppendUint64([]byte("some text before the number: "), i))
	}
	require.True(t, want.Equal(typed.Bloom()))
	// Nobody wins a key whose last bit another key's add sets meanwhile. An emulator,
	// which stops threads in the middle of adds for long, shows it now and then.
	require.LessOrEqual(t, winners.Load(), int64(n))
	require.Greater(t, winners.Load(), int64(n)-20)
}

func TestErrorsAndPanics(t *testing.T) {
	typed, err := New(1, 1, binary.LittleEndian.AppendUint64)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	require.Nil(t, typed)

	const misuse = "typed: Over with a nil set or append function"
	require.PanicsWithValue(t, misuse, func() { Over(nil, binary.LittleEndian.AppendUint64) })
	require.PanicsWithValue(t, misuse, func() { Over((*bloom.BloomFilter)(nil), binary.LittleEndian.AppendUint64) })
	require.PanicsWithValue(t, misuse, func() { Over[int](bloom.MustNew(1, 0.1), nil) })

	uints := Over(bloom.MustNew(10, 0.1), binary.LittleEndian.AppendUint64)
	const length = "typed: room for 1 answers to 2 keys, want as many, or nil"
	require.PanicsWithValue(t, length, func() { uints.AddMany(make([]uint64, 2), make([]bool, 1)) })
	require.PanicsWithValue(t, length, func() { uints.ContainsMany(make([]uint64, 2), make([]bool, 1)) })
	require.Zero(t, uints.Bloom().Stats().FillRatio, "nothing was added")
}

func TestAppendBinary(t *testing.T) {
	hosts, err := New(100, 1e-6, AppendBinary[netip.Addr])
	require.NoError(t, err)
	require.Equal(t, 2, hosts.AddMany([]netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")}, nil))
	require.True(t, hosts.Contains(netip.MustParseAddr("192.0.2.1")))
	require.False(t, hosts.Contains(netip.MustParseAddr("192.0.2.2")))
	require.True(t, hosts.Bloom().Contains([]byte{192, 0, 2, 1}))

	failing := Over(bloom.MustNew(1, 0.1), AppendBinary[noBinary])
	require.PanicsWithValue(t, "typed: a typed.noBinary that cannot be a key: no binary form",
		func() { failing.Add(noBinary{}) })
}

type noBinary struct{}

func (noBinary) AppendBinary(dst []byte) ([]byte, error) {
	return dst, errors.New("no binary form")
}

// point is a struct key of two fields.
type point struct{ x, y int32 }

func appendPoint(dst []byte, p point) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(p.x))
	return binary.LittleEndian.AppendUint32(dst, uint32(p.y))
}

// A setOnly hides that it is a filter.
type setOnly struct{ *bloom.BloomFilter }

// TestTrimmedKeys: a function that returns only a part of what it has appended makes the same
// keys in a batch as alone.
func TestTrimmedKeys(t *testing.T) {
	for name, part := range map[string]func(key []byte) []byte{
		"left":    func(key []byte) []byte { return bytes.TrimLeft(key, " ") },
		"right":   func(key []byte) []byte { return bytes.TrimRight(key, " ") },
		"both":    bytes.TrimSpace,
		"clipped": func(key []byte) []byte { return slices.Clip(bytes.TrimSpace(key)) },
		"cloned":  func(key []byte) []byte { return bytes.Clone(bytes.TrimSpace(key)) },
		"none":    func(key []byte) []byte { return nil },
	} {
		appendKey := func(dst []byte, v uint64) []byte {
			return part(fmt.Appendf(dst, "%*d%*s", v%20, v, v%7, ""))
		}
		values := make([]uint64, 10*groupKeys)
		for i := range values {
			values[i] = mix(uint64(i)) % 1e6
		}
		want := bloom.MustNew(uint64(len(values)), 0.01)
		for _, v := range values {
			want.Add(appendKey(nil, v))
		}
		batch := Over(bloom.MustNew(uint64(len(values)), 0.01), appendKey)
		batch.AddMany(values, nil)
		require.True(t, want.Equal(batch.Bloom()), name)
		require.Equal(t, len(values), batch.ContainsMany(values, nil), name)
	}
}

// TestOverAnySet: over another set, each method does what it does over a filter.
func TestOverAnySet(t *testing.T) {
	direct, other := bloom.MustNew(1000, 0.01), bloom.MustNew(1000, 0.01)
	a := Over(direct, binary.LittleEndian.AppendUint64)
	b := Over(setOnly{other}, binary.LittleEndian.AppendUint64)
	require.NotNil(t, a.Bloom())
	require.Nil(t, b.Bloom())
	values := make([]uint64, 500)
	for i := range values {
		values[i] = uint64(i) * 7 % 300 // with repetitions
	}
	got, want := make([]bool, len(values)), make([]bool, len(values))
	require.Equal(t, a.AddMany(values[:400], want[:400]), b.AddMany(values[:400], got[:400]))
	require.Equal(t, want, got)
	require.Equal(t, a.ContainsMany(values, want), b.ContainsMany(values, got))
	require.Equal(t, want, got)
	require.Equal(t, a.AddMany(values, nil), b.AddMany(values, nil))
	require.Equal(t, a.Add(1000), b.Add(1000))
	require.True(t, b.Contains(1000))
	require.False(t, b.Contains(1001))
	require.True(t, direct.Equal(other))
	if lockstep.RaceDetector {
		return
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		var found [3]bool
		b.ContainsMany([]uint64{1, 2, 3}, found[:])
		b.Add(7)
	}))
	var zero Filter[uint64]
	require.PanicsWithValue(t, "typed: use of a Filter that was not made by New or Over", func() { zero.Add(1) })
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
