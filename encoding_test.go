package bloom

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/format"
	"github.com/stretchr/testify/require"
)

func addKeys(f *BloomFilter, n uint64) {
	var b [40]byte
	for i := range n {
		f.Add(key40(&b, i))
	}
}

// marshal returns the filter's bytes.
func marshal(t testing.TB, f *BloomFilter) []byte {
	data, err := f.MarshalBinary()
	require.NoError(t, err)
	return data
}

// same requires that two filters are equal in everything.
func same(t testing.TB, want, got *BloomFilter) {
	require.True(t, want.Equal(got))
	require.Equal(t, want.Params(), got.Params())
	require.Equal(t, want.Scheme().Identity(), got.Scheme().Identity())
	var b [40]byte
	for i := range uint64(100) {
		if key := key40(&b, i); want.Contains(key) != got.Contains(key) {
			t.Fatalf("key %d differs", i)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for name, p := range portables(t) {
		data := marshal(t, p.f)
		require.Len(t, data, headerBytes(len(p.f.Strategy().Name())+len(p.f.scheme.hash.def.name))+len(p.f.bits)*8+8, name)

		var written bytes.Buffer
		n, err := p.f.WriteTo(&written)
		require.NoError(t, err)
		require.Equal(t, int64(len(data)), n)
		require.Equal(t, data, written.Bytes())

		appended, err := p.f.AppendBinary([]byte("before"))
		require.NoError(t, err)
		require.Equal(t, append([]byte("before"), data...), appended)

		for _, r := range []io.Reader{
			bytes.NewReader(data), bytes.NewBuffer(data), strings.NewReader(string(data)),
			iotest.OneByteReader(bytes.NewReader(data)), iotest.HalfReader(bytes.NewReader(data)), iotest.DataErrReader(bytes.NewReader(data)),
		} {
			g, err := Read(r, p.opts...)
			require.NoError(t, err, name)
			same(t, p.f, g)
			require.Equal(t, data, marshal(t, g))
			_, err = r.Read(make([]byte, 1))
			require.Equal(t, io.EOF, err)
		}

		// Into a filter that lends its key and strategy.
		g := MustNew(5, 0.5, p.opts...)
		n, err = g.ReadFrom(bytes.NewReader(data))
		require.NoError(t, err)
		require.Equal(t, int64(len(data)), n)
		same(t, p.f, g)
		g.Add([]byte("another"))
		require.NoError(t, g.UnmarshalBinary(data))
		same(t, p.f, g)

		text, err := p.f.MarshalText()
		require.NoError(t, err)
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
		f, err := NewWithParams(Params{M: words*64 - 17, K: 3})
		require.NoError(t, err)
		for i := range f.bits {
			f.bits[i].Store(mix(uint64(i)))
		}
		f.bits[words-1].And(1<<47 - 1)
		data := marshal(t, f)
		for _, r := range []io.Reader{bytes.NewReader(data), io.MultiReader(bytes.NewReader(data))} {
			g, err := Read(r)
			require.NoError(t, err)
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
	text, err := json.Marshal(in)
	require.NoError(t, err)
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
	_, err = json.Marshal(BloomFilter{})
	require.ErrorIs(t, err, ErrInvalid)
}

func TestTextIsStrict(t *testing.T) {
	f := MustNew(10, 0.1)
	text, err := f.MarshalText()
	require.NoError(t, err)
	g := MustNew(20, 0.2)
	for _, bad := range []string{"", "A", "====", string(text[:len(text)-1]), string(text) + "AAAA", string(text) + "\x00", " " + string(text)} {
		require.ErrorIs(t, g.UnmarshalText([]byte(bad)), ErrCorrupt, "%q", bad)
	}
	require.Equal(t, uint64(20), g.Params().N)
	require.NoError(t, g.UnmarshalText([]byte(string(text[:10])+"\r\n"+string(text[10:])+"\n")))
	require.True(t, f.Equal(g))
}

func TestNotPortable(t *testing.T) {
	index := tripleDefinition
	for text, f := range map[string]*BloomFilter{
		"its hash is maphash, want Murmur3, RapidHash or a key": MustNew(10, 0.1, WithHash(MapHash)),
		"its strategy has no name":                              MustNew(10, 0.1, WithStrategy(NewStrategy("", index))),
		"its hash has no name":                                  MustNew(10, 0.1, WithHash(NewHash64("", func([]byte) uint64 { return 0 }))),
	} {
		var out bytes.Buffer
		n, err := f.WriteTo(&out)
		require.ErrorIs(t, err, ErrNotPortable)
		require.EqualError(t, err, "bloom: filter is not portable: "+text)
		require.Zero(t, n)
		require.Zero(t, out.Len())
		_, err = f.AppendBinary(nil)
		require.ErrorIs(t, err, ErrNotPortable)
		_, err = f.MarshalBinary()
		require.ErrorIs(t, err, ErrNotPortable)
		_, err = f.MarshalText()
		require.ErrorIs(t, err, ErrNotPortable)
	}
	_, err := new(BloomFilter).WriteTo(io.Discard)
	require.ErrorIs(t, err, ErrInvalid)

	for _, n := range []int{1, 16, 17, 80, 81, 255} {
		s := NewStrategy(strings.Repeat("x", n), index)
		f := MustNew(10, 0.1, WithStrategy(s))
		g, err := Read(bytes.NewReader(marshal(t, f)), WithStrategy(s))
		require.NoError(t, err)
		same(t, f, g)
	}
}

// failingWriter takes so many bytes and then fails, or takes less than it is given
// without saying so.
type failingWriter struct {
	room  int64
	fails error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if int64(len(p)) <= w.room {
		w.room -= int64(len(p))
		return len(p), nil
	}
	n := w.room
	w.room = 0
	return int(n), w.fails
}

// encodedBytes returns the size of the filter in a file.
func encodedBytes(f *BloomFilter) uint64 {
	h, err := f.scheme.header()
	if err != nil {
		panic(err)
	}
	return h.FileBytes(len(f.bits))
}

func TestWriterThatFails(t *testing.T) {
	fails := errors.New("disk full")
	large, err := NewWithParams(Params{M: 3*format.ChunkBytes*8 - 5, K: 3})
	require.NoError(t, err)
	for _, c := range []struct {
		f    *BloomFilter
		step int64
	}{{MustNew(100, 0.01), 1}, {large, 997}} {
		size := int64(encodedBytes(c.f))
		for at := int64(0); at < size; at += c.step {
			for _, want := range []error{fails, nil} {
				n, err := c.f.WriteTo(&failingWriter{at, want})
				if want == nil {
					want = io.ErrShortWrite
				}
				if err != want || n != at {
					t.Fatalf("at %d: %d, %v, want %v", at, n, err, want)
				}
			}
		}
		n, err := c.f.WriteTo(&failingWriter{size, fails})
		require.NoError(t, err)
		require.Equal(t, size, n)
	}
}

// TestEncodingOfTheLargestOn32Bits: a filter of nearly 2 GiB has room in the address
// space, its encoding has none.
func TestEncodingOfTheLargestOn32Bits(t *testing.T) {
	largest := struct { // a slice that is never looked into
		words    *atomic.Uint64
		len, cap int
	}{new(atomic.Uint64), math.MaxInt32 / 8, math.MaxInt32 / 8}
	f := BloomFilter{bitset: bitset{bits: *(*bitArray)(unsafe.Pointer(&largest))}, scheme: MustNew(10, 0.1).scheme}
	require.Greater(t, encodedBytes(&f), uint64(math.MaxInt32))
	if math.MaxInt == math.MaxInt32 {
		for _, encode := range []func() ([]byte, error){f.MarshalBinary, f.MarshalText} {
			_, err := encode()
			require.ErrorIs(t, err, ErrTooLarge)
			require.ErrorContains(t, err, "2147483776 bytes")
		}
	}
}
