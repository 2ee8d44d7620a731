package redisbloom

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

func TestModule(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprint("RESP", protocol), func(t *testing.T) {
			fake, addr := startFakeModule(t)
			client := protocolClient(t, addr, protocol)
			m, err := OpenModule(bg, client, "f", 5000, 0.001, WithExpansion(4))
			require.NoError(t, err)
			require.Equal(t, []string{"BF.RESERVE", "f", "0.001", "5000", "EXPANSION", "4"}, fake.last)
			other, err := OpenModule(bg, client, "f", 5000, 0.001)
			require.NoError(t, err, "the second joins")
			_, err = OpenModule(bg, client, "f", 6000, 0.001)
			require.ErrorIs(t, err, ErrMismatch)

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
			require.ErrorIs(t, err, ErrLost, "and not made by the module with parameters of its own")
			require.Empty(t, fake.filters)
		})
	}
}

func TestModuleFull(t *testing.T) {
	_, addr := startFakeModule(t)
	m, err := OpenModule(bg, protocolClient(t, addr, 2), "f", 700, 0.01, WithoutScaling())
	require.NoError(t, err)
	added, err := addEach(bg, m, keysOf(0, 1200))
	require.ErrorContains(t, err, "holds n keys and does not scale")
	failed, ok := errors.AsType[*AddError](err)
	require.True(t, ok)
	require.Equal(t, 700, count(added))
	require.Equal(t, indices(700, 1000), failed.Unknown)
	require.Equal(t, indices(1000, 1200), failed.NotAdded)
}

// TestModuleExpires: the expiry is set with the filter, and by nobody who joins.
func TestModuleExpires(t *testing.T) {
	fake, addr := startFakeModule(t)
	client := protocolClient(t, addr, 2)
	_, err := OpenModule(bg, client, "f", 700, 0.01, WithReserveTTL(time.Minute))
	require.NoError(t, err)
	require.Equal(t, "60000", fake.expiry)
	fake.expiry = ""
	_, err = OpenModule(bg, client, "f", 700, 0.01, WithReserveTTL(time.Hour))
	require.NoError(t, err)
	require.Empty(t, fake.expiry)
	_, err = OpenModule(bg, client, "f", 800, 0.01, WithReserveTTL(time.Hour))
	require.ErrorIs(t, err, ErrMismatch)
	require.Empty(t, fake.expiry)

	// Somebody else makes it at the same time.
	client.AddHook(hook{before: onlyOnce(func() {
		_, err := OpenModule(bg, protocolClient(t, addr, 2), "g", 700, 0.01)
		require.NoError(t, err)
	})})
	_, err = OpenModule(bg, client, "g", 700, 0.01, WithReserveTTL(time.Hour))
	require.NoError(t, err)
	require.Empty(t, fake.expiry)
}

// TestModuleExpiresWithoutReply: however few replies come through, there is no filter
// without its expiry.
func TestModuleExpiresWithoutReply(t *testing.T) {
	for cut := range int64(8) {
		fake, addr := startFakeModule(t)
		p := startProxy(t, addr)
		client := redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true, MaxRetries: -1})
		p.CutEvery.Store(cut + 1)
		OpenModule(bg, client, "f", 700, 0.01, WithReserveTTL(time.Minute))
		client.Close()
		client = protocolClient(t, addr, 2)
		_, err := OpenModule(bg, client, "f", 700, 0.01, WithReserveTTL(time.Minute))
		require.NoError(t, err)
		require.Equal(t, "60000", fake.expiry, "reply %d was cut", cut+1)
	}
}

// TestModuleStrangeReplies: what is no answer is not taken for one. An add may have been
// executed then.
func TestModuleStrangeReplies(t *testing.T) {
	fake, addr := startFakeModule(t)
	m, err := OpenModule(bg, protocolClient(t, addr, 2), "f", 700, 0.01)
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
		failed, ok := errors.AsType[*AddError](err)
		require.True(t, ok)
		require.Equal(t, c.unknown, failed.Unknown)
		require.Equal(t, c.unknown != nil, errors.Is(err, ErrUnknown))
		_, err = askEach(bg, m, keysOf(0, 3))
		require.ErrorContains(t, err, c.text)
	}
	_, err = m.Contains(bg, keyOf(0))
	require.ErrorContains(t, err, "busy")

	// No reply at all.
	m.sender.Client.(*redis.Client).Close()
	_, err = addEach(bg, m, keysOf(0, 3))
	require.ErrorIs(t, err, redis.ErrClosed)
	require.NotErrorIs(t, err, ErrUnknown, "nothing was sent")
	p := startProxy(t, addr)
	m.sender.Client = redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true})
	fake.replies = nil
	_, err = m.Contains(bg, keyOf(0)) // so that there is a connection
	require.NoError(t, err)
	p.CutEvery.Store(1)
	_, err = addEach(bg, m, keysOf(0, 3))
	require.ErrorIs(t, err, ErrUnknown)
}

// TestModuleMissing asks a server that has no modules.
func TestModuleMissing(t *testing.T) {
	s := startServer(t)
	_, err := OpenModule(bg, s.Client, "f", 100, 0.01)
	require.ErrorContains(t, err, "does not have the RedisBloom module")
	_, err = OpenModule(bg, s.Client, "f", 100, 0.01, WithReserveTTL(time.Hour))
	require.ErrorContains(t, err, "does not have the RedisBloom module")
}

func TestBadModuleParameters(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"}) // nothing is sent
	defer client.Close()
	for text, open := range map[string]func() (*Module, error){
		"no client":    func() (*Module, error) { return OpenModule(bg, nil, "f", 1, 0.1) },
		"empty name":   func() (*Module, error) { return OpenModule(bg, client, "", 1, 0.1) },
		"n = 0":        func() (*Module, error) { return OpenModule(bg, client, "f", 0, 0.1) },
		"p = 1":        func() (*Module, error) { return OpenModule(bg, client, "f", 1, 1) },
		"expansion -1": func() (*Module, error) { return OpenModule(bg, client, "f", 1, 0.1, WithExpansion(-1)) },
		"expansion 0":  func() (*Module, error) { return OpenModule(bg, client, "f", 1, 0.1, WithExpansion(0)) },
		"not with WithoutScaling": func() (*Module, error) {
			return OpenModule(bg, client, "f", 1, 0.1, WithExpansion(2), WithoutScaling())
		},
		"TTL": func() (*Module, error) { return OpenModule(bg, client, "f", 1, 0.1, WithReserveTTL(-time.Second)) },
	} {
		_, err := open()
		require.ErrorIs(t, err, bloom.ErrInvalid, text)
		require.ErrorContains(t, err, text)
	}
}
