package bloom

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom/internal/remaining"
	"github.com/stretchr/testify/require"
)

func TestSeveralFiltersInOneStream(t *testing.T) {
	var stream bytes.Buffer
	var want []*BloomFilter
	for i := range uint64(20) {
		f := MustNew(10*(i+1), 0.01, WithSeed(i))
		f.AddString("key " + formatUint(i))
		_, err := f.WriteTo(&stream)
		require.NoError(t, err)
		want = append(want, f)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "stream"))
	require.NoError(t, err)
	defer file.Close()
	_, err = file.Write(stream.Bytes())
	require.NoError(t, err)
	_, err = file.Seek(0, io.SeekStart)
	require.NoError(t, err)
	require.Equal(t, uint64(stream.Len()), remaining.Of(file))
	// A reader of no known length, too.
	for _, r := range []io.Reader{file, bytes.NewReader(stream.Bytes()), iotest.HalfReader(bytes.NewReader(stream.Bytes()))} {
		for _, f := range want {
			g, err := Read(r)
			require.NoError(t, err)
			same(t, f, g)
		}
		_, err := Read(r)
		require.True(t, err == io.EOF, "%v", err)
		n, err := new(BloomFilter).ReadFrom(r)
		require.True(t, err == io.EOF, "%v", err)
		require.Zero(t, n)
	}
}

func TestReadOptionsMustAgree(t *testing.T) {
	other := testKey
	other[3]++
	plain := marshal(t, MustNew(10, 0.1, WithSeed(17)))
	keyed := marshal(t, MustNew(10, 0.1, WithKey(testKey), WithStrategy(Blocked8)))
	rapid := marshal(t, MustNew(10, 0.1, WithHash(RapidHash), WithSeed(17)))
	named := marshal(t, MustNew(10, 0.1, WithStrategy(triple)))
	for _, c := range []struct {
		data []byte
		opts []Option
		text string // of the error, or "" for none
	}{
		{plain, nil, ""},
		{plain, []Option{WithSeed(17), WithHash(Murmur3), WithStrategy(DoubleHashing), WithMaxBytes(8)}, ""},
		{plain, []Option{WithSeed(18)}, "the data's seed is 17, want 18"},
		{plain, []Option{WithHash(MapHash)}, "the data's hash is \"murmur3\", want \"maphash\""},
		{plain, []Option{WithKey(testKey)}, "the data's hash is \"murmur3\" without a key, want the given key"},
		{plain, []Option{WithStrategy(Blocked)}, `the data's strategy is "double-hashing", want "blocked"`},
		{plain, []Option{WithStrategy(SeededHashing)}, `the data's strategy is "double-hashing", want "seeded-hashing"`},
		{plain, []Option{WithStrategy(triple)}, `the data's strategy is "double-hashing", want "triple"`},
		{plain, []Option{WithHash(RapidHash)}, "the data's hash is \"murmur3\", want \"rapidhash-v3\""},
		{rapid, nil, ""},
		{rapid, []Option{WithHash(RapidHash), WithSeed(17)}, ""},
		{rapid, []Option{WithSeed(18)}, "the data's seed is 17, want 18"},
		{rapid, []Option{WithHash(Murmur3)}, "the data's hash is \"rapidhash-v3\", want \"murmur3\""},
		{rapid, []Option{WithKey(testKey)}, "the data's hash is \"rapidhash-v3\" without a key, want the given key"},
		{keyed, []Option{WithKey(testKey)}, ""},
		{keyed, []Option{WithKey(testKey), WithStrategy(Blocked)}, ""},
		{keyed, []Option{WithKey(testKey), WithStrategy(Blocked8)}, ""},
		{keyed, []Option{WithKey(testKey), WithStrategy(Blocked4)}, `the data's strategy is "blocked-8", want "blocked-4"`},
		{keyed, nil, "the data's hash is \"siphash\", want its secret key by WithKey"},
		{keyed, []Option{WithHash(Murmur3)}, "the data's hash is \"siphash\", want \"murmur3\""},
		{keyed, []Option{WithHash(Murmur3), WithKey(testKey)}, "the data's hash is \"siphash\", want \"murmur3\""},
		{keyed, []Option{WithKey(other)}, "the data was made with another secret key than the given one"},
		{keyed, []Option{WithSeed(11)}, "the data's hash is \"siphash\" with a secret key, want seed 11"},
		{keyed, []Option{WithHash(MapHash), WithKey(testKey)}, "the data's hash is \"siphash\", want \"maphash\""},
		{named, []Option{WithStrategy(triple)}, ""},
		{named, nil, `the data's strategy is "triple", want one of that name by WithStrategy`},
		{named, []Option{WithStrategy(NewStrategy("other", tripleDefinition))}, `the data's strategy is "triple", want "other"`},
		{named, []Option{WithStrategy(DoubleHashing)}, `the data's strategy is "triple", want "double-hashing"`},
	} {
		_, err := Read(bytes.NewReader(c.data), c.opts...)
		if c.text == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrIncompatible)
		require.EqualError(t, err, "bloom: incompatible filters: "+c.text)
	}

	// What is wrong with the option is no fault of the data.
	for _, data := range [][]byte{plain, named} {
		for text, s := range map[string]Strategy{
			`strategy "triple" has both or neither of Positions`:  NewStrategy("triple", Definition{}),
			`strategy "blocked" has a name that is taken by this`: NewStrategy("blocked", tripleDefinition),
		} {
			_, err := Read(bytes.NewReader(data), WithStrategy(s))
			require.ErrorIs(t, err, ErrInvalid)
			require.NotErrorIs(t, err, ErrCorrupt)
			require.ErrorContains(t, err, text)
		}
	}

	// The same by a receiver's own key and strategy.
	for _, c := range []struct {
		into *BloomFilter
		data []byte
		ok   bool
	}{
		{MustNew(5, 0.5, WithKey(testKey)), keyed, true},
		{MustNew(5, 0.5, WithKey(other)), keyed, false},
		{MustNew(5, 0.5), keyed, false},
		{MustNew(5, 0.5, WithKey(testKey)), plain, false},
		{MustNew(5, 0.5, WithStrategy(Blocked), WithSeed(1)), plain, true},
		{MustNew(5, 0.5, WithHash(MapHash)), plain, true},
		{MustNew(5, 0.5, WithStrategy(triple)), named, true},
		{MustNew(5, 0.5, WithStrategy(triple)), plain, false},
		{MustNew(5, 0.5), named, false},
	} {
		before := *c.into
		if err := c.into.UnmarshalBinary(c.data); c.ok {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrIncompatible)
			require.Same(t, &before.bits[0], &c.into.bits[0])
			require.Equal(t, before.Params(), c.into.Params())
		}
	}
}

