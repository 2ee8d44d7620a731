package redisfilter

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestClaimFollowsTheRule compares claim.lua with claimSlot for random tables.
func TestClaimFollowsTheRule(t *testing.T) {
	ctx := context.Background()
	server := redistest.Start(t)
	f, err := Open(ctx, server.Client, "f", 1000, 0.01, WithCache(0))
	require.NoError(t, err)
	h := f.handle()
	epoch := h.shards[0].value.Load().epoch
	random := rand.New(rand.NewPCG(3, 4))
	tagOf := func(tag int8) []byte { return []byte{byte(tag), 0, 0, 0, 0, 0, 0, byte(tag)} }
	counts := map[string]int{}
	for range 2000 {
		slots := make([]modelSlot, h.plan.slots)
		claims, used := int8(random.IntN(256)), len(slots)-random.IntN(2)*random.IntN(len(slots))
		count := uint32(random.IntN(200)) - 100 // it may begin again at 0 between two stamps
		for i := range used {
			for half := range 2 {
				slots[i][half] = modelRecord{tag: int8(2 + random.IntN(100)), stamp: claims - int8(random.IntN(100)), last: [2]int8{int8(random.IntN(4)), int8(random.IntN(4))}}
			}
		}
		if own := random.IntN(len(slots)); own < used && random.IntN(2) == 0 {
			slots[own][0].tag = modelTag
		}
		for range random.IntN(3) {
			if had := random.IntN(len(slots)); had < used {
				slots[had][1].tag = modelTag
			}
		}
		confirmed := [2]int8{int8(random.IntN(3)), int8(random.IntN(3))}
		table := func() (b []byte) {
			for _, s := range slots {
				for _, r := range s {
					b = binary.LittleEndian.AppendUint32(append(b, tagOf(r.tag)...), count+1-uint32(uint8(claims+1-r.stamp)))
					b = wide(r.last).appendTo(b)
				}
			}
			return b
		}
		server.Client.SetRange(ctx, "f", int64(h.plan.table), string(table()))
		server.Client.SetRange(ctx, "f", 120, string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(float64(count)))))
		who := wide(confirmed).appendTo(append([]byte(epoch), tagOf(modelTag)...))
		r := &request{keys: []string{"f"}, script: claimScript, args: []any{who, h.plan.table, h.plan.end - 1}}
		h.exec(ctx, r)
		got, err := reply[int64](r)
		at, ok := claimSlot(slots, claims, modelTag, confirmed, "")
		if counts["refused"]++; ok {
			counts["refused"]--
			counts["given"]++
			require.NoError(t, err)
			require.EqualValues(t, at, got)
		} else {
			require.ErrorContains(t, err, "BLOOMOLDER")
		}
		require.Equal(t, string(table()), server.Client.GetRange(ctx, "f", int64(h.plan.table), int64(h.plan.end-1)).Val())
	}
	require.Greater(t, min(counts["refused"], counts["given"]), 200, counts)
}
