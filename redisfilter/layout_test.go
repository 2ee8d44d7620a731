package redisfilter

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/guava"
)

// TestLayoutIsFrozen pins a whole value: header, bits, slots and end.
func TestLayoutIsFrozen(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 50, 0.01)
	_, err := f.AddMany(bg, keysOf(0, 10), nil)
	require.NoError(t, err)
	value := []byte(s.Client.Get(bg, "f").Val())
	require.Len(t, value, 128+64+16*16+8)
	epoch := string(value[16:24])
	require.Equal(t, epoch, string(value[len(value)-8:]))
	copy(value[16:], "--epoch-")
	copy(value[len(value)-8:], "--epoch-")
	slot := f.shards[0].life.Load().slot.Load()
	require.Equal(t, "00000001", hex.EncodeToString(value[slot.at+4:slot.at+8]), "one command")
	for i := 128 + 64; i < len(value)-8; i++ {
		if i < int(slot.at) || i >= int(slot.at)+16 {
			require.Zero(t, value[i])
		}
	}
	require.Equal(t, strings.Join(strings.Fields(`
		626c6f6f6d726473 b100f102 0001 06 00 2d2d65706f63682d HASH
		0000000000000032 3f847ae147ae147b 0000000000000200 0000000000000000 0010`), ""),
		strings.ReplaceAll(hex.EncodeToString(value[:66]), hex.EncodeToString(value[24:32]), "HASH"))
	require.Equal(t, `"blocked-2" hash=murmur3:0000000000000000`, strings.TrimRight(string(value[66:128]), "\x00"))
	require.Equal(t, "8c9ee54a2a5f8f0a", hex.EncodeToString(value[24:32]))
	require.Equal(t, "0005850000000008024106084810001029409800640200010000000000000000000028002408090a000100001000000400022415058001080000081d00000001", hex.EncodeToString(value[128:192]))
}

// TestSlotsOfSizes pins how many slots there are.
func TestSlotsOfSizes(t *testing.T) {
	for bits, slots := range map[uint64]int{64: 16, 16 << 10: 16, 17 << 10: 17, 100 << 10: 100, 512 << 10: 512, 32 << 20: 512} {
		l := layoutOf(bits)
		require.Equal(t, slots, l.slots)
		require.Equal(t, 128+bits+uint64(slots)*16+8, l.length)
	}
}

// TestClusterSlot holds the CRC to a server's.
func TestClusterSlot(t *testing.T) {
	s := startServer(t, "--cluster-enabled", "yes")
	for i := range 200 {
		key := strings.Repeat(fmt.Sprint(i*7919), 1+i%9)
		require.Equal(t, s.Client.ClusterKeySlot(bg, key).Val(), int64(clusterSlot(key)), key)
	}
	require.Equal(t, int64(clusterSlot("17.4")), s.Client.ClusterKeySlot(bg, "seen:{17.4}").Val())
}

// TestShardsOverSlots: whatever the name, and however many nodes share the slots, each node
// has as many shards as it would if they were dealt out, to within one.
func TestShardsOverSlots(t *testing.T) {
	for _, name := range []string{"seen", "f", "", "crawl:2026", "app:users:seen", "x/y"} {
		for _, shards := range []int{2, 3, 6, 7, 12, 64, 100, 256, 1000} {
			names := shardNames(name, shards)
			require.Equal(t, name, names[0])
			unique := make(map[string]bool)
			for _, nodes := range []int{2, 3, 5, 16} {
				load := make([]int, nodes)
				for _, key := range names {
					unique[key] = true
					slot := clusterSlot(key)
					if tag := hashTag(key); tag != "" {
						slot = clusterSlot(tag)
					}
					load[slot*nodes/clusterSlots]++
				}
				for node, n := range load {
					want := float64(shards) / float64(nodes)
					slack := 1.5
					if shards > 256 {
						slack = 1.5 * float64(shards) / 256
					}
					require.InDelta(t, want, n, slack, "%q: node %d of %d, %d shards: %v", name, node, nodes, shards, load)
				}
			}
			require.Len(t, unique, shards)
		}
	}
	require.Equal(t, []string{"{a}f", "{a}f:{1}", "{a}f:{2}"}, shardNames("{a}f", 3), "the user's own tag decides")
}

