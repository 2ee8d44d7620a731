// Package send sends the commands of all filters in Redis.
//
//   - An add is sent at most once, see [Once].
//   - A call ends with its context, and a node that hangs delays only its own keys, see [Sender.Send].
//   - Replicas confirm an add, see [Call.Confirmed].
//   - An error names the key and the remedy, see [Explain].
package send

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
)

// BatchKeys is the largest number of keys in one command. Redis executes nothing else during a
// command, about 1 ms for this many keys.
const BatchKeys = 500

// Answers returns room for the answers to so many keys: the caller's, cleared, unless that is nil.
func Answers(keys int, answers []bool) []bool {
	if answers == nil {
		return make([]bool, keys)
	}
	if len(answers) != keys {
		panic("redisfilter: answers are neither nil nor as long as keys")
	}
	clear(answers)
	return answers
}

// A Sender sends commands with a client. It is safe for concurrent use.
type Sender struct {
	Client   redis.UniversalClient
	Replicas int           // replicas that confirm each add, 0 for none
	Timeout  time.Duration // the time that they have
	Counts   Counters
}

// Counters counts what a filter does. Package redisfilter documents the fields.
type Counters struct{ RoundTrips, Keys, CacheHits, Bytes, Lost, Unknown atomic.Uint64 }

// New checks a client and returns a sender. The error wraps bloom.ErrInvalid for a client that
// cannot keep the promises of a filter.
func New(client redis.UniversalClient, replicas int, timeout time.Duration) (*Sender, error) {
	if replicas < 0 || replicas > 0 && timeout < time.Millisecond {
		return nil, format.Errorf(bloom.ErrInvalid, "wait for %d replicas for %v, want at least 1 replica and 1ms", replicas, timeout)
	}
	var readTimeout time.Duration
	switch c := client.(type) {
	case nil:
		return nil, format.Errorf(bloom.ErrInvalid, "no client")
	case *redis.Client:
		readTimeout = c.Options().ReadTimeout
	case *redis.ClusterClient:
		readTimeout = c.Options().ReadTimeout
		if c.Options().ReadOnly {
			return nil, format.Errorf(bloom.ErrInvalid, "a cluster client that reads from replicas: it misses keys that were just added")
		}
	case *redis.Ring:
		return nil, format.Errorf(bloom.ErrInvalid, "client %T: it continues at a server without the keys when one does not answer", client)
	default:
		if replicas > 0 {
			return nil, format.Errorf(bloom.ErrInvalid, "client %T with WithWait, want *redis.Client or *redis.ClusterClient", client)
		}
	}
	if replicas > 0 && readTimeout > 0 && timeout >= readTimeout {
		return nil, format.Errorf(bloom.ErrInvalid, "wait for %v with a client whose ReadTimeout is %v, want less", timeout, readTimeout)
	}
	return &Sender{Client: client, Replicas: replicas, Timeout: timeout}, nil
}

// Once is a command that the client must not repeat. Clients repeat a command whose reply was lost.
// An add that had been executed would find its own bits the second time and answer "seen" for a
// key that no caller was told is new.
type Once struct{ redis.Cmder }

// NoRetry tells the client.
func (Once) NoRetry() bool { return true }

// A Call is one command on one key.
type Call struct {
	Key string
	Cmd redis.Cmder
	Add bool // replicas confirm it

	sent      bool
	abandoned error         // the end of ctx; the command may still be running
	waited    *redis.IntCmd // the reply to WAIT
}

// Err returns the error of a call. The reply may be read only if Err returns nil.
func (c *Call) Err() error {
	if c.abandoned != nil {
		return c.abandoned
	}
	return c.Cmd.Err()
}

// NotExecuted reports whether it is certain that the server has not executed a call that failed.
func (c *Call) NotExecuted() bool { return !c.sent || c.abandoned == nil && NotExecuted(c.Cmd.Err()) }

// Confirmed returns an error that wraps ErrReplicas if too few replicas have confirmed a call
// that was executed. The reply of the call is valid.
func (s *Sender) Confirmed(c *Call) error {
	if c.waited == nil {
		return nil
	}
	switch got, err := c.waited.Result(); {
	case err != nil:
		return errors.Join(ErrReplicas, Explain(c.Key, err))
	case got < int64(s.Replicas):
		return fmt.Errorf("%w: %d of %d within %v", ErrReplicas, got, s.Replicas, s.Timeout)
	}
	return nil
}

// Stopped returns the error of a call whose context has ended before the reply.
func (s *Sender) Stopped(ctx context.Context, key string) error {
	addr := "the server"
	switch c := s.Client.(type) {
	case *redis.Client:
		addr = c.Options().Addr
	case *redis.ClusterClient:
		if node, err := c.MasterForKey(ctx, key); err == nil {
			addr = node.Options().Addr
		}
	}
	return fmt.Errorf("redisfilter: key %q: stopped waiting for %s: %w", key, addr, ctx.Err())
}

