package redisfilter_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// A fleet is many handles of one filter.
type fleet []*filter

// add lets each handle add keys of its own.
func (f fleet) add(t *testing.T, round int) {
	for i, h := range f {
		_, err := h.AddMany(bg, [][]byte{fmt.Appendf(nil, "%d/%d/a", round, i), fmt.Appendf(nil, "%d/%d/b", round, i)}, nil)
		require.NoError(t, err)
	}
}

// untold lets each handle make one call, the last one first, and returns how many get no ErrLost. After ErrLost from
// AddAll, the filter goes on, so the others claim and add meanwhile, and more often than a handle did before.
func (f fleet) untold(t *testing.T, round int) (untold int) {
	for i, h := range slices.Backward(f) {
		key := fmt.Appendf(nil, "%d/%d/c", round, i)
		var err error
		switch i % 4 {
		case 0, 1:
			_, err = h.AddAll(bg, [][]byte{key}, nil)
		case 2:
			_, err = h.Add(bg, key)
		default:
			_, err = h.Contains(bg, key)
		}
		if !errors.Is(err, redisfilter.ErrLost) {
			require.NoError(t, err)
			untold++
		}
	}
	return untold
}

// TestFleet: after a rollback to before the claims, or to between two adds, each of 100 handles is told that keys were
// lost, whatever the handles before have claimed.
func TestFleet(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		for _, claimed := range []bool{false, true} {
			s.Client.FlushAll(bg)
			var all fleet
			for range 100 {
				all = append(all, k.open(t, s.Client, noCache))
			}
			old := save(t, s)
			if claimed {
				all.add(t, 0)
				old = save(t, s)
			}
			all.add(t, 1)
			restore(t, s, old)
			require.Zero(t, all.untold(t, 2), "claimed before: %v", claimed)
			require.Equal(t, 50, all.untold(t, 3), "only AddAll reopens the filter")
		}
	})
}

// TestFailoverOfFleet: after a failover to a replica that lags, each handle that has lost keys is told.
func TestFailoverOfFleet(t *testing.T) {
	s := startWatched(t, 1)
	var losers fleet
	for i, k := range kinds[:3] {
		for range 40 {
			f, err := redisfilter.Open(bg, s.client, names[i], k.n, k.p, append(k.opts[:len(k.opts):len(k.opts)], noCache)...)
			require.NoError(t, err)
			losers = append(losers, f)
		}
	}
	losers[:60].add(t, 0)
	s.lag(t)
	losers.add(t, 1)
	s.failover(t)
	require.Zero(t, losers.untold(t, 2))
}

// TestClaimsWithoutReply: a handle whose claims get no reply holds one slot, however often it tries.
func TestClaimsWithoutReply(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		defer redisfilter.RepeatFor(0)()
		k.open(t, s.Client)
		for range 10 {
			f := k.open(t, client(t, s.Addr, func(cmds []redis.Cmder, send func() error) error {
				err := send()
				if err == nil && isClaim(cmds[0]) {
					err = io.EOF
					cmds[0].SetErr(err)
				}
				return err
			}), noCache)
			for i := range 30 {
				_, err := f.Add(bg, keyOf(i))
				require.Error(t, err)
			}
		}
		value := save(t, s)
		slots, claims := int(value[14])|int(value[15])<<8, 0
		end := len(value) - 8
		for at := end - 64*slots; at < end; at += 64 {
			if value[at:at+8] != "\x00\x00\x00\x00\x00\x00\x00\x00" {
				claims++
			}
		}
		require.Equal(t, 10, claims)
	})
}