// TestShardNamesAreFrozen pins them.
func TestShardNamesAreFrozen(t *testing.T) {
	require.Equal(t, []string{"seen", "seen:{1.51}", "seen:{2.40}", "seen:{3.2}", "seen:{4.50}", "seen:{5.43}", "seen:{6.19}"}, shardNames("seen", 7))
}

// TestPrefix: all keys begin with it, and the name does not.
func TestPrefix(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 0.01, WithPrefix("app:"), WithShards(3))
	_, err := f.AddMany(bg, keysOf(0, 100), nil)
	require.NoError(t, err)
	require.Contains(t, f.String(), `"f"`)
	for _, key := range s.Client.Keys(bg, "*").Val() {
		require.True(t, strings.HasPrefix(key, "app:f"), key)
	}
	_, err = Join(bg, s.Client, "f")
	require.ErrorIs(t, err, ErrLost)
	g, err := Join(bg, s.Client, "f", WithPrefix("app:"))
	require.NoError(t, err)
	require.Equal(t, f.Keys(), g.Keys())
	_, err = Open(bg, s.Client, "f", 1000, 0.01, WithPrefix("a}"))
	require.ErrorIs(t, err, bloom.ErrInvalid)
}

// TestJoin: without n and p, and without the strategy if it is one of package bloom.
func TestJoin(t *testing.T) {
	s := startServer(t)
	_, err := Join(bg, s.Client, "none")
	require.ErrorIs(t, err, ErrLost)
	require.ErrorContains(t, err, `"none"`)
	require.Zero(t, s.Client.DBSize(bg).Val())
	require.NoError(t, s.Client.Set(bg, "text", "x", 0).Err())
	_, err = Join(bg, s.Client, "text")
	require.ErrorIs(t, err, ErrMismatch)
	_, err = Join(bg, s.Client, "")
	require.ErrorIs(t, err, bloom.ErrInvalid)

	for i, strategy := range []bloom.Strategy{
		bloom.DoubleHashing, bloom.SeededHashing, bloom.Blocked, bloom.Blocked1, bloom.Blocked2, bloom.Blocked4,
		bloom.Blocked8, guava.Mitz64, guava.Mitz32, bloom.SplitBlock,
	} {
		for _, shards := range []int{0, 3} {
			name := fmt.Sprint(i, shards)
			f := open(t, s.Client, name, 1234, 0.003, WithShards(shards), WithBloom(bloom.WithStrategy(strategy)), WithTTL(time.Hour))
			_, err := f.AddMany(bg, keysOf(0, 100), nil)
			require.NoError(t, err)
			g, err := Join(bg, s.Client, name)
			require.NoError(t, err, "%v", strategy)
			require.Equal(t, f.Params(), g.Params())
			require.Equal(t, f.String(), g.String())
			require.Equal(t, f.expires().UnixMilli(), g.expires().UnixMilli())
			n, err := g.ContainsMany(bg, keysOf(0, 100), nil)
			require.NoError(t, err)
			require.Equal(t, 100, n)
			_, err = Join(bg, s.Client, name, WithShards(2))
			require.ErrorIs(t, err, ErrMismatch)
		}
	}
	// A part is missing, or cut short: it is not made.
	f := open(t, s.Client, "parts", 1000, 0.01, WithShards(3))
	part := f.Keys()[1]
	for _, ruin := range []string{"", s.Client.Get(bg, part).Val()[:f.layout.length-1]} {
		require.NoError(t, s.Client.Del(bg, part).Err())
		if ruin != "" {
			require.NoError(t, s.Client.Set(bg, part, ruin, 0).Err())
		}
		_, err = Join(bg, s.Client, "parts")
		require.ErrorIs(t, err, ErrLost)
		require.ErrorContains(t, err, strconv.Quote(part))
		require.Equal(t, ruin, s.Client.Get(bg, part).Val())
	}
	open(t, s.Client, "parts", 1000, 0.01, WithShards(3))
	_, err = Join(bg, s.Client, "parts")
	require.NoError(t, err)

	secret := WithBloom(bloom.WithKey([16]byte{1}))
	open(t, s.Client, "secret", 100, 0.01, secret)
	none, err := Join(bg, s.Client, "secret")
	require.ErrorIs(t, err, ErrMismatch)
	require.Nil(t, none)
	_, err = Join(bg, s.Client, "secret", secret)
	require.NoError(t, err)

	// The hash is in the header, too; its seed is not for others to know.
	for _, shards := range []int{0, 3} {
		name := fmt.Sprint("rapid", shards)
		f := open(t, s.Client, name, 1234, 0.003, WithShards(shards), WithBloom(bloom.WithHash(bloom.RapidHash)))
		_, err = f.AddMany(bg, keysOf(0, 100), nil)
		require.NoError(t, err)
		g, err := Join(bg, s.Client, name)
		require.NoError(t, err)
		require.Equal(t, f.String(), g.String())
		n, err := g.ContainsMany(bg, keysOf(0, 100), nil)
		require.NoError(t, err)
		require.Equal(t, 100, n)
		for _, other := range []bloom.Option{bloom.WithHash(bloom.Murmur3), bloom.WithSeed(1), bloom.WithKey([16]byte{1})} {
			_, err = Join(bg, s.Client, name, WithBloom(other))
			require.ErrorIs(t, err, ErrMismatch)
		}
	}
	rapidSeed := []bloom.Option{bloom.WithHash(bloom.RapidHash), bloom.WithSeed(7)}
	open(t, s.Client, "rapid seed", 100, 0.01, WithBloom(rapidSeed...))
	_, err = Join(bg, s.Client, "rapid seed")
	require.ErrorIs(t, err, ErrMismatch)
	_, err = Join(bg, s.Client, "rapid seed", WithBloom(bloom.WithSeed(7)))
	require.NoError(t, err)

	// A header that lies.
	require.NoError(t, s.Client.SetRange(bg, "secret", 32, "\xff\xff\xff\xff").Err())
	_, err = Join(bg, s.Client, "secret", secret)
	require.ErrorIs(t, err, bloom.ErrTooLarge)
}