// Send sends calls and waits until each has a reply or an error, but no longer than ctx allows.
// Calls for one key are executed in their order. Each node has a pipeline of its own, so that a
// node that hangs does not delay the others.
func (s *Sender) Send(ctx context.Context, calls ...*Call) {
	if err := ctx.Err(); err != nil {
		for _, c := range calls {
			c.abandoned = err
		}
		return
	}
	s.Counts.RoundTrips.Add(1)
	for _, c := range calls {
		c.sent = true
	}
	groups := s.groups(ctx, calls)
	deadline, limited := ctx.Deadline()
	if len(groups) == 1 && (ctx.Done() == nil || limited && s.keepsDeadlines()) {
		s.run(ctx, groups[0])
		if limited && !time.Now().Before(deadline) { // the client words it in another way
			for _, c := range calls {
				if err := c.Cmd.Err(); err != nil && !IsReply(err) {
					<-ctx.Done() // a moment at most
					c.abandoned = s.Stopped(ctx, c.Key)
				}
			}
		}
		return
	}
	// A client without ContextTimeoutEnabled ends a call only by its own read timeout, and no client
	// notices a cancellation.
	done := make([]chan struct{}, len(groups))
	for i, group := range groups {
		done[i] = make(chan struct{})
		go func() {
			defer close(done[i])
			s.run(ctx, group)
		}()
	}
	for i, group := range groups {
		select {
		case <-done[i]:
			continue
		case <-ctx.Done():
		}
		select {
		case <-done[i]:
		default:
			for _, c := range group {
				c.abandoned = s.Stopped(ctx, c.Key)
			}
		}
	}
}

// keepsDeadlines reports whether the client ends a call at the deadline of its context.
func (s *Sender) keepsDeadlines() bool {
	switch c := s.Client.(type) {
	case *redis.Client:
		return c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		return c.Options().ContextTimeoutEnabled
	}
	return false
}

// groups divides calls by node. Adds that replicas confirm are divided by key.
func (s *Sender) groups(ctx context.Context, calls []*Call) [][]*Call {
	cluster, ok := s.Client.(*redis.ClusterClient)
	wait := s.Replicas > 0 && calls[0].Add
	if len(calls) == 1 || !ok && !wait {
		return [][]*Call{calls}
	}
	var groups [][]*Call
	index := make(map[string]int)
	for _, c := range calls {
		name := c.Key
		if !wait {
			name = ""
			if node, err := cluster.MasterForKey(ctx, c.Key); err == nil {
				name = node.Options().Addr
			}
		}
		i, known := index[name]
		if !known {
			i = len(groups)
			index[name] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

// run sends the calls of one node, or of one key if replicas confirm them.
func (s *Sender) run(ctx context.Context, calls []*Call) {
	switch {
	case s.Replicas > 0 && calls[0].Add:
		for _, c := range calls {
			s.addAndWait(ctx, c)
		}
		return
	case len(calls) == 1:
		s.Client.Process(ctx, calls[0].Cmd)
	default:
		pipe := s.Client.Pipeline()
		for _, c := range calls {
			pipe.Process(ctx, c.Cmd)
		}
		_, err := pipe.Exec(ctx)
		if !slices.ContainsFunc(calls, func(c *Call) bool { return c.Cmd.Err() != nil }) {
			for _, c := range calls {
				c.Cmd.SetErr(err) // go-redis 9.19 sets none if it cannot connect
			}
		}
	}
	for _, c := range calls {
		if s.seek(ctx, c.Cmd.Err()) {
			return
		}
	}
}

// seek lets a cluster client look for the nodes again if err says that one does not answer: a
// replica may have taken over. For pipelines and for commands that must not be repeated, the client
// looks by itself only every ten seconds.
func (s *Sender) seek(ctx context.Context, err error) bool {
	c, ok := s.Client.(*redis.ClusterClient)
	if !ok || err == nil || errors.Is(err, redis.Nil) || IsReply(err) {
		return false
	}
	c.ReloadState(ctx)
	return true
}

// Do sends one command that may be repeated, and returns its reply.
func (s *Sender) Do(ctx context.Context, key string, args ...any) (any, error) {
	cmd := redis.NewCmd(ctx, args...)
	call := &Call{Key: key, Cmd: cmd}
	s.Send(ctx, call)
	if err := call.Err(); err != nil {
		return nil, err
	}
	return cmd.Result()
}

// countBytes is the part of a value that one command counts: about 1 ms.
const countBytes = 4 << 20

// Ones counts the set bits in bytes [from, to) of a key, in pieces.
func (s *Sender) Ones(ctx context.Context, key string, from, to uint64) (ones uint64, err error) {
	for ; from < to; from += countBytes {
		v, err := s.Do(ctx, key, "BITCOUNT", key, from, min(from+countBytes, to)-1)
		if err != nil {
			return 0, Explain(key, err)
		}
		n, err := As[int64](key, v)
		if err != nil {
			return 0, err
		}
		ones += uint64(n)
	}
	return ones, nil
}
