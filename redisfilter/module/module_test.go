package module

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

var (
	bg          = context.Background()
	startServer = redistest.Start
	startProxy  = redistest.StartProxy
	keyOf       = redistest.KeyOf
	keysOf      = redistest.KeysOf
	count       = redistest.Count
	indices     = redistest.Indices
	addEach     = redistest.AddEach
	askEach     = redistest.AskEach
)

func TestModule(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprint("RESP", protocol), func(t *testing.T) {
			fake, addr := startFakeModule(t)
			client := protocolClient(t, addr, protocol)
			m, err := Open(bg, client, "f", 5000, 0.001, WithExpansion(4))
			require.NoError(t, err)
			require.Equal(t, []string{"BF.RESERVE", "f", "0.001", "5000", "EXPANSION", "4"}, fake.last)
			other, err := Open(bg, client, "f", 5000, 0.001, WithExpansion(4))
			require.NoError(t, err, "the second joins")
			_, err = Open(bg, client, "f", 6000, 0.001, WithExpansion(4))
			require.ErrorIs(t, err, redisfilter.ErrMismatch)

			added, err := m.Add(bg, keyOf(0))
			require.NoError(t, err)
			require.True(t, added)
			added, err = other.Add(bg, keyOf(0))
			require.NoError(t, err)
			require.False(t, added)
			answers, err := addEach(bg, m, append(keysOf(0, 1200), keyOf(7)))
			require.NoError(t, err)
			require.Equal(t, 1199, count(answers))
			found, err := m.Contains(bg, keyOf(3))
			require.NoError(t, err)
			require.True(t, found)
			answers, err = askEach(bg, m, keysOf(600, 1800))
			require.NoError(t, err)
			require.Equal(t, 600, count(answers))

			delete(fake.filters, "f")
			_, err = m.Add(bg, keyOf(0))
			require.ErrorIs(t, err, redisfilter.ErrLost, "and not made by the module with parameters of its own")
			require.Empty(t, fake.filters)
			_, err = m.Contains(bg, keyOf(0))
			require.ErrorIs(t, err, redisfilter.ErrLost, "and not false, which the module answers")
			_, err = askEach(bg, m, keysOf(0, 1200))
			require.ErrorIs(t, err, redisfilter.ErrLost)

			fake.filters["f"] = &fakeFilter{other: true}
			_, err = m.Contains(bg, keyOf(0))
			require.ErrorIs(t, err, redisfilter.ErrMismatch, "and not false, which the module answers")
			require.ErrorContains(t, err, "no filter of the module")
			_, err = m.Add(bg, keyOf(0))
			require.ErrorIs(t, err, redisfilter.ErrMismatch)
			require.NotErrorIs(t, err, redisfilter.ErrUnknown)
			_, err = Open(bg, client, "f", 5000, 0.001, WithExpansion(4))
			require.ErrorIs(t, err, redisfilter.ErrMismatch)
		})
	}
}

func TestFull(t *testing.T) {
	_, addr := startFakeModule(t)
	m, err := Open(bg, protocolClient(t, addr, 2), "f", 700, 0.01, WithoutScaling())
	require.NoError(t, err)
	added, err := addEach(bg, m, keysOf(0, 1200))
	require.ErrorIs(t, err, redisfilter.ErrFull)
	require.NotErrorIs(t, err, redisfilter.ErrUnknown, "the filter refuses for certain")
	failed, ok := errors.AsType[*redisfilter.AddError](err)
	require.True(t, ok)
	require.Equal(t, 700, count(added))
	require.Empty(t, failed.Unknown)
	require.Equal(t, indices(700, 1200), failed.NotAdded)
	_, err = m.Add(bg, keyOf(1000))
	require.ErrorIs(t, err, redisfilter.ErrFull)
	require.NotErrorIs(t, err, redisfilter.ErrUnknown)
	already, err := m.Add(bg, keyOf(5))
	require.NoError(t, err, "it still knows those it has")
	require.False(t, already)
}

// TestJoinsOnlyTheSame: n, p, the expansion and its absence are compared.
func TestJoinsOnlyTheSame(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		_, addr := startFakeModule(t)
		client := protocolClient(t, addr, protocol)
		open := func(name string, n uint64, p float64, opts ...Option) error {
			_, err := Open(bg, client, name, n, p, opts...)
			return err
		}
		require.NoError(t, open("f", 700, 0.01))
		require.NoError(t, open("f", 700, 0.01))
		require.NoError(t, open("f", 700, 0.01, WithExpansion(2)), "the default")
		require.ErrorIs(t, open("f", 701, 0.01), redisfilter.ErrMismatch)
		require.ErrorIs(t, open("f", 700, 0.02), redisfilter.ErrMismatch)
		require.ErrorIs(t, open("f", 700, 0.01, WithExpansion(3)), redisfilter.ErrMismatch)
		require.ErrorIs(t, open("f", 700, 0.01, WithoutScaling()), redisfilter.ErrMismatch)
		require.NoError(t, open("g", 700, 0.01, WithoutScaling()))
		require.NoError(t, open("g", 700, 0.01, WithoutScaling()))
		require.ErrorIs(t, open("g", 700, 0.005), redisfilter.ErrMismatch, "the same rate of the first layer")
		require.ErrorContains(t, open("g", 700, 0.01), "expansion 0 (0 is NONSCALING)")
	}
}

