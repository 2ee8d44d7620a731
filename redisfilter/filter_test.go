package redisfilter

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/seed3447c163/bloom/internal/testing/byindex"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

var bg = context.Background()

// noFront makes every call ask the server.
var noFront = WithFront(0)

func TestAddAndContains(t *testing.T) {
	s := startServer(t)
	for name, opts := range map[string][]Option{
		"default":  nil,
		"noFront":  {noFront},
		"shards":   {WithShards(5)},
		"blocked":  {WithBloom(bloom.WithStrategy(bloom.Blocked))},
		"seeded":   {WithBloom(bloom.WithStrategy(bloom.SeededHashing))},
		"rapid":    {WithBloom(bloom.WithHash(bloom.RapidHash), bloom.WithSeed(3))},
		"keyed":    {WithBloom(bloom.WithKey([16]byte{1, 2, 3}))},
		"keyShard": {WithBloom(bloom.WithKey([16]byte{1, 2, 3})), WithShards(3)},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, s.Client, name, 3000, 1e-4, opts...)
			other := open(t, s.Client, name, 3000, 1e-4, opts...)

			added, err := f.Add(bg, keyOf(0))
			require.NoError(t, err)
			require.True(t, added)
			added, err = other.Add(bg, keyOf(0))
			require.NoError(t, err)
			require.False(t, added)
			found, err := other.Contains(bg, keyOf(0))
			require.NoError(t, err)
			require.True(t, found)
			found, err = other.Contains(bg, keyOf(1))
			require.NoError(t, err)
			require.False(t, found)

			// More than one command holds, with duplicates inside and outside.
			keys := append(keysOf(0, 1500), keysOf(700, 800)...)
			answers, err := addEach(bg, f, keys)
			require.NoError(t, err)
			require.Equal(t, 1499, count(answers), "new keys")
			require.False(t, answers[0])
			require.Zero(t, count(answers[1500:]))
			answers, err = askEach(bg, other, keysOf(0, 3000))
			require.NoError(t, err)
			require.Equal(t, 1500, count(answers[:1500]), "no misses")
			require.LessOrEqual(t, count(answers[1500:]), 3, "1500 false positives at 1e-4 and half the keys")
		})
	}
}

// TestSameAsLocal holds the answers and the bits in Redis to those of a filter in
// the process with the same keys, for each way to add them, and mixed.
func TestSameAsLocal(t *testing.T) {
	s := startServer(t)
	for name, way := range ways {
		for _, front := range []bool{false, true} {
			opts := way.opts
			if !front {
				opts = append([]Option{noFront}, opts...)
			}
			name := fmt.Sprint(name, front)
			f := open(t, s.Client, name, 2000, 0.05, opts...)
			f.noScripts.Store(way.noScripts)
			local, err := NewLocal(2000, 0.05, opts...)
			require.NoError(t, err)
			for from := 0; from < 4000; from += 777 {
				keys := append(keysOf(from, from+777), keysOf(from/2, from/2+50)...)
				want, _ := addEach(bg, local, keys)
				got, err := addEach(bg, f, keys)
				require.NoError(t, err)
				require.Equal(t, want, got, name)
				for i := range 20 {
					want, _ := local.Add(bg, keyOf(50_000+from+i))
					got, err := f.Add(bg, keyOf(50_000+from+i))
					require.NoError(t, err)
					require.Equal(t, want, got, name)
				}
			}
			want, _ := askEach(bg, local, keysOf(0, 20000))
			got, err := askEach(bg, f, keysOf(0, 20000))
			require.NoError(t, err)
			require.Equal(t, want, got, name)
			requireSameBits(t, s.Client, f, local)
		}
	}
}

// requireSameBits compares the values behind the headers with the local words,
// byte by byte.
func requireSameBits(t *testing.T, client redis.UniversalClient, f *Filter, local *Local) {
	t.Helper()
	for i, key := range f.Keys() {
		value, err := client.Get(bg, key).Bytes()
		require.NoError(t, err)
		require.True(t, bytes.Equal(wordBytes(local.Filters()[i]), value[headerBytes:f.layout.table()]), "key %s", key)
	}
}

// wordBytes returns a filter's words as a file of ours holds them: little-endian.
func wordBytes(f *bloom.BloomFilter) []byte {
	b := make([]byte, 0, f.SizeBytes())
	for i := range f.Words() {
		b = binary.LittleEndian.AppendUint64(b, f.Words()[i].Load())
	}
	return b
}

