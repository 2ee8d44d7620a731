// Package send sends the commands of all filters in Redis.
//
//   - The client never repeats an add, see [Once]. The packages know whether one may have reached the server.
//   - A call ends with its context, and a node that hangs delays only its own keys, see [Sender.Send].
//   - Replicas confirm an add, see [Sender.Confirmed].
//   - An error names the key and the remedy, see [Explain].
package send

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
)

// BatchKeys is the largest number of keys in one command. Redis executes nothing else during a
// command, about 1 ms for this many keys.
const BatchKeys = 500

// Answers returns room for one answer per key: the caller's, cleared, or a new slice if that is nil.
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
type Counters struct{ RoundTrips, Keys, CacheHits, Lost, Unknown atomic.Uint64 }

// Must returns s. It panics for the nil Sender of a zero Filter.
func (s *Sender) Must() *Sender {
	if s == nil {
		panic("redisfilter: use of the zero Filter: make one by Open")
	}
	return s
}

// New checks a client and returns a sender. The error wraps bloom.ErrInvalid for a client that
// cannot keep the promises of a filter.
func New(client redis.UniversalClient, replicas int, timeout time.Duration) (*Sender, error) {
	if replicas < 0 || replicas > 0 && timeout < time.Millisecond {
		return nil, Errorf(bloom.ErrInvalid, "wait for %d replicas for %v, want at least 1 replica and 1ms", replicas, timeout)
	}
	var readTimeout time.Duration
	switch c := client.(type) {
	case nil:
		return nil, Errorf(bloom.ErrInvalid, "no client")
	case *redis.Client:
		readTimeout = c.Options().ReadTimeout
	case *redis.ClusterClient:
		readTimeout = c.Options().ReadTimeout
		if c.Options().ReadOnly {
			return nil, Errorf(bloom.ErrInvalid, "a cluster client that reads from replicas: it misses keys that were just added")
		}
	case *redis.Ring:
		return nil, Errorf(bloom.ErrInvalid, "client %T: it continues at a server without the keys when one does not answer", client)
	default:
		if replicas > 0 {
			return nil, Errorf(bloom.ErrInvalid, "client %T with WithWait, want *redis.Client or *redis.ClusterClient", client)
		}
	}
	if replicas > 0 && readTimeout > 0 && timeout >= readTimeout {
		return nil, Errorf(bloom.ErrInvalid, "wait for %v with a client whose ReadTimeout is %v, want less", timeout, readTimeout)
	}
	return &Sender{Client: client, Replicas: replicas, Timeout: timeout}, nil
}

// Stopped returns the error of a call whose context has ended before the reply.
func (s *Sender) Stopped(ctx context.Context, key string) error {
	return fmt.Errorf("stopped waiting for %s: %w", s.addr(ctx, key), ctx.Err())
}

// addr returns the address of the node that has a key.
func (s *Sender) addr(ctx context.Context, key string) string {
	addr := ""
	switch c := s.Client.(type) {
	case *redis.Client:
		addr = c.Options().Addr
	case *redis.ClusterClient:
		if node, err := c.MasterForKey(ctx, key); err == nil {
			addr = node.Options().Addr
		}
	}
	switch addr {
	case "":
		return "the server"
	case "FailoverClient": // what go-redis has for an address then
		return "the primary that Sentinel knows"
	}
	return addr
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
	if len(calls) == 0 {
		return
	}
	s.Counts.RoundTrips.Add(1)
	groups := s.groups(ctx, calls)
	if len(groups) == 1 && ctx.Done() == nil {
		s.run(ctx, groups[0])
		return
	}
	// Clients end a call by their own time limits, some also at the deadline of ctx, and none when it is cancelled.
	done := make([]chan struct{}, len(groups))
	for i, group := range groups {
		done[i] = make(chan struct{})
		go func() {
			defer close(done[i])
			s.run(ctx, group)
		}()
	}
	for i, group := range groups {
		returned := true
		select {
		case <-done[i]:
		case <-ctx.Done():
			select {
			case <-done[i]:
			default:
				returned = false
			}
		}
		for _, c := range group {
			if !returned || over(ctx) && c.Cmd.Err() != nil && Reply(c.Cmd.Err()) == "" {
				c.abandoned = s.Stopped(ctx, c.Key)
				c.state.CompareAndSwap(unwritten, withdrawn)
			}
		}
	}
}

// over reports whether ctx has ended. A client may notice its deadline a moment before.
func over(ctx context.Context) bool {
	if deadline, limited := ctx.Deadline(); limited && !time.Now().Before(deadline) {
		<-ctx.Done()
	}
	return ctx.Err() != nil
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
	case len(calls) == 1 || calls[0].Alone:
		for _, c := range calls {
			s.Client.Process(ctx, c.command())
		}
	default:
		pipe := s.Client.Pipeline()
		for _, c := range calls {
			pipe.Process(ctx, c.command())
		}
		_, err := pipe.Exec(ctx)
		if !slices.ContainsFunc(calls, func(c *Call) bool { return c.Cmd.Err() != nil }) {
			for _, c := range calls {
				c.Cmd.SetErr(err) // go-redis 9.19 sets none if it cannot connect
			}
		}
	}
	for _, c := range calls {
		c.keepReply()
		s.failed(ctx, c)
	}
}

// failed notes the node of a call that got no reply. A cluster client looks for the nodes again then: a replica may have
// taken over. For pipelines and for commands that must not be repeated, the client looks by itself only every ten seconds.
func (s *Sender) failed(ctx context.Context, call *Call) {
	err := call.Cmd.Err()
	if err == nil || errors.Is(err, redis.Nil) || Reply(err) != "" {
		return
	}
	if named := (*net.OpError)(nil); !errors.As(err, &named) {
		call.addr = s.addr(ctx, call.Key)
	}
	if c, ok := s.Client.(*redis.ClusterClient); ok {
		c.ReloadState(ctx)
	}
}

// Do sends one command that may be repeated, and returns its reply, which must be a T.
func Do[T any](ctx context.Context, s *Sender, key string, args ...any) (v T, err error) {
	cmd := redis.NewCmd(ctx, args...)
	call := &Call{Key: key, Cmd: cmd}
	s.Send(ctx, call)
	if err := call.Err(); err != nil {
		return v, err
	}
	return As[T](cmd.Val())
}
