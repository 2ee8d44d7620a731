package view

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// TestFrozenViews: the bytes of each strategy never change.
func TestFrozenViews(t *testing.T) {
	for _, c := range []struct {
		s    bloom.Strategy
		bits float64
		opts []bloom.Option
		want string
	}{
		{bloom.DoubleHashing, 10, nil, "19d393c69cac41000000000000000007010102f4fbd117"},
		{bloom.DoubleHashing, 10, []bloom.Option{bloom.WithSeed(7)}, "9b18c6651ad6950700000000000000070101026454b871"},
		{bloom.DoubleHashing, 10, []bloom.Option{bloom.WithHash(bloom.RapidHash)}, "dd5823a7670632000000000000000007010202668881ab"},
		{bloom.Blocked, 10, []bloom.Option{bloom.WithHash(bloom.RapidHash), bloom.WithSeed(7)}, "000000000000000010000000010800000800204101104280000030000100000000000000000000000000cb1000000000002000002008045000000100012000000700000000000000060202029fcee1a3"},
		{bloom.SplitBlock, 10, nil, "08040211012300404040000a640008000002220800480a1000a40018140084100000000000000000080301021aa19c25"},
		{bloom.Blocked, 10, nil, "001800000200000030020000000000000000000040000003800400000100230000000000000000000008001a0000008200000000000000000449028080804000000000000000000006020102fa6cb727"},
		{bloom.Blocked, 16, nil, "10120000020000000004000041002102000102000000008204080090800040002088000008000000800040040040020100000000000000008068848a0080000000000000000000000802010213643b3e"},
		{bloom.Blocked, 40, nil, "1410a000400031004408028001010002a80806000000030100c9004a008000000006200043000016810500108002408000a86004084000118020c48009200008000000000000000010020102cf8581d6"},
	} {
		data := built(t, c.bits, 5, c.s, c.opts...)
		require.Equal(t, c.want, hex.EncodeToString(data), "%s at %v", c.s, c.bits)
		raw, err := hex.DecodeString(c.want)
		require.NoError(t, err)
		v, err := Parse(raw)
		require.NoError(t, err)
		for i := range 5 {
			require.True(t, v.Contains(viewKey(i)))
		}
	}
}

func TestWriter(t *testing.T) {
	b, err := NewWriter(10, bloom.DoubleHashing)
	require.NoError(t, err)
	b.Add([]byte("a"))
	b.Add([]byte("a"))
	b.Add([]byte("b"))
	b.AddDigest(bloom.MustNew(1, 0.1).Scheme().Digest([]byte("b")))
	before := []byte("what was there before")
	data := b.AppendTo(bytes.Clone(before))
	require.Len(t, data, len(before)+3+trailerBytes, "two keys, each once")
	require.Equal(t, before, data[:len(before)])
	v, err := Parse(data[len(before):])
	require.NoError(t, err)
	require.True(t, v.ContainsString("a") && v.ContainsString("b"))

	for _, d := range [][2]uint64{{1, 2}, {1, 3}, {4, 3}, {4, 3}} { // a half that equals the last one is no duplicate
		b.AddDigest(d[0], d[1])
	}
	require.Len(t, b.digests, 3)
	b.AppendTo(nil)

	dirty := bytes.Repeat([]byte{255}, 100)
	data = b.AppendTo(dirty[:0])
	require.Len(t, data, 1+trailerBytes, "no keys")
	none, err := Parse(data)
	require.NoError(t, err)
	for i := range 100 {
		require.False(t, none.Contains(viewKey(i)))
	}

	want := fmt.Sprintf("view: a filter for %d keys of 10 bits, want 0 to %d bytes", math.MaxInt, math.MaxInt/2)
	require.PanicsWithValue(t, want, func() { b.empty(nil, math.MaxInt) })
	if keys := uint64(1e11); keys < math.MaxInt {
		split, err := NewWriter(11, bloom.SplitBlock)
		require.NoError(t, err)
		want := fmt.Sprintf("view: a filter for %d keys of 11 bits, want 0 to %d bytes", keys, uint64(1<<37-32))
		require.PanicsWithValue(t, want, func() { split.bitBytes(int(keys)) }, "Parse would refuse it")
	}
	half, err := NewWriter(8.5, bloom.DoubleHashing)
	require.NoError(t, err)
	_, f := half.empty(nil, 1)
	require.Equal(t, 2, f.bytes, "8.5 bits, rounded up")
	for _, c := range []struct {
		bits float64
		s    bloom.Strategy
		opt  bloom.Option
		want error
		text string
	}{
		{0.5, bloom.DoubleHashing, bloom.WithSeed(0), bloom.ErrInvalid, "0.5 bits per key, want 1 to 1000"},
		{1001, bloom.DoubleHashing, bloom.WithSeed(0), bloom.ErrInvalid, "1001 bits per key"},
		{math.NaN(), bloom.DoubleHashing, bloom.WithSeed(0), bloom.ErrInvalid, "NaN bits per key"},
		{10, bloom.SeededHashing, bloom.WithSeed(0), bloom.ErrInvalid, `a trailer for strategy "seeded-hashing", want DoubleHashing, Blocked or SplitBlock`},
		{10, bloom.DoubleHashing, bloom.WithSecret(testKey), bloom.ErrInvalid, `a trailer for hash "siphash", want Murmur3 or RapidHash`},
		{10, bloom.Strategy{}, bloom.WithSeed(0), bloom.ErrInvalid, "the zero Strategy"},
		{10, bloom.DoubleHashing, nil, bloom.ErrInvalid, "nil"},
		{10, bloom.DoubleHashing, bloom.WithMaxBytes(16), bloom.ErrInvalid, "a limit of 16 bytes"},
		{10, bloom.DoubleHashing, bloom.WithStrategy(bloom.SplitBlock), bloom.ErrInvalid, `strategy "split-block"`},
		{10, bloom.SplitBlock, bloom.WithStrategy(bloom.DoubleHashing), bloom.ErrInvalid, `the options ask for strategy "double-hashing", the Writer is for "split-block"`},
		{10, bloom.DoubleHashing, bloom.WithHash(bloom.MapHash), bloom.ErrInvalid, `a trailer for hash "maphash"`},
	} {
		_, err := NewWriter(c.bits, c.s, c.opt)
		require.ErrorIs(t, err, c.want)
		require.ErrorContains(t, err, c.text)
	}
}