// TestOneWinner lets many clients add the same keys at the same time: each key must
// have one winner, none two.
func TestOneWinner(t *testing.T) {
	s := startServer(t)
	for name, opts := range map[string][]Option{"one": nil, "shards": {WithShards(3)}} {
		const clients, keys = 8, 2000
		var wins [keys]atomic.Int32
		var all sync.WaitGroup
		for c := range clients {
			all.Go(func() {
				client := redis.NewClient(&redis.Options{Addr: s.Addr})
				defer client.Close()
				f, err := Open(bg, client, "winner "+name, keys, 1e-6, opts...)
				if !assert.NoError(t, err) {
					return
				}
				// Single adds and batches of different sizes, mixed.
				for i := 0; i < keys; {
					size := min(1+(i*7+c*13)%40, keys-i)
					added, err := addEach(bg, f, keysOf(i, i+size))
					if !assert.NoError(t, err) {
						return
					}
					for j, yes := range added {
						if yes {
							wins[i+j].Add(1)
						}
					}
					i += size
				}
			})
		}
		all.Wait()
		for i := range wins {
			if n := wins[i].Load(); n != 1 {
				t.Fatalf("%s: key %d has %d winners", name, i, n)
			}
		}
	}
}

// TestRate measures the false-positive rate of a full filter, also when it is
// spread over shards.
func TestRate(t *testing.T) {
	s := startServer(t)
	const n, p, asked = 20000, 0.02, 60000
	for name, opts := range map[string][]Option{"one": nil, "shards": {WithShards(7)}} {
		f := open(t, s.Client, name, n, p, opts...)
		_, err := addEach(bg, f, keysOf(0, n))
		require.NoError(t, err)
		found, err := askEach(bg, f, keysOf(n, n+asked))
		require.NoError(t, err)
		rate, sigma := float64(count(found))/asked, math.Sqrt(p*(1-p)/asked)
		// The fill of one filter of 20 000 keys varies too, by some 0.3 % of the rate.
		require.Less(t, rate, p+4*sigma, name)
		require.Greater(t, rate, 0.9*p, name)
	}
}

// TestShardsAreEven holds the shards' loads to those of a fair choice.
func TestShardsAreEven(t *testing.T) {
	const shards, keys = 16, 160000
	scheme, err := bloom.NewScheme(10000, 0.01)
	require.NoError(t, err)
	var load [shards]float64
	for i := range keys {
		load[shardOf(scheme.AppendPositions(nil, keyOf(i)), shards)]++
	}
	chi := 0.0
	for _, l := range load {
		chi += (l - keys/shards) * (l - keys/shards) / (keys / shards)
	}
	require.Less(t, chi, 15+4*math.Sqrt(2*15), "chi squared of 15 degrees of freedom: %v", load)
}

// TestShardOfIsFrozen pins the choice of shards, which is part of the layout.
func TestShardOfIsFrozen(t *testing.T) {
	var got []int
	for i := range 12 {
		got = append(got, shardOf([]uint64{uint64(i), 1 << 20, uint64(i) << 40}, 1000))
	}
	require.Equal(t, []int{774, 913, 635, 113, 420, 823, 22, 915, 829, 306, 70, 487}, got)
}

// TestParametersAreChecked opens one name with different parameters.
func TestParametersAreChecked(t *testing.T) {
	s := startServer(t)
	open(t, s.Client, "f", 100_000, 0.01)
	before := s.Client.Get(bg, "f").Val()
	for name, c := range map[string]struct {
		n    uint64
		p    float64
		opts []Option
		text string
	}{
		"n":        {n: 200_000, p: 0.01, text: "n = 100000, p = 0.01"},
		"p":        {n: 100_000, p: 0.001, text: "opened for n = 100000, p = 0.001"},
		"shards":   {n: 100_000, p: 0.01, opts: []Option{WithShards(2)}, text: "(1 shards of m = 1027072 bits, k = 6, "},
		"strategy": {n: 100_000, p: 0.01, opts: []Option{WithBloom(bloom.WithStrategy(bloom.SeededHashing))}, text: "m = 959360 bits, k = 7, \"seeded"},
		"seed":     {n: 100_000, p: 0.01, opts: []Option{WithBloom(bloom.WithSeed(1))}, text: "another strategy, hash, seed or secret key"},
		"hash":     {n: 100_000, p: 0.01, opts: []Option{WithBloom(bloom.WithHash(bloom.RapidHash))}, text: "another strategy, hash, seed or secret key"},
		"key":      {n: 100_000, p: 0.01, opts: []Option{WithBloom(bloom.WithKey([16]byte{7}))}, text: "secret key"},
	} {
		t.Run(name, func(t *testing.T) {
			none, err := Open(bg, s.Client, "f", c.n, c.p, c.opts...)
			require.ErrorIs(t, err, ErrMismatch)
			require.Nil(t, none)
			require.ErrorContains(t, err, c.text)
			require.Equal(t, before, s.Client.Get(bg, "f").Val(), "nothing may change")
		})
	}
}

