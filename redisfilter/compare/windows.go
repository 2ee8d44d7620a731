package main

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/rueidis"

	"github.com/seed3447c163/bloom/redisfilter/window"
)

// windowDesigns are filters that forget or remove, and the plain one beside them.
var windowDesigns = []design{
	{name: "redisfilter", commands: ourCommands, open: openOurs},
	{name: "window, 1 generation", commands: ourCommands, open: openWindow(1)},
	{name: "window, 4 generations", commands: ourCommands, open: openWindow(4)},
	{name: "rueidisprob, sliding", commands: scripts, open: func(e *env) (filter, error) { return openSliding(e, time.Hour) }},
	{name: "rueidisprob, counting", commands: scripts, open: func(e *env) (filter, error) { return openCounting(e) }},
}

var scripts = []string{"eval", "evalsha", "eval_ro", "evalsha_ro"}

type ourWindow struct{ f *window.Filter }

func openWindow(generations int) func(e *env) (filter, error) {
	return func(e *env) (filter, error) {
		f, err := window.Open(e.ctx, e.client, fmt.Sprint("window", generations), e.n, e.p, time.Hour, generations)
		return ourWindow{f}, err
	}
}

func (o ourWindow) add(ctx context.Context, keys [][]byte) error {
	_, err := o.f.AddMany(ctx, keys, nil)
	return err
}

func (o ourWindow) ask(ctx context.Context, keys [][]byte) error {
	_, err := o.f.ContainsMany(ctx, keys, nil)
	return err
}

// A rueidisFilter sends what one of rueidisprob's filters sends, over its own client. Adds answer
// nothing.
type rueidisFilter struct {
	rueidisProb
	names []string // of its keys in Redis
	first []string // arguments before the positions
}

func newRueidisFilter(e *env, names []string, set, get string, first ...string) (rueidisFilter, error) {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{e.addr}, DisableCache: true})
	if err != nil {
		return rueidisFilter{}, err
	}
	return rueidisFilter{rueidisProb{env: e, client: client, set: rueidis.NewLuaScript(set), get: rueidis.NewLuaScript(get)}, names, first}, nil
}

func (r rueidisFilter) add(ctx context.Context, keys [][]byte) error {
	return r.set.Exec(ctx, r.client, r.names, append(r.first, r.args(keys)...)).Error()
}

func (r rueidisFilter) ask(ctx context.Context, keys [][]byte) error {
	_, err := r.answers(ctx, keys)
	return err
}

func (r rueidisFilter) answers(ctx context.Context, keys [][]byte) ([]int64, error) {
	return r.get.Exec(ctx, r.client, r.names, append(r.first, r.args(keys)...)).AsIntSlice()
}

// openSliding makes rueidisprob's sliding filter: two filters, of which an add sets both and a
// lookup asks the older one. Whoever comes first after half a window, by a key that expires then,
// puts the newer one in the place of the older one.
func openSliding(e *env, window time.Duration) (rueidisFilter, error) {
	const turn = `
		local t = redis.call('TIME')
		if redis.call('SET', KEYS[5], t[1] * 1000 + math.floor(t[2] / 1000), 'PX', ARGV[1], 'NX') then
			redis.call('RENAME', KEYS[2], KEYS[1])
			redis.call('RENAME', KEYS[4], KEYS[3])
			redis.call('SET', KEYS[2], '')
			redis.call('SET', KEYS[4], 0)
		end
		local k, ones = tonumber(ARGV[2]), 0
`
	r, err := newRueidisFilter(e, []string{"{sliding}", "{sliding}:n", "{sliding}:c", "{sliding}:nc", "{sliding}:lr"}, turn+`
		local new = 0
		for i = 3, #ARGV do
			ones = ones + redis.call('BITFIELD', KEYS[1], 'SET', 'u1', ARGV[i], 1)[1]
			redis.call('BITFIELD', KEYS[2], 'SET', 'u1', ARGV[i], 1)
			if (i - 2) % k == 0 then
				if ones < k then new = new + 1 end
				ones = 0
			end
		end
		redis.call('INCRBY', KEYS[4], new)
		return redis.call('INCRBY', KEYS[3], new)`, turn+`
		local answers = {}
		for i = 3, #ARGV do
			ones = ones + redis.call('BITFIELD', KEYS[1], 'GET', 'u1', ARGV[i])[1]
			if (i - 2) % k == 0 then
				answers[(i - 2) / k] = ones == k and 1 or 0
				ones = 0
			end
		end
		return answers`, fmt.Sprint(window.Milliseconds()/2))
	if err != nil {
		return r, err
	}
	for i, empty := range []any{"", "", 0, 0} {
		if err := e.client.Set(e.ctx, r.names[i], empty, 0).Err(); err != nil {
			return r, err
		}
	}
	return r, e.client.Set(e.ctx, r.names[4], 0, window/2).Err()
}

// A counting is rueidisprob's filter that removes: a hash with a count for each position.
type counting struct {
	rueidisFilter
	rem *rueidis.Lua
}

func openCounting(e *env) (counting, error) {
	r, err := newRueidisFilter(e, []string{"{counting}:cbf", "{counting}:cbf:c"}, `
		for i = 2, #ARGV do redis.call('HINCRBY', KEYS[1], ARGV[i], 1) end
		return redis.call('INCRBY', KEYS[2], (#ARGV - 1) / ARGV[1])`, countingAnswers+`return answers`)
	return counting{r, rueidis.NewLuaScript(countingAnswers + `
		local gone = 0
		for j, yes in ipairs(answers) do
			if yes == 1 then
				gone = gone + 1
				for i = (j - 1) * k + 2, j * k + 1 do redis.call('HINCRBY', KEYS[1], ARGV[i], -1) end
			end
		end
		return redis.call('INCRBY', KEYS[2], 0 - gone)`)}, err
}

const countingAnswers = `
		local k, all, answers = tonumber(ARGV[1]), 1, {}
		local counts = redis.call('HMGET', KEYS[1], unpack(ARGV, 2))
		for i = 1, #counts do
			if not counts[i] or tonumber(counts[i]) == 0 then all = 0 end
			if i % k == 0 then
				answers[i / k] = all
				all = 1
			end
		end
`

// remove removes keys, those which seem to be in.
func (c counting) remove(ctx context.Context, keys [][]byte) error {
	return c.rem.Exec(ctx, c.client, c.names, c.args(keys)).Error()
}
