package redisbloom

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisbloom/internal/send"
)

// A Module is a filter of the RedisBloom module (BF.RESERVE, BF.INSERT,
// BF.MEXISTS), for servers that have it: Redis Stack, Redis 8. The module keeps the
// filter in a format of its own; it cannot be pushed or pulled, and the module
// chooses where a key's bits are, by a hash that is not keyed: strangers who choose
// the keys can make them collide.
//
// All methods are safe for concurrent use by multiple goroutines.
type Module struct {
	sender send.Sender
	name   string
}

// moduleCommands are all that a Module sends.
const moduleCommands = "BF.INFO, BF.INSERT, BF.MEXISTS and BF.RESERVE, and with an expiry EXEC, EXISTS, MULTI, PEXPIRE, UNWATCH and WATCH"

// A ReserveOption changes how the module makes a filter.
type ReserveOption func(*reserve)

type reserve struct {
	expansion  int
	expand     bool // expansion was named
	nonScaling bool
	ttl        time.Duration
}

// WithExpansion makes each further layer, once n keys are in, this many times as
// large as the one before. At least 1; the module's default is 2.
func WithExpansion(times int) ReserveOption {
	return func(r *reserve) { r.expansion, r.expand = times, true }
}

// WithoutScaling has the module refuse keys beyond n instead of adding layers: less
// memory and time for those who know n.
func WithoutScaling() ReserveOption {
	return func(r *reserve) { r.nonScaling = true }
}

// WithReserveTTL lets the filter expire d after it was made.
func WithReserveTTL(d time.Duration) ReserveOption {
	return func(r *reserve) { r.ttl = d }
}

// OpenModule makes the filter of this name by BF.RESERVE, or joins it if it is there.
// The module tells n of a filter, but not p: [ErrMismatch] is certain only for
// filters that have not grown yet.
//
// The error wraps bloom.ErrInvalid for parameters out of range. A server without
// the module answers that it does not know the command.
func OpenModule(ctx context.Context, client redis.UniversalClient, name string, n uint64, p float64, opts ...ReserveOption) (*Module, error) {
	var r reserve
	for _, opt := range opts {
		opt(&r)
	}
	switch {
	case name == "":
		return nil, fmt.Errorf("%w: empty name, want a Redis key", bloom.ErrInvalid)
	case n == 0:
		return nil, fmt.Errorf("%w: n = 0 keys, want at least 1", bloom.ErrInvalid)
	case !(p > 0 && p < 1):
		return nil, fmt.Errorf("%w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p)
	case r.expand && (r.expansion < 1 || r.nonScaling):
		return nil, fmt.Errorf("%w: expansion %d, want at least 1, and not with WithoutScaling", bloom.ErrInvalid, r.expansion)
	case r.ttl < 0 || r.ttl > 0 && r.ttl < time.Millisecond:
		return nil, fmt.Errorf("%w: TTL %v, want at least 1ms, or 0 for none", bloom.ErrInvalid, r.ttl)
	}
	sender, err := send.New(client, 0, 0)
	if err != nil {
		return nil, err
	}
	m := &Module{sender: sender, name: name}
	args := []any{"BF.RESERVE", name, p, n}
	if r.expand {
		args = append(args, "EXPANSION", r.expansion)
	}
	if r.nonScaling {
		args = append(args, "NONSCALING")
	}
	if r.ttl > 0 {
		err = m.reserveExpiring(ctx, args, r.ttl)
	} else {
		_, err = m.sender.DoOnce(ctx, args...)
	}
	if errors.Is(err, errExists) || send.IsReply(err) && strings.Contains(err.Error(), "exists") {
		err = m.check(ctx, n)
	}
	if err != nil {
		return nil, m.explain(err)
	}
	return m, nil
}

// errExists stands for the module's own refusal to make what is there.
var errExists = errors.New("redisbloom: the key exists")

// reserveExpiring makes a filter together with its expiry: there must never be one
// that has none. In a transaction, the expiry would also be given to a filter that
// is there already. So it is executed only if there is none up to then.
func (m *Module) reserveExpiring(ctx context.Context, args []any, ttl time.Duration) error {
	for range joinTries {
		err := m.sender.Watch(ctx, func(tx *redis.Tx) error {
			there, err := tx.Exists(ctx, m.name).Result()
			if err != nil {
				return err
			}
			if there > 0 {
				return errExists
			}
			cmds, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.Process(ctx, send.Once{Cmd: redis.NewCmd(ctx, args...)})
				pipe.Do(ctx, "PEXPIRE", m.name, ttl.Milliseconds())
				return nil
			})
			return send.Cause(cmds, err)
		}, m.name)
		if !errors.Is(err, redis.TxFailedErr) {
			return err
		}
	}
	return fmt.Errorf("redisbloom: key %q: made and deleted by others in each of %d tries: %w", m.name, joinTries, redis.TxFailedErr)
}