// TestContradictoryHeader: a header with the right fingerprint but other numbers is
// refused, and nothing is made by them.
func TestContradictoryHeader(t *testing.T) {
	s := startServer(t)
	for _, c := range []struct {
		at    int64
		value string
	}{
		{48, "\x40\x00\x00\x00\x00\x00\x00\x00"}, // m, more than there is memory
		{48, "\x00\x00\x00\x00\x00\x00\x00\x08"}, // m, less than the positions reach
		{14, "\xff"},                             // k
		{12, "\xff\xff"},                         // shards
	} {
		s.Client.FlushAll(bg)
		open(t, s.Client, "f", 1000, 0.01)
		require.NoError(t, s.Client.SetRange(bg, "f", c.at, c.value).Err())
		_, err := Open(bg, s.Client, "f", 1000, 0.01)
		require.ErrorIs(t, err, ErrMismatch)
	}
}

// TestForeignKeysAreLeftAlone opens names under which there is something else.
func TestForeignKeysAreLeftAlone(t *testing.T) {
	s := startServer(t)
	require.NoError(t, s.Client.SetBit(bg, "bitmap", 100_000, 1).Err())
	require.NoError(t, s.Client.Set(bg, "short", "x", 0).Err())
	require.NoError(t, s.Client.Set(bg, "empty", "", 0).Err())
	require.NoError(t, s.Client.LPush(bg, "list", "x").Err())
	names := shardNames("shard", 3)
	require.NoError(t, s.Client.Set(bg, names[2], "x", 0).Err())
	_, err := Open(bg, s.Client, "shard", 1000, 0.01, WithShards(3))
	require.ErrorIs(t, err, ErrMismatch)
	require.Zero(t, s.Client.Exists(bg, names[0], names[1]).Val(), "nor is there a part of a filter beside it")
	for _, key := range []string{"bitmap", "short", "empty", "list"} {
		before := s.Client.Dump(bg, key).Val()
		_, err := Open(bg, s.Client, key, 1000, 0.01)
		require.ErrorIs(t, err, ErrMismatch, key)
		require.Equal(t, before, s.Client.Dump(bg, key).Val(), key)
	}
}

// nameless is a strategy that no fingerprint can tell from another.
var nameless = bloom.NewStrategy("", bloom.Definition{Positions: byindex.Positions(func(h1, h2 uint64, i int, m uint64) uint64 { return (h1 + uint64(i)*h2) % m })})

func TestBadParameters(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"}) // nothing is sent
	defer client.Close()
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}, ReadOnly: true})
	defer cluster.Close()
	byLatency := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}, RouteByLatency: true})
	defer byLatency.Close()
	random := redis.NewFailoverClusterClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"127.0.0.1:1"}, RouteRandomly: true})
	defer random.Close()
	for _, c := range []struct {
		text   string
		client redis.UniversalClient
		name   string
		n      uint64
		p      float64
		opts   []Option
	}{
		{"p = 1", client, "f", 10, 1, nil},
		{"NaN", client, "f", 10, math.NaN(), nil},
		{"empty name", client, "", 10, 0.1, nil},
		{`"a}b"`, client, "a}b", 10, 0.1, nil},
		{"no client", nil, "f", 10, 0.1, nil},
		{"option 2 of 2 is nil", client, "f", 10, 0.1, []Option{WithShards(1), nil}},
		{"its hash is maphash", client, "f", 10, 0.1, []Option{WithBloom(bloom.WithHash(bloom.MapHash))}},
		{"its strategy has no name", client, "f", 10, 0.1, []Option{WithBloom(bloom.WithStrategy(nameless))}},
		{"its hash has no name", client, "f", 10, 0.1, []Option{WithBloom(bloom.WithHash(bloom.NewHash64("", func([]byte) uint64 { return 1 })))}},
		{"TTL -1s", client, "f", 10, 0.1, []Option{WithTTL(-1e9)}},
		{"TTL 1ms", client, "f", 10, 0.1, []Option{WithTTL(1e6)}},
		{"-1 shards", client, "f", 10, 0.1, []Option{WithShards(-1)}},
		{"wait for 1 replicas for 0s", client, "f", 10, 0.1, []Option{WithWait(1, 0)}},
		{"ReadTimeout", client, "f", 10, 0.1, []Option{WithWait(1, 1e10)}},
		{"reads from replicas", cluster, "f", 10, 0.1, nil},
		{"reads from replicas", byLatency, "f", 10, 0.1, nil},
		{"reads from replicas", random, "f", 10, 0.1, nil},
		{"*redis.Ring, want one that never goes on at another server", redis.NewRing(&redis.RingOptions{}), "f", 10, 0.1, nil},
	} {
		_, err := Open(bg, c.client, c.name, c.n, c.p, c.opts...)
		require.ErrorIs(t, err, bloom.ErrInvalid, c.text)
		require.ErrorContains(t, err, c.text)
	}
	_, err := Open(bg, client, "f", 1e9, 0.01, WithShards(1))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	require.ErrorContains(t, err, "use more shards")
	_, err = Open(bg, client, "f", 1<<41, 0.01)
	require.ErrorIs(t, err, bloom.ErrTooLarge)
}

