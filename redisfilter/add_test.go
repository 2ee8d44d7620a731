package redisfilter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestServerFollowsTheRule compares the script with verdict for random numbers.
func TestServerFollowsTheRule(t *testing.T) {
	ctx := context.Background()
	server := redistest.Start(t)
	f, err := Open(ctx, server.Client, "f", 1000, 0.01, WithCache(0))
	require.NoError(t, err)
	_, err = f.Add(ctx, []byte("key"))
	require.NoError(t, err)
	s := f.handle().shards[0]
	v := s.value.Load()
	at := v.slot.record.Load()
	random := rand.New(rand.NewPCG(1, 2))
	number := func() uint64 { return []uint64{0, 1, 2, 255, 256, 1 << 32, 1<<40 - 1}[random.IntN(7)] }
	counts := map[int8]int{}
	for range 3000 {
		var have, confirmed numbers
		for lane := range have {
			have[lane] = number()
			confirmed[lane] = min(number(), have[lane]+uint64(random.IntN(20)/19))
		}
		tick := ticket{random.IntN(lanesPerSlot), max(1, number()), confirmed}
		var stored []byte
		for _, n := range have {
			stored = appendNumber(stored, n)
		}
		require.NoError(t, server.Client.SetRange(ctx, "f", int64(at+lanesField), string(stored)).Err())
		r := &request{keys: []string{"f"}, script: addScript, args: append(tick.args(v.epoch, v.slot.tag, at), []byte{}, 0, 2, "p", 1, false, 0, false)}
		f.handle().exec(ctx, r)
		want := verdict(have, tick)
		counts[want]++
		switch err := fmt.Sprint(r.call.Err()); want {
		case executed:
			require.NoError(t, r.call.Err())
			have[tick.lane] = tick.number
		case late:
			require.True(t, strings.HasPrefix(err, "BLOOMLATE"), err)
		case older:
			require.True(t, strings.HasPrefix(err, "BLOOMOLDER"), err)
		}
		value := server.Client.Get(ctx, "f").Val()
		require.Equal(t, have, numbersOf([]byte(value[at+lanesField:][:numberBytes*lanesPerSlot])))
	}
	require.Len(t, counts, 3)
	require.Greater(t, slices.Min([]int{counts[executed], counts[late], counts[older]}), 100)
}