// check compares n with the capacity of a filter that is there.
func (m *Module) check(ctx context.Context, n uint64) error {
	v, err := m.sender.Do(ctx, "BF.INFO", m.name)
	if err != nil {
		return err
	}
	info := make(map[string]int64)
	switch v := v.(type) {
	case []any: // RESP2: names and values in turn
		for i := 0; i+1 < len(v); i += 2 {
			if value, ok := v[i+1].(int64); ok {
				info[fmt.Sprint(v[i])] = value
			}
		}
	case map[any]any: // RESP3
		for name, value := range v {
			if value, ok := value.(int64); ok {
				info[fmt.Sprint(name)] = value
			}
		}
	}
	if info["Number of filters"] == 1 && info["Capacity"] != int64(n) {
		return fmt.Errorf("%w: key %q was made for n = %d, opened for n = %d", ErrMismatch, m.name, info["Capacity"], n)
	}
	return nil
}

// Add adds a key, see [Filter.Add]: one winner, sent at most once.
func (m *Module) Add(ctx context.Context, key []byte) (bool, error) {
	n, err := m.AddMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// AddMany adds keys, see [Filter.AddMany]. It never makes a filter: if that is
// gone, the error wraps [ErrLost].
func (m *Module) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	added = room(keys, added)
	defer func() { count = trues(added) }()
	for first := 0; first < len(keys); first += batchKeys {
		last := min(first+batchKeys, len(keys))
		args := []any{"BF.INSERT", m.name, "NOCREATE", "ITEMS"}
		for _, key := range keys[first:last] {
			args = append(args, copyOf(key))
		}
		v, err := m.sender.DoOnce(ctx, args...)
		failed := &AddError{Err: m.explain(err)}
		if err == nil {
			failed.Unknown, failed.Err = m.answers(v, added, first, last)
		} else if send.NotExecuted(err) {
			failed.NotAdded = indices(first, last)
		} else {
			failed.Unknown = indices(first, last)
		}
		if failed.Err != nil {
			failed.NotAdded = append(failed.NotAdded, indices(last, len(keys))...)
			return 0, failed
		}
	}
	return 0, nil
}

// Contains returns false if the key was definitely never added, true if it probably
// was. The module answers false also if the filter is gone.
func (m *Module) Contains(ctx context.Context, key []byte) (bool, error) {
	n, err := m.ContainsMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

// ContainsMany asks for keys, see [Filter.ContainsMany].
func (m *Module) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	found = room(keys, found)
	defer func() { count = trues(found) }()
	for first := 0; first < len(keys); first += batchKeys {
		last := min(first+batchKeys, len(keys))
		args := []any{"BF.MEXISTS", m.name}
		for _, key := range keys[first:last] {
			args = append(args, copyOf(key))
		}
		v, err := m.sender.Do(ctx, args...)
		if err != nil {
			return 0, m.explain(err)
		}
		if _, err := m.answers(v, found, first, last); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// room returns where answers go.
func room(keys [][]byte, answers []bool) []bool {
	if answers == nil {
		return make([]bool, len(keys))
	} else if len(answers) != len(keys) {
		panic("redisbloom: answers are neither nil nor as long as keys")
	}
	clear(answers)
	return answers
}

func trues(answers []bool) (n int) {
	for _, yes := range answers {
		if yes {
			n++
		}
	}
	return n
}

// answers reads a reply of one element for each key: 0 or 1, in RESP3 a boolean, or an
// error for that key alone, whose index is in failed.
func (m *Module) answers(reply any, answers []bool, first, last int) (failed []int, err error) {
	elements, ok := reply.([]any)
	if !ok || len(elements) > last-first {
		return indices(first, last), fmt.Errorf("redisbloom: key %q: unexpected reply %v, want %d answers", m.name, reply, last-first)
	}
	for i, e := range elements {
		switch e := e.(type) {
		case int64:
			answers[first+i] = e != 0
		case bool:
			answers[first+i] = e
		default:
			failed = append(failed, first+i)
			err = m.explain(fmt.Errorf("%v", e))
		}
	}
	// After an error, the module leaves out the rest.
	if len(elements) < last-first {
		failed = append(failed, indices(first+len(elements), last)...)
		if err == nil {
			err = fmt.Errorf("redisbloom: key %q: %d answers, want %d", m.name, len(elements), last-first)
		}
	}
	return failed, err
}

// explain adds what the user can do.
func (m *Module) explain(err error) error {
	switch {
	case err == nil || errors.Is(err, ErrMismatch):
		return err
	case send.IsReply(err) && strings.HasPrefix(err.Error(), "ERR unknown command"):
		return fmt.Errorf("redisbloom: key %q: the server does not have the RedisBloom module: load it, or use Open: %w", m.name, err)
	case send.IsReply(err) && strings.Contains(err.Error(), "not found"):
		return fmt.Errorf("%w: key %q: it was evicted, expired, flushed or deleted; its keys are forgotten: OpenModule makes an empty one: %w", ErrLost, m.name, err)
	case send.IsReply(err) && strings.HasPrefix(err.Error(), "NOPERM "):
		return fmt.Errorf("redisbloom: key %q: the user's ACL must allow %s: %w", m.name, moduleCommands, err)
	case strings.Contains(err.Error(), "is full"):
		return fmt.Errorf("redisbloom: key %q holds n keys and does not scale: open one with a larger n: %w", m.name, err)
	}
	return send.Explain(m.name, err)
}

// copyOf copies a key for a command that may outlive the call, when its context
// ends.
func copyOf(key []byte) []byte { return append(make([]byte, 0, len(key)), key...) }

// indices returns first ... last-1.
func indices(first, last int) []int {
	var all []int
	for i := first; i < last; i++ {
		all = append(all, i)
	}
	return all
}