// TestExpires: the expiry is set with the filter, and not by processes that join it.
func TestExpires(t *testing.T) {
	fake, addr := startFakeModule(t)
	client := protocolClient(t, addr, 2)
	_, err := Open(bg, client, "f", 700, 0.01, WithTTL(time.Minute))
	require.NoError(t, err)
	require.Equal(t, "60000", fake.expiry)
	fake.expiry = ""
	_, err = Open(bg, client, "f", 700, 0.01, WithTTL(time.Hour))
	require.NoError(t, err)
	require.Empty(t, fake.expiry)
	_, err = Open(bg, client, "f", 800, 0.01, WithTTL(time.Hour))
	require.ErrorIs(t, err, redisfilter.ErrMismatch)
	require.Empty(t, fake.expiry)

	// Somebody else makes it at the same time.
	var once sync.Once
	client.AddHook(beforeTransaction(func() {
		once.Do(func() {
			_, err := Open(bg, protocolClient(t, addr, 2), "g", 700, 0.01)
			require.NoError(t, err)
		})
	}))
	_, err = Open(bg, client, "g", 700, 0.01, WithTTL(time.Hour))
	require.NoError(t, err)
	require.Empty(t, fake.expiry)
}

// beforeTransaction calls a function before each transaction.
func beforeTransaction(f func()) redistest.Hook {
	return func(cmds []redis.Cmder, send func() error) error {
		if cmds[0].Name() == "multi" {
			f()
		}
		return send()
	}
}

// TestExpiresWithoutReply: however few replies come through, there is no filter
// without its expiry.
func TestExpiresWithoutReply(t *testing.T) {
	for cut := range int64(8) {
		fake, addr := startFakeModule(t)
		p := startProxy(t, addr)
		client := redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true, MaxRetries: -1})
		p.CutEvery.Store(cut + 1)
		Open(bg, client, "f", 700, 0.01, WithTTL(time.Minute))
		client.Close()
		client = protocolClient(t, addr, 2)
		_, err := Open(bg, client, "f", 700, 0.01, WithTTL(time.Minute))
		require.NoError(t, err)
		require.Equal(t, "60000", fake.expiry, "reply %d was cut", cut+1)
	}
}

// TestStrangeReplies: what is no answer is not taken for one. An add may have been
// executed then.
func TestStrangeReplies(t *testing.T) {
	fake, addr := startFakeModule(t)
	m, err := Open(bg, protocolClient(t, addr, 2), "f", 700, 0.01)
	require.NoError(t, err)
	for _, c := range []struct {
		reply   string
		unknown []int
		text    string
	}{
		{":5\r\n", []int{0, 1, 2}, "unexpected reply 5, want 3 answers"},
		{"*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n", []int{0, 1, 2}, "unexpected reply [1 1 1 1], want 3 answers"},
		{"*2\r\n:1\r\n:0\r\n", []int{2}, "2 answers, want 3"},
		{"*3\r\n:1\r\n+odd\r\n:1\r\n", []int{1}, "odd"},
		{"-ERR busy\r\n", nil, "busy"},
	} {
		fake.replies = map[string]string{"BF.INSERT": c.reply, "BF.MEXISTS": c.reply}
		_, err := addEach(bg, m, keysOf(0, 3))
		require.ErrorContains(t, err, c.text)
		failed, ok := errors.AsType[*redisfilter.AddError](err)
		require.True(t, ok)
		require.Equal(t, c.unknown, failed.Unknown)
		require.Equal(t, c.unknown != nil, errors.Is(err, redisfilter.ErrUnknown))
		_, err = askEach(bg, m, keysOf(0, 3))
		require.ErrorContains(t, err, c.text)
	}
	_, err = m.Contains(bg, keyOf(0))
	require.ErrorContains(t, err, "busy")

	// No reply at all.
	m.sender.Client.(*redis.Client).Close()
	_, err = addEach(bg, m, keysOf(0, 3))
	require.ErrorIs(t, err, redis.ErrClosed)
	require.NotErrorIs(t, err, redisfilter.ErrUnknown, "nothing was sent")
	p := startProxy(t, addr)
	m.sender.Client = redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true})
	fake.replies = nil
	_, err = m.Contains(bg, keyOf(0)) // so that there is a connection
	require.NoError(t, err)
	p.CutEvery.Store(1)
	_, err = addEach(bg, m, keysOf(0, 3))
	require.ErrorIs(t, err, redisfilter.ErrUnknown)
}