func TestWithMaxBytes(t *testing.T) {
	f := MustNew(1000, 0.01)
	data, size := marshal(t, f), f.SizeBytes()
	for _, opts := range [][]Option{{WithMaxBytes(size)}, {WithMaxBytes(1 << 63)}} {
		_, err := Read(bytes.NewReader(data), opts...)
		require.NoError(t, err)
		_, err = New(1000, 0.01, opts...)
		require.NoError(t, err)
		_, err = NewWithParams(f.Params(), opts...)
		require.NoError(t, err)
	}
	for _, limit := range []uint64{0, size - 1} {
		text := fmt.Sprintf("bloom: filter too large: m = %d bits are %d bytes, want at most %d", f.Params().M, size, limit)
		_, err := Read(bytes.NewReader(data), WithMaxBytes(limit))
		require.ErrorIs(t, err, ErrTooLarge)
		require.EqualError(t, err, text)
		_, err = New(1000, 0.01, WithMaxBytes(limit))
		require.ErrorIs(t, err, ErrTooLarge)
		require.EqualError(t, err, text)
		_, err = NewWithParams(f.Params(), WithMaxBytes(limit))
		require.EqualError(t, err, text)
		_, err = NewScheme(1000, 0.01, WithMaxBytes(limit))
		require.EqualError(t, err, text)
	}
}

// TestReaderThatFails at every byte, and one whose bytes end there: the error is
// the reader's, or says that the end came too early; the receiver stays as it was.
func TestReaderThatFails(t *testing.T) {
	fails := errors.New("connection lost")
	data := marshal(t, portables(t)["triple-key"].f)
	g := MustNew(5, 0.5, WithStrategy(triple), WithKey(testKey))
	g.AddString("old")
	old := g.Clone()
	for at := range data {
		n, err := g.ReadFrom(io.MultiReader(bytes.NewReader(data[:at]), iotest.ErrReader(fails)))
		require.ErrorIs(t, err, fails)
		require.NotErrorIs(t, err, ErrCorrupt)
		require.Regexp(t, "^bloom: reading the (header|words|checksum): connection lost$", err.Error())
		require.Equal(t, int64(at), n)

		n, err = g.ReadFrom(bytes.NewReader(data[:at]))
		require.Equal(t, int64(at), n)
		if at == 0 {
			require.True(t, err == io.EOF)
		} else {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.ErrorIs(t, err, ErrCorrupt)
		}
		same(t, old, g)
	}
}

// TestUnmarshalTakesAllOrNothing: bytes after the end are an error, and the receiver
// stays what it was.
func TestUnmarshalTakesAllOrNothing(t *testing.T) {
	f, g := MustNew(100, 0.01), MustNew(50, 0.1)
	g.AddString("kept")
	before := g.Clone()
	for _, data := range [][]byte{nil, append(marshal(t, f), 0), append(marshal(t, f), marshal(t, f)...)} {
		require.ErrorIs(t, g.UnmarshalBinary(data), ErrCorrupt, "%d bytes", len(data))
		same(t, before, g)
	}
	require.NoError(t, g.UnmarshalBinary(marshal(t, f)))
	same(t, f, g)
}