// TestDefaultStrategy: what is chosen for a rate, and what it costs more than DoubleHashing.
func TestDefaultStrategy(t *testing.T) {
	for _, c := range []struct {
		p    float64
		want bloom.Strategy
	}{
		{0.5, bloom.Blocked2}, {1e-2, bloom.Blocked2}, {1e-4, bloom.Blocked2}, {0.99e-4, bloom.Blocked4},
		{1e-6, bloom.Blocked4}, {0.99e-6, bloom.DoubleHashing}, {1e-12, bloom.DoubleHashing},
	} {
		s, _, err := layoutFor(1_000_000, c.p, 1, nil)
		require.NoError(t, err)
		require.Equal(t, c.want.Name(), s.Strategy().Name(), "p = %v", c.p)
		least, err := bloom.NewScheme(1_000_000, c.p)
		require.NoError(t, err)
		require.LessOrEqual(t, float64(s.SizeBytes()), 1.5*float64(least.SizeBytes()))
	}
}

// TestMaxBytes: the limit is that of the whole filter.
func TestMaxBytes(t *testing.T) {
	for _, shards := range []int{1, 2, 10} {
		l, err := NewLocal(100_000, 0.01, WithShards(shards))
		require.NoError(t, err)
		size := uint64(0)
		for _, f := range l.Filters() {
			size += f.SizeBytes()
		}
		_, err = NewLocal(100_000, 0.01, WithShards(shards), WithBloom(bloom.WithMaxBytes(size)))
		require.NoError(t, err)
		_, err = NewLocal(100_000, 0.01, WithShards(shards), WithBloom(bloom.WithMaxBytes(size-1)))
		require.ErrorIs(t, err, bloom.ErrTooLarge)
	}
}

// TestNonceEnds: a value that ends with a nonce and loses its last byte must not read as before.
func TestNonceEnds(t *testing.T) {
	for range 10_000 {
		require.NotZero(t, newNonce()&0xff)
	}
}
