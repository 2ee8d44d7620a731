package typed

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/internal/testing/zero"
	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
	"github.com/stretchr/testify/require"
)

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// appendVarying makes keys of 0 to 107 bytes, which overflow a group's buffer now and then.
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

// The kinds that a Filter and a Growing serve: all that add keys to memory or a file.
var (
	_ = []Set{(*bloom.BloomFilter)(nil), (*counting.Filter)(nil), (*persist.File)(nil)}
	_ = []GrowingSet{(*scalable.Filter)(nil), (*rotating.Filter)(nil), (*redisbloom.Filter)(nil)}
)

// TestNoTextForm: encoders report an error instead of an empty value.
func TestNoTextForm(t *testing.T) {
	growing, err := scalable.New(10, 0.1)
	require.NoError(t, err)
	for _, v := range []encoding.TextMarshaler{New(bloom.MustNew(10, 0.1), appendVarying), NewGrowing(growing, appendVarying)} {
		_, err := json.Marshal(map[string]any{"seen": v})
		require.ErrorContains(t, err, "has no text form: use the methods of its set")
	}
}

// A setOnly hides that it is a filter.
type setOnly struct{ *bloom.BloomFilter }

// TestEqualsUntyped: values give the bits and the answers that their bytes give to the set itself,
// one by one and in batches, in a filter and in another set.
func TestEqualsUntyped(t *testing.T) {
	const n = 1000
	values, absent := make([]uint64, n), make([]uint64, n)
	for i := range values { // some new, some old, some twice in a group
		values[i], absent[i] = mix(uint64(i))%(uint64(i)/2+1), mix(uint64(i))
	}
	for _, s := range bloom.Strategies() {
		for _, hidden := range []bool{false, true} {
			made := func() (*bloom.BloomFilter, *Filter[uint64]) {
				f := bloom.MustNew(n, 0.01, bloom.WithStrategy(s))
				if hidden {
					return f, New(setOnly{f}, appendVarying)
				}
				return f, New(f, appendVarying)
			}
			want, _ := made()
			plain, one := made()
			manyPlain, many := made()
			wantAdded, wantFound := make([]bool, n), make([]bool, n)
			total, present := 0, 0
			for i, v := range values {
				wantAdded[i] = want.Add(appendVarying(nil, v))
				require.Equal(t, wantAdded[i], one.Add(v))
				total += number(wantAdded[i])
			}
			added, sum := slices.Repeat([]bool{true}, n), 0
			for first, length := 0, 0; first < n; first, length = first+length, length+29 { // also an empty one
				next := min(first+length, n)
				sum += many.AddMany(values[first:next], added[first:next])
			}
			require.Equal(t, total, sum)
			require.Equal(t, wantAdded, added)
			require.True(t, want.Equal(plain) && want.Equal(manyPlain), "%s", s)
			for i, v := range absent {
				wantFound[i] = want.Contains(appendVarying(nil, v))
				require.Equal(t, wantFound[i], one.Contains(v))
				present += number(wantFound[i])
			}
			found := slices.Repeat([]bool{true}, n)
			require.Equal(t, present, many.ContainsMany(absent, found))
			require.Equal(t, wantFound, found)
			require.Equal(t, n, many.ContainsMany(values, nil))
			require.Zero(t, many.AddMany(values, nil))
		}
	}
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// TestAppendFunctions: a function may return a part of what it has appended, very long keys, or bytes
// of its own, which are not written to. A batch makes the same keys as single calls.
func TestAppendFunctions(t *testing.T) {
	memory := bytes.Repeat([]byte("bytes that belong to the function"), 1000)
	before := bytes.Clone(memory)
	padded := func(part func(key []byte) []byte) func(dst []byte, v uint64) []byte {
		return func(dst []byte, v uint64) []byte { return part(fmt.Appendf(dst, "%*d%*s", v%20, v, v%7, "")) }
	}
	for name, appendKey := range map[string]func(dst []byte, v uint64) []byte{
		"left":    padded(func(key []byte) []byte { return bytes.TrimLeft(key, " ") }),
		"right":   padded(func(key []byte) []byte { return bytes.TrimRight(key, " ") }),
		"both":    padded(bytes.TrimSpace),
		"clipped": padded(func(key []byte) []byte { return slices.Clip(bytes.TrimSpace(key)) }),
		"cloned":  padded(func(key []byte) []byte { return bytes.Clone(bytes.TrimSpace(key)) }),
		// The keys have keyBytes-1 to 2*keyBytes+1 bytes.
		"twice":   func(dst []byte, v uint64) []byte { return fmt.Appendf(dst, "%*d", keyBytes-1+int(v%(keyBytes+3)), v) },
		"none":    func(dst []byte, _ uint64) []byte { return dst },
		"foreign": func(_ []byte, v uint64) []byte { return memory[v%100 : v%1000] },
		"long":    func(dst []byte, v uint64) []byte { return append(dst, make([]byte, v%2000*(v%64/63)*10)...) },
	} {
		values := make([]uint64, 10*groupKeys)
		for i := range values {
			values[i] = 100 + mix(uint64(i))%1e6/1000*1000 + uint64(i)%900
		}
		want, got := bloom.MustNew(uint64(len(values)), 0.01), bloom.MustNew(uint64(len(values)), 0.01)
		for _, v := range values {
			want.Add(appendKey(nil, v))
		}
		batch := New(got, appendKey)
		batch.AddMany(values, nil)
		require.True(t, want.Equal(got), name)
		require.Equal(t, len(values), batch.ContainsMany(values, nil), name)
	}
	require.Equal(t, before, memory)
}

// TestKeptMemory: functions and sets that keep what they get, against their contracts, later read other bytes
// and never freed memory. A function may use the same filter.
func TestKeptMemory(t *testing.T) {
	var kept [][]byte
	var values *Filter[uint64]
	depth := 0
	values = New(setOnly{bloom.MustNew(10_000, 1e-9)}, func(dst []byte, v uint64) []byte {
		if depth == 0 && v > 0 {
			depth++
			values.Add(v - 1)
			require.True(t, values.Contains(v-1))
			depth--
		}
		key := appendVarying(dst, v)
		kept = append(kept, key, dst[:cap(dst)])
		return key
	})
	for i := range uint64(1000) {
		values.Add(i + 1)
		require.Equal(t, 2, values.ContainsMany([]uint64{i, i + 1}, nil))
	}
	runtime.GC()
	sum := 0
	for _, key := range kept {
		for _, b := range key {
			sum += int(b)
		}
	}
	require.NotZero(t, sum)
}

// TestGrowing: values give the answers that their bytes give to the set itself. An add without room
// is an error, and ends a batch.
func TestGrowing(t *testing.T) {
	made := func(opts ...bloom.Option) *scalable.Filter {
		f, err := scalable.New(10, 0.001, opts...)
		require.NoError(t, err)
		return f
	}
	want, got := made(), made()
	one, many := NewGrowing(got, appendVarying), NewGrowing(made(), appendVarying)
	values, wantAdded := make([]uint64, 1000), make([]bool, 1000)
	for i := range values {
		values[i] = mix(uint64(i)) % 700
		added, err := want.Add(appendVarying(nil, values[i]))
		require.NoError(t, err)
		wantAdded[i] = added
		added, err = one.Add(values[i])
		require.NoError(t, err)
		require.Equal(t, wantAdded[i], added)
		require.True(t, one.Contains(values[i]))
	}
	added := slices.Repeat([]bool{true}, len(values))
	count, err := many.AddMany(values, added)
	require.NoError(t, err)
	require.Equal(t, wantAdded, added)
	require.EqualValues(t, want.Count(), count)
	require.Equal(t, len(values), many.ContainsMany(values, nil))

	small := NewGrowing(made(bloom.WithMaxBytes(made().SizeBytes())), binary.LittleEndian.AppendUint64)
	values = values[:200]
	for i := range values {
		values[i] = uint64(i)
	}
	added = slices.Repeat([]bool{true}, len(values))
	count, err = small.AddMany(values, added)
	require.ErrorIs(t, err, bloom.ErrFull)
	require.Equal(t, 10, count)
	require.Equal(t, append(slices.Repeat([]bool{true}, 10), make([]bool, 190)...), added)
	_, err = small.Add(1000)
	require.ErrorIs(t, err, bloom.ErrFull)
}

// A halting set adds a number of keys, then returns an error. It says nothing about keys that it has not added.
type halting struct {
	GrowingSet
	room int
}

func (h *halting) AddMany(keys [][]byte, added []bool) (int, error) {
	n := min(h.room, len(keys))
	for i := range n {
		added[i] = true
	}
	h.room -= n
	if n < len(keys) {
		return n, bloom.ErrFull
	}
	return n, nil
}

// TestAnswersAfterAnError: values that a set has not looked at were not added, whatever the last group's answers were.
func TestAnswersAfterAnError(t *testing.T) {
	const added = groupKeys + 3
	answers := slices.Repeat([]bool{true}, 2*groupKeys)
	count, err := NewGrowing(&halting{room: added}, binary.LittleEndian.AppendUint64).AddMany(make([]uint64, 2*groupKeys), answers)
	require.ErrorIs(t, err, bloom.ErrFull)
	require.Equal(t, added, count)
	require.Equal(t, append(slices.Repeat([]bool{true}, added), make([]bool, 2*groupKeys-added)...), answers)
}

// TestConcurrent: goroutines that add the same values do not mix their keys.
func TestConcurrent(t *testing.T) {
	const n, workers = 4000, 4
	got, want := bloom.MustNew(n, 1e-9), bloom.MustNew(n, 1e-9)
	values := New(got, appendVarying)
	all := make([]uint64, n)
	for i := range all {
		all[i] = uint64(i)
		want.Add(appendVarying(nil, all[i]))
	}
	var missed atomic.Int64
	var wg testkit.Group
	for w := range workers {
		wg.Go(func() {
			for first := 0; first < n; first += 100 {
				part := all[(first+w*n/workers)%n:][:100]
				if w%2 == 0 {
					values.AddMany(part, nil)
				} else {
					for _, v := range part {
						values.Add(v)
					}
				}
				missed.Add(int64(len(part) - values.ContainsMany(part, nil)))
			}
		})
	}
	wg.Wait()
	require.Zero(t, missed.Load())
	require.True(t, want.Equal(got))
}

func TestPanics(t *testing.T) {
	f := bloom.MustNew(10, 0.1)
	const misuse = "typed: New with a nil set or append function"
	require.PanicsWithValue(t, misuse, func() { New(nil, binary.LittleEndian.AppendUint64) })
	require.PanicsWithValue(t, misuse, func() { New((*bloom.BloomFilter)(nil), binary.LittleEndian.AppendUint64) })
	require.PanicsWithValue(t, misuse, func() { New[int](f, nil) })
	require.PanicsWithValue(t, misuse, func() { NewGrowing((*scalable.Filter)(nil), binary.LittleEndian.AppendUint64) })
	require.PanicsWithValue(t, misuse, func() { NewGrowing[int](nil, nil) })
	zero.Values(t, new(Filter[uint64]), new(Growing[uint64]))

	const length = "typed: 1 answers for 2 keys, want as many, or nil"
	uints := New(f, binary.LittleEndian.AppendUint64)
	require.PanicsWithValue(t, length, func() { uints.AddMany(make([]uint64, 2), make([]bool, 1)) })
	require.PanicsWithValue(t, length, func() { uints.ContainsMany(make([]uint64, 2), make([]bool, 1)) })
	none := New(f, func([]byte, int) []byte { return nil })
	for _, call := range []func(){func() { none.Add(1) }, func() { none.Contains(1) }, func() { none.AddMany(make([]int, 1), nil) }, func() { none.ContainsMany(make([]int, 1), nil) }} {
		require.PanicsWithValue(t, "typed: the append function returned nil", call)
	}
	require.Zero(t, f.Stats().Ones, "nothing was added")
}
