package view

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rapidhash"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

// TestViewDamage: every damage of a trailer or a length is noticed.
func TestViewDamage(t *testing.T) {
	t.Parallel()
	tried := 0
	refused := func(data []byte) {
		if _, err := Parse(data); !isAny(err, bloom.ErrCorrupt, bloom.ErrIncompatible) {
			t.Fatalf("%x: %v", data, err)
		}
		tried++
	}
	for _, s := range strategies[1:] {
		for _, keys := range []int{1, 40} {
			data := built(t, 10, keys, s, bloom.WithSeed(3))
			at := len(data) - trailerBytes
			for i := at; i < len(data); i++ {
				for x := 1; x < 256; x++ {
					damaged := bytes.Clone(data)
					damaged[i] ^= byte(x)
					refused(damaged)
				}
				for j := at; j < i; j++ { // two bits
					for bits := range 64 {
						damaged := bytes.Clone(data)
						damaged[i] ^= 1 << (bits % 8)
						damaged[j] ^= 1 << (bits / 8)
						refused(damaged)
					}
				}
			}
			for length := range data {
				refused(data[:length])
				refused(append(bytes.Clone(data[:length]), data[at:]...)[len(data)-at:]) // bits lost in the middle
			}
			for more := 1; more < 100; more++ {
				refused(append(bytes.Clone(data), make([]byte, more)...))
				refused(append(make([]byte, more), data...))
			}
		}
	}
	t.Logf("%d damages, all refused", tried)
}

// forgeView returns bits with a trailer whose check is right.
func forgeView(bits int, seed uint64, k, strategy, hash, version byte) []byte {
	meta := uint32(k) | uint32(strategy)<<8 | uint32(hash)<<16 | uint32(version)<<24
	dst := binary.LittleEndian.AppendUint64(make([]byte, bits/8), seed)
	dst = binary.LittleEndian.AppendUint32(dst, meta)
	return binary.LittleEndian.AppendUint32(dst, check(uint64(bits), seed, meta))
}

// TestViewForged: a trailer with the right check can have other values that are wrong.
func TestViewForged(t *testing.T) {
	for _, c := range []struct {
		bits                       int
		k, strategy, hash, version byte
		want                       error
	}{
		{512, 7, double, 1, version, nil},
		{8, 64, double, 1, version, nil},
		{512, 8, blocked, 2, version, nil},
		{512, 6, blocked, 1, version, nil},
		{256, 8, split, 1, version, nil},
		{0, 7, double, 1, version, bloom.ErrCorrupt},
		{512, 0, double, 1, version, bloom.ErrCorrupt},
		{512, 65, double, 1, version, bloom.ErrCorrupt},
		{512, 8, 0, 1, version, bloom.ErrCorrupt},
		{512, 16, split, 1, version, bloom.ErrCorrupt},
		{264, 8, split, 1, version, bloom.ErrCorrupt},
		{512, 8, 4, 1, version, bloom.ErrCorrupt},
		{512, 8, 255, 1, version, bloom.ErrCorrupt},
		{512, 7, blocked, 1, version, bloom.ErrCorrupt},
		{512, 0, blocked, 1, version, bloom.ErrCorrupt},
		{512, 66, blocked, 1, version, bloom.ErrCorrupt},
		{504, 8, blocked, 1, version, bloom.ErrCorrupt},
		{520, 8, blocked, 1, version, bloom.ErrCorrupt},
		{512, 8, blocked, 3, version, bloom.ErrCorrupt},
		{512, 8, blocked, 0, version, bloom.ErrCorrupt},
		{512, 8, blocked, 255, version, bloom.ErrCorrupt},
		{512, 8, blocked, 1, version - 1, bloom.ErrIncompatible},
		{512, 8, blocked, 1, version + 1, bloom.ErrIncompatible},
	} {
		data := forgeView(c.bits, 0, c.k, c.strategy, c.hash, c.version)
		v, err := Parse(data)
		if c.want == nil {
			require.NoError(t, err)
			require.False(t, v.ContainsString("x"))
			continue
		}
		require.ErrorIs(t, err, c.want, "%+v", c)
	}
}

// FuzzView: no bytes make a view panic or read outside of them. Accepted bytes are a filter.
func FuzzView(f *testing.F) {
	for _, s := range strategies[1:] {
		f.Add(built(f, 10, 3, s), []byte("key 1"), false)
		f.Add(built(f, 10, 3, s, bloom.WithHash(bloom.RapidHash), bloom.WithSeed(3)), []byte("key 1"), false)
	}
	f.Add(forgeView(512, 0, 8, 6, 1, 1), []byte("x"), true)
	f.Add([]byte{}, []byte{}, true)
	f.Fuzz(func(t *testing.T, data, key []byte, forge bool) {
		data = bytes.Clone(data)                            // exactly as long as it is
		if n := len(data) - trailerBytes; forge && n >= 0 { // a check that is right
			meta := binary.LittleEndian.Uint32(data[n+8:])
			binary.LittleEndian.PutUint32(data[n+12:], check(uint64(n)*8, binary.LittleEndian.Uint64(data[n:]), meta))
		}
		v, err := Parse(data)
		if err != nil {
			if !isAny(err, bloom.ErrCorrupt, bloom.ErrIncompatible) {
				t.Fatal(err)
			}
			return
		}
		n := len(data) - trailerBytes
		was := v.Contains(key)
		seed := binary.LittleEndian.Uint64(data[n:])
		start := probe.MurmurStart(seed)
		h1, h2 := murmur3.SeedSum128(start, start, key)
		if data[n+10] == rapidHash {
			h1 = rapidhash.Sum(rapidhash.Start(seed), key)
			h2 = probe.Widen(h1)
		}
		if was != v.ContainsDigest(h1, h2) {
			t.Fatal("Contains and ContainsDigest differ")
		}
		Filter{v}.AddDigest(h1, h2)
		if !v.Contains(key) {
			t.Fatal("a key that was added is missed")
		}
	})
}

func isAny(err error, sentinels ...error) bool {
	return slices.ContainsFunc(sentinels, func(s error) bool { return errors.Is(err, s) })
}
