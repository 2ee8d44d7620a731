package growing

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Contains returns false if the key was definitely never added, true if it probably was. The error
// wraps [redisfilter.ErrLost] if the filter is gone, or has gone back to an older value than one
// that this handle has added to, or has seen more layers of; false is no answer then. One round
// trip; the first one after the filter has grown, two.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	count, err := f.ContainsMany(ctx, [][]byte{key}, nil)
	return count == 1, err
}

// ContainsString is [Filter.Contains] for a string, without copying it.
func (f *Filter) ContainsString(ctx context.Context, key string) (found bool, err error) {
	count, err := f.ContainsStrings(ctx, []string{key}, nil)
	return count == 1, err
}

// ContainsMany asks for keys as [Filter.Contains] does one after the other, in one round trip
// for each 500. It returns how many of them were probably added; if found is not nil, found[i]
// becomes what Contains of keys[i] would return. It panics if found is neither nil nor as long as
// keys.
//
// After an error, true is an answer, and false is none.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	return containsMany(ctx, f, keys, found)
}

// ContainsStrings is [Filter.ContainsMany] for strings, without copying them.
func (f *Filter) ContainsStrings(ctx context.Context, keys []string, found []bool) (count int, err error) {
	return containsMany(ctx, f, keys, found)
}

func containsMany[K []byte | string](ctx context.Context, f *Filter, keys []K, found []bool) (count int, err error) {
	send.CheckAnswers(len(keys), found)
	hashes := hashesOf(f, keys)
	for first := 0; first < len(keys); first += send.BatchKeys {
		last := min(first+send.BatchKeys, len(keys))
		answers, err := f.ask(ctx, hashes[first:last])
		if err != nil {
			return count, err
		}
		for i, yes := range answers {
			if yes {
				count++
			}
			if found != nil {
				found[first+i] = yes
			}
		}
	}
	return count, nil
}

// ask asks all layers by one command, which needs no script: a layer that is not the newest never
// changes, and the number of layers comes with the answers. If there are more than were asked,
// all are asked again.
func (f *Filter) ask(ctx context.Context, hashes []hash) ([]bool, error) {
	l := f.life.Load()
	for {
		if err := f.key.Ready(ctx, l.Life); err != nil {
			return nil, err
		}
		count := l.layers.Load()
		layers, err := f.layers(int(count), onekey.MaxValue)
		if err != nil {
			return nil, err
		}
		answers, now, err := f.askLayers(ctx, l, layers[:count], hashes)
		if err != nil || now == count {
			return answers, err
		}
		l.see(now)
	}
}

// Arguments as interfaces, so that a command's many arguments need no allocation each.
var argGet, arg64 any = "GET", "i64"

// askLayers asks some layers, and returns how many there are now.
func (f *Filter) askLayers(ctx context.Context, l *life, layers []layer, hashes []hash) (answers []bool, now uint64, err error) {
	words := make([]uint64, 0, len(hashes)*len(layers)*f.words)
	offsets := make([]uint64, 0, 4+cap(words))
	args := make([]any, 2, 2+3*cap(offsets))
	args[0], args[1] = "BITFIELD_RO", f.key.Name
	get := func(at uint64) {
		offsets = append(offsets, at*8)
		args = append(args, argGet, arg64, &offsets[len(offsets)-1])
	}
	s, least := l.Slot(), 0.0
	get(layersAt)
	get(layers[len(layers)-1].end)
	if s != nil {
		least = s.Least()
		get(s.At)
		get(s.At + 8)
	}
	head := len(offsets)
	ends := make([]int, 0, len(hashes)*len(layers)) // of the words of each key in each layer
	var positions []uint64
	for _, h := range hashes {
		for _, layer := range layers {
			var p place
			p, positions = h.placeIn(layer, positions)
			for i, mask := range p.Masks {
				if mask != 0 {
					words = append(words, mask)
					get(p.at + uint64(i)*8)
				}
			}
			ends = append(ends, len(words))
		}
	}
	f.key.Counts.Keys.Add(uint64(len(hashes)))
	values, err := f.bitfield(ctx, args)
	if err != nil {
		return nil, 0, err
	}
	if len(values) != len(offsets) {
		return nil, 0, f.key.Errorf("%d replies, want %d", len(values), len(offsets))
	}
	switch now = wholeOf(double(values[0])); {
	case values[1] != nonceOf(l.Epoch):
		return nil, 0, f.key.Lost(l.Life, onekey.Gone)
	case s != nil && values[2] != nonceOf(l.Owner):
		return nil, 0, f.key.Lost(l.Life, onekey.Taken)
	case s != nil && !(double(values[3]) >= least), now < uint64(len(layers)):
		return nil, 0, f.key.Lost(l.Life, onekey.Older)
	case !f.canHave(now):
		return nil, 0, f.key.Lost(l.Life, wrongLayers)
	}
	values = values[head:]
	answers = make([]bool, len(hashes))
	begin := 0
	for i, end := range ends {
		all := true
		for j := begin; j < end; j++ {
			all = all && bits.ReverseBytes64(uint64(values[j]))&words[j] == words[j]
		}
		answers[i/len(layers)] = answers[i/len(layers)] || all
		begin = end
	}
	return answers, now, nil
}

// bitfield sends one command that asks.
func (f *Filter) bitfield(ctx context.Context, args []any) ([]int64, error) {
	f.key.Counts.RoundTrips.Add(1)
	f.key.Counts.Bytes.Add(uint64(25 * len(args) / 3))
	cmd := redis.NewIntSliceCmd(ctx, args...)
	if err := f.key.Sender.Ask(ctx, []*send.Command{{Key: f.key.Name, Cmd: cmd}}); err != nil {
		return nil, send.Explain(f.key.Name, err)
	}
	values, err := cmd.Result()
	return values, f.key.Explain(nil, err)
}

// double returns the number that a script has written and a BITFIELD has read.
func double(value int64) float64 { return math.Float64frombits(bits.ReverseBytes64(uint64(value))) }

// nonceOf returns 8 bytes as a BITFIELD reads them.
func nonceOf(b string) int64 { return int64(binary.BigEndian.Uint64([]byte(b))) }