// TestMissing asks a server that has no modules.
func TestMissing(t *testing.T) {
	s := startServer(t)
	_, err := Open(bg, s.Client, "f", 100, 0.01)
	require.ErrorContains(t, err, "does not have the RedisBloom module")
	_, err = Open(bg, s.Client, "f", 100, 0.01, WithTTL(time.Hour))
	require.ErrorContains(t, err, "does not have the RedisBloom module")
}

func TestBadParameters(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"}) // nothing is sent
	defer client.Close()
	for text, open := range map[string]func() (*Filter, error){
		"no client":            func() (*Filter, error) { return Open(bg, nil, "f", 1, 0.1) },
		"empty name":           func() (*Filter, error) { return Open(bg, client, "", 1, 0.1) },
		"option 1 of 1 is nil": func() (*Filter, error) { return Open(bg, client, "f", 1, 0.1, nil) },
		"n = 0":                func() (*Filter, error) { return Open(bg, client, "f", 0, 0.1) },
		"p = 1":                func() (*Filter, error) { return Open(bg, client, "f", 1, 1) },
		"expansion -1":         func() (*Filter, error) { return Open(bg, client, "f", 1, 0.1, WithExpansion(-1)) },
		"expansion 0":          func() (*Filter, error) { return Open(bg, client, "f", 1, 0.1, WithExpansion(0)) },
		"not with WithoutScaling": func() (*Filter, error) {
			return Open(bg, client, "f", 1, 0.1, WithExpansion(2), WithoutScaling())
		},
		"TTL": func() (*Filter, error) { return Open(bg, client, "f", 1, 0.1, WithTTL(-time.Second)) },
	} {
		_, err := open()
		require.ErrorIs(t, err, bloom.ErrInvalid, text)
		require.ErrorContains(t, err, text)
	}
}

// TestInfoAndDelete: a filter of this name that was made for something else is left alone.
func TestInfoAndDelete(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		fake, addr := startFakeModule(t)
		client := protocolClient(t, addr, protocol)
		f, err := Open(bg, client, "f", 1000, 0.001)
		require.NoError(t, err)
		other, err := Open(bg, client, "f", 1000, 0.001)
		require.NoError(t, err)
		_, err = f.AddMany(bg, keysOf(0, 600), nil)
		require.NoError(t, err)
		info, err := f.Info(bg)
		require.NoError(t, err)
		require.EqualValues(t, 600, info.Keys)
		require.EqualValues(t, 1000, info.Capacity)
		require.Contains(t, info.String(), "keys=600")
		require.Contains(t, f.String(), "n=1000 p=0.001")
		stats, err := f.Stats(bg)
		require.NoError(t, err)
		require.Equal(t, bloom.Stats{N: 1000, P: 0.001, SizeBytes: info.SizeBytes, EstimatedCount: 600}, stats)
		counts := f.Counts()
		named := map[string]float64{}
		f.EachCount(func(name string, value float64) { named[name] = value })
		require.Equal(t, map[string]float64{
			"redis_round_trips": 4, "redis_keys": 600, "redis_front_hits": 0, "redis_bytes": float64(counts.Bytes), "redis_lost": 0, "redis_unknown": 0,
		}, named)
		require.EqualValues(t, 600, counts.Keys)
		require.EqualValues(t, 4, counts.RoundTrips)
		require.Greater(t, counts.Bytes, uint64(600*len(keyOf(100))))

		require.NoError(t, f.Delete(bg))
		require.Nil(t, fake.filters["f"])
		require.NoError(t, f.Delete(bg), "it is gone")
		_, err = other.Info(bg)
		require.ErrorIs(t, err, redisfilter.ErrLost)
		require.EqualValues(t, 1, other.Counts().Lost)
		_, err = Open(bg, client, "f", 2000, 0.001)
		require.NoError(t, err)
		require.NoError(t, f.Delete(bg))
		require.NotNil(t, fake.filters["f"], "made for something else")
		fake.filters["f"] = &fakeFilter{other: true}
		require.NoError(t, f.Delete(bg))
		require.NotNil(t, fake.filters["f"])
		_, err = f.Info(bg)
		require.ErrorIs(t, err, redisfilter.ErrMismatch)
	}
}