// TestCommandsPerBatch counts commands: one for each 500 keys.
func TestCommandsPerBatch(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 10000, 0.01, noFront)
	_, err := f.Add(bg, keyOf(5000))
	require.NoError(t, err)
	adds := func() int {
		return calls(t, s.Client, "bitfield") + calls(t, s.Client, "evalsha") + calls(t, s.Client, "eval")
	}
	before := adds()
	_, err = f.AddMany(bg, keysOf(0, 1001), nil)
	require.NoError(t, err)
	require.Equal(t, 3+1, adds()-before, "the first script is not known yet")
	_, err = f.AddMany(bg, keysOf(0, 1001), nil)
	require.NoError(t, err)
	require.Equal(t, 3+1+3, adds()-before)
	before = calls(t, s.Client, "bitfield_ro")
	_, err = askEach(bg, f, keysOf(0, 500))
	require.NoError(t, err)
	require.Equal(t, 1, calls(t, s.Client, "bitfield_ro")-before)

	answers, err := addEach(bg, f, nil)
	require.NoError(t, err)
	require.Empty(t, answers)
}

// TestEmptyAndLongKeys adds the keys at the edges.
func TestEmptyAndLongKeys(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 100, 1e-6)
	for _, key := range [][]byte{nil, slices.Repeat([]byte{0}, 1<<20)} {
		added, err := f.Add(bg, key)
		require.NoError(t, err)
		require.True(t, added)
		found, err := f.Contains(bg, key)
		require.NoError(t, err)
		require.True(t, found)
	}
	added, err := f.Add(bg, []byte{})
	require.NoError(t, err)
	require.False(t, added, "nil and empty are the same key")
}

func TestAccessors(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "crawl", 1000, 0.01, WithShards(2))
	require.Contains(t, f.String(), `"crawl"`)
	require.Len(t, f.Keys(), 2)
	require.Equal(t, `redisfilter.Filter("crawl" n=1000 p=0.01 m=11264 k=6 strategy=blocked-2 shards=2)`, f.String())
}

func TestNewLocal(t *testing.T) {
	_, err := NewLocal(10, 0.01, WithShards(-1))
	require.ErrorIs(t, err, bloom.ErrInvalid)
	_, err = NewLocal(1e13, 0.01)
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	l, err := NewLocal(1000, 0.01, WithShards(2))
	require.NoError(t, err)
	added, err := l.Add(bg, keyOf(1))
	require.NoError(t, err)
	require.True(t, added)
	for i, want := range []bool{false, true, false} {
		found, err := l.Contains(bg, keyOf(i))
		require.NoError(t, err)
		require.Equal(t, want, found)
	}
}

// TestExplain: what a server says comes with what to do about it.
func TestExplain(t *testing.T) {
	s := startServer(t, "--rename-command", "BITFIELD", "")
	_, err := open(t, s.Client, "f", 1000, 0.01).Add(bg, keyOf(0))
	require.ErrorContains(t, err, `key "f": the server does not have the command, want Redis 6.2 or later`)
}

// TestPlannedForNoKeys: it never misses when keys are added all the same.
func TestPlannedForNoKeys(t *testing.T) {
	s := startServer(t)
	for _, shards := range []int{1, 3} {
		f := open(t, s.Client, fmt.Sprint(shards), 0, 0.01, WithShards(shards), noFront)
		_, err := f.AddMany(bg, keysOf(0, 100), nil)
		require.NoError(t, err)
		n, err := f.ContainsMany(bg, keysOf(0, 100), nil)
		require.NoError(t, err)
		require.Equal(t, 100, n)
		_, err = Join(bg, s.Client, fmt.Sprint(shards))
		require.NoError(t, err)
	}
}
