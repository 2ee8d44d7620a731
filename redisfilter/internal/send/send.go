// Package send sends the commands of all filters in Redis.
//
//   - Every command goes to a server, and the client repeats none, see [Once]. Send repeats those that do not add. The
//     packages know whether an add may have reached the server.
//   - A call ends with its context, and a node that hangs delays only its own keys, see [Sender.Send].
//   - Replicas confirm an add, see [Sender.Confirmed].
//   - An error names the key and the remedy, see [Explain].
package send

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
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

// find notes the address of a call's node and returns it, or "". A cluster client may have to ask for the slots first.
func (s *Sender) find(ctx context.Context, c *Call) (addr string) {
	switch client := s.Client.(type) {
	case *redis.Client:
		addr = client.Options().Addr
	case *redis.ClusterClient:
		if node, err := client.MasterForKey(ctx, c.Key); err == nil {
			addr = node.Options().Addr
		}
	}
	c.node.Store(&addr)
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
	if ctx.Done() == nil {
		s.all(ctx, calls)
		return
	}
	// Clients end a call by their own time limits, some also at the deadline of ctx, and none when it is cancelled.
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.all(ctx, calls)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	for _, c := range calls {
		if !c.done.Load() || over(ctx) && c.Cmd.Err() != nil && Reply(c.Cmd.Err()) == "" {
			c.abandoned = c.stopped(ctx)
			c.state.CompareAndSwap(unwritten, withdrawn)
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

// all sends the calls of each node at the same time.
func (s *Sender) all(ctx context.Context, calls []*Call) {
	run := func(group []*Call) {
		s.run(ctx, group)
		for _, c := range group {
			c.done.Store(true)
		}
	}
	groups := s.groups(ctx, calls)
	var others sync.WaitGroup
	for _, group := range groups[1:] {
		others.Add(1)
		go func() {
			defer others.Done()
			run(group)
		}()
	}
	run(groups[0])
	others.Wait()
}

// groups divides calls by node. Adds that replicas confirm are divided by key.
func (s *Sender) groups(ctx context.Context, calls []*Call) [][]*Call {
	wait := s.Replicas > 0 && calls[0].Add
	var groups [][]*Call
	index := make(map[string]int)
	for _, c := range calls {
		name := s.find(ctx, c)
		if wait {
			name = c.Key
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

// run sends the calls of one node, or of one key if replicas confirm them. Unless one of them adds, it repeats those
// from the first on that is to be sent again, so that calls for one key keep their order.
func (s *Sender) run(ctx context.Context, calls []*Call) {
	adds := slices.ContainsFunc(calls, func(c *Call) bool { return c.Add })
	for p := NewPatience(); ; p.Sleep(ctx) {
		s.once(ctx, calls)
		first := slices.IndexFunc(calls, func(c *Call) bool { return p.lasts(ctx, c.Cmd.Err()) })
		if first < 0 || adds {
			return
		}
		calls = calls[first:]
		err := calls[0].Err()
		for _, c := range calls {
			c.before.Store(&err)
		}
	}
}

// once sends the calls of one node.
func (s *Sender) once(ctx context.Context, calls []*Call) {
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

// failed notes whether an error that is no reply names the node. A cluster client looks for the nodes again then: a
// replica may have taken over. For pipelines and for commands that must not be repeated, the client looks by itself
// only every ten seconds.
func (s *Sender) failed(ctx context.Context, call *Call) {
	err, named := call.Cmd.Err(), (*net.OpError)(nil)
	lost := err != nil && !errors.Is(err, redis.Nil) && Reply(err) == ""
	call.unnamed = lost && !errors.As(err, &named)
	if c, ok := s.Client.(*redis.ClusterClient); ok && lost {
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

// RepeatFor is how long a command without a reply is sent again. The last sending ends by the time limits of the
// client. Tests replace it.
var RepeatFor = 10 * time.Second

// A Patience says how long commands are sent again, and pauses before each time.
type Patience struct {
	began time.Time
	pause time.Duration
}

func NewPatience() *Patience { return &Patience{time.Now(), time.Millisecond} }

// Left reports whether a command without a reply is to be sent again.
func (p *Patience) Left(ctx context.Context) bool {
	return ctx.Err() == nil && time.Since(p.began) < RepeatFor
}

// lasts reports whether a command that does not add is to be sent again. A server that cannot be reached, or asks for a
// moment, gets a second, as go-redis would give it.
func (p *Patience) lasts(ctx context.Context, err error) bool {
	reached := (*net.OpError)(nil)
	switch {
	case err == nil || errors.Is(err, redis.Nil) || Final(err):
		return false
	case Reply(err) != "" || errors.As(err, &reached) && reached.Op == "dial":
		return p.Left(ctx) && (Reply(err) == "" || momentary(err)) && time.Since(p.began) < time.Second
	}
	return p.Left(ctx)
}

// Sleep waits, twice as long each time up to a second, or until ctx ends.
func (p *Patience) Sleep(ctx context.Context) {
	select {
	case <-time.After(p.pause):
		p.pause = min(2*p.pause, time.Second)
	case <-ctx.Done():
	}
}
