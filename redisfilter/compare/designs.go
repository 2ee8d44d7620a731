package main

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	gozero "github.com/zeromicro/go-zero/core/bloom"
	gozeroredis "github.com/zeromicro/go-zero/core/stores/redis"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
)

// A design is one way to keep a Bloom filter in Redis.
type design struct {
	name     string
	commands []string // what INFO commandstats calls the commands that clients send
	single   bool     // it has no batches
	ownK     int      // k that it insists on, 0 for any
	open     func(e *env) (filter, error)
}

// A filter adds and asks for a batch of keys.
type filter interface {
	add(ctx context.Context, keys [][]byte) error
	ask(ctx context.Context, keys [][]byte) error
}

// env is what all designs share in one run.
type env struct {
	ctx    context.Context
	client *redis.Client
	addr   string
	n      uint64
	p      float64
	scheme bloom.Scheme
}

var designs = []design{
	{name: "redisfilter", commands: ourCommands, open: openOurs},
	{name: "redisfilter without scripts", commands: ourCommands, open: openWithoutScripts},
	{name: "redisfilter, DoubleHashing", commands: ourCommands, open: openDouble},
	{name: "SETBIT, pipelined", commands: []string{"setbit", "getbit"}, open: openPipelined},
	{name: "Lua script", commands: []string{"eval", "evalsha"}, open: openLua},
	{name: "rueidisprob", commands: []string{"eval", "evalsha", "eval_ro", "evalsha_ro"}, open: openRueidis},
	{name: "go-zero", commands: []string{"eval", "evalsha"}, single: true, ownK: 14, open: openGoZero},
}

var ourCommands = []string{"bitfield", "bitfield_ro", "eval", "evalsha"}

type ours struct{ f *redisfilter.Filter }

// openOurs opens a filter without its front, which would answer for the server.
func openOurs(e *env) (filter, error) {
	f, err := redisfilter.Open(e.ctx, e.client, "ours", e.n, e.p, redisfilter.WithFront(0))
	return ours{f}, err
}

// openWithoutScripts is a user who must not call them.
func openWithoutScripts(e *env) (filter, error) {
	if err := e.client.Do(e.ctx, "ACL", "SETUSER", "plain", "on", ">x", "~*", "+@all", "-@scripting").Err(); err != nil {
		return nil, err
	}
	client := redis.NewClient(&redis.Options{Addr: e.addr, PoolSize: e.client.Options().PoolSize, Username: "plain", Password: "x"})
	f, err := redisfilter.Open(e.ctx, client, "plain", e.n, e.p, redisfilter.WithFront(0))
	return ours{f}, err
}

// openDouble has the least memory.
func openDouble(e *env) (filter, error) {
	f, err := redisfilter.Open(e.ctx, e.client, "double", e.n, e.p, redisfilter.WithFront(0),
		redisfilter.WithBloom(bloom.WithStrategy(bloom.DoubleHashing)))
	return ours{f}, err
}

func (o ours) add(ctx context.Context, keys [][]byte) error {
	if len(keys) == 1 {
		_, err := o.f.Add(ctx, keys[0])
		return err
	}
	_, err := o.f.AddMany(ctx, keys, nil)
	return err
}

func (o ours) ask(ctx context.Context, keys [][]byte) error {
	if len(keys) == 1 {
		_, err := o.f.Contains(ctx, keys[0])
		return err
	}
	_, err := o.f.ContainsMany(ctx, keys, nil)
	return err
}

// pipelined is the common way: a SETBIT or GETBIT for each bit, in one pipeline.
type pipelined struct {
	*env
	key string
}

func openPipelined(e *env) (filter, error) { return pipelined{e, "pipelined"}, nil }

func (p pipelined) add(ctx context.Context, keys [][]byte) error {
	pipe := p.client.Pipeline()
	replies := make([]*redis.IntCmd, 0, len(keys)*p.scheme.Params().K)
	var pos []uint64
	for _, key := range keys {
		pos = p.scheme.AppendPositions(pos[:0], key)
		for _, i := range pos {
			replies = append(replies, pipe.SetBit(ctx, p.key, int64(i), 1))
		}
	}
	_, err := pipe.Exec(ctx)
	judge(replies, p.scheme.Params().K)
	return err
}

func (p pipelined) ask(ctx context.Context, keys [][]byte) error {
	pipe := p.client.Pipeline()
	replies := make([]*redis.IntCmd, 0, len(keys)*p.scheme.Params().K)
	var pos []uint64
	for _, key := range keys {
		pos = p.scheme.AppendPositions(pos[:0], key)
		for _, i := range pos {
			replies = append(replies, pipe.GetBit(ctx, p.key, int64(i)))
		}
	}
	_, err := pipe.Exec(ctx)
	judge(replies, p.scheme.Params().K)
	return err
}

// judge makes an answer for each key from the replies to its bits.
func judge(replies []*redis.IntCmd, k int) []bool {
	answers := make([]bool, len(replies)/k)
	for i, r := range replies {
		if r.Val() == 0 {
			answers[i/k] = true
		}
	}
	return answers
}

// lua calls SETBIT or GETBIT for each bit of a batch in one script, and answers for
// each key.
type lua struct {
	*env
	set, get *redis.Script
	keys     []string
}

func openLua(e *env) (filter, error) {
	script := func(call, offset string) *redis.Script {
		return redis.NewScript(`
			local k = tonumber(ARGV[1])
			local answers = {}
			for i = 0, (#ARGV - 1) / k - 1 do
				local new = 0
				for j = 2, k + 1 do
					if redis.call('` + call + `', KEYS[1], ARGV[i * k + j]` + offset + `) == 0 then new = 1 end
				end
				answers[i + 1] = new
			end
			return answers`)
	}
	return lua{env: e, set: script("SETBIT", ", 1"), get: script("GETBIT", ""), keys: []string{"lua"}}, nil
}

func (l lua) run(ctx context.Context, s *redis.Script, keys [][]byte) error {
	args := make([]any, 1, 1+len(keys)*l.scheme.Params().K)
	args[0] = l.scheme.Params().K
	var pos []uint64
	for _, key := range keys {
		pos = l.scheme.AppendPositions(pos[:0], key)
		for _, i := range pos {
			args = append(args, i)
		}
	}
	_, err := s.Run(ctx, l.client, l.keys, args...).Int64Slice()
	return err
}

func (l lua) add(ctx context.Context, keys [][]byte) error { return l.run(ctx, l.set, keys) }
func (l lua) ask(ctx context.Context, keys [][]byte) error { return l.run(ctx, l.get, keys) }

// rueidisProb sends what rueidisprob sends, over its own client: a script that calls
// BITFIELD for each bit and counts, in a second key, the keys that changed one.
type rueidisProb struct {
	*env
	client   rueidis.Client
	set, get *rueidis.Lua
}

func openRueidis(e *env) (filter, error) {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{e.addr}, DisableCache: true})
	if err != nil {
		return nil, err
	}
	return rueidisProb{env: e, client: client, set: rueidis.NewLuaScript(`
			local k, new, ones = tonumber(ARGV[1]), 0, 0
			for i = 2, #ARGV do
				ones = ones + redis.call('BITFIELD', KEYS[1], 'SET', 'u1', ARGV[i], 1)[1]
				if (i - 1) % k == 0 then
					if ones < k then new = new + 1 end
					ones = 0
				end
			end
			return redis.call('INCRBY', KEYS[2], new)`),
		get: rueidis.NewLuaScriptReadOnly(`
			local k, answers, ones = tonumber(ARGV[1]), {}, 0
			for i = 2, #ARGV do
				ones = ones + redis.call('BITFIELD_RO', KEYS[1], 'GET', 'u1', ARGV[i])[1]
				if (i - 1) % k == 0 then
					answers[(i - 1) / k] = ones == k and 1 or 0
					ones = 0
				end
			end
			return answers`)}, nil
}

func (r rueidisProb) args(keys [][]byte) []string {
	k := r.scheme.Params().K
	args := make([]string, 1, 1+k*len(keys))
	args[0] = strconv.Itoa(k)
	var pos []uint64
	for _, key := range keys {
		pos = r.scheme.AppendPositions(pos[:0], key)
		for _, i := range pos {
			args = append(args, strconv.FormatUint(i, 10))
		}
	}
	return args
}

func (r rueidisProb) add(ctx context.Context, keys [][]byte) error {
	return r.set.Exec(ctx, r.client, []string{"{rueidis}", "{rueidis}:c"}, r.args(keys)).Error()
}

func (r rueidisProb) ask(ctx context.Context, keys [][]byte) error {
	_, err := r.get.Exec(ctx, r.client, []string{"{rueidis}"}, r.args(keys)).AsIntSlice()
	return err
}

// goZero is go-zero's own filter: k = 14 whatever p is, no batches, and an add
// that does not say whether the key was new.
type goZero struct{ f *gozero.Filter }

func openGoZero(e *env) (filter, error) {
	store, err := gozeroredis.NewRedis(gozeroredis.RedisConf{Host: e.addr, Type: gozeroredis.NodeType})
	if err != nil {
		return nil, err
	}
	return goZero{gozero.New(store, "gozero", uint(e.scheme.Params().M*2))}, nil
}

func (g goZero) add(ctx context.Context, keys [][]byte) error {
	for _, key := range keys {
		if err := g.f.AddCtx(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (g goZero) ask(ctx context.Context, keys [][]byte) error {
	for _, key := range keys {
		if _, err := g.f.ExistsCtx(ctx, key); err != nil {
			return err
		}
	}
	return nil
}
