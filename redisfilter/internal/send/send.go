// Package send sends the commands of this module to Redis.
//
//   - The client does not repeat commands, see [Once]. Send repeats commands that do not add. [Call.NotExecuted]
//     reports whether an add may have reached the server.
//   - A call ends with its context, and a node that hangs delays only its own keys, see [Sender.Send].
//   - Replicas confirm adds, see [Sender.Confirmed].
//   - Errors name the key and the remedy, see [Explain].
package send

import (
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
)

// BatchKeys is the number of keys per command. A command with so many keys takes about 1 ms. During this time, Redis
// executes nothing else.
const BatchKeys = 500

// Answers returns answers, cleared, or a new slice if answers is nil. It panics if answers has another length.
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
	Replicas int           // number of replicas that must confirm an add, or 0
	Timeout  time.Duration // of the confirmation
	Counts   Counters
}

// Counters has the counters of a handle. Metrics of package redisfilter documents them.
type Counters struct{ RoundTrips, Keys, CacheHits, Lost, Unsure atomic.Uint64 }

// Must returns s. It panics for the nil Sender of a zero Filter.
func (s *Sender) Must() *Sender {
	if s == nil {
		panic("redisfilter: use of the zero Filter: make one by Open")
	}
	return s
}

// New returns a sender for a client. The error wraps bloom.ErrInvalid if the client is nil, reads from replicas, or is
// a Ring or an AutoPipeliner, or if replicas or timeout is out of range or does not suit the client.
func New(client redis.UniversalClient, replicas int, timeout time.Duration) (*Sender, error) {
	if replicas < 0 || replicas > 0 && timeout < time.Millisecond {
		return nil, Errorf(bloom.ErrInvalid, "wait for %d replicas for %v, want at least 1 replica and 1ms", replicas, timeout)
	}
	var readTimeout time.Duration
	if v := reflect.ValueOf(client); client == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, Errorf(bloom.ErrInvalid, "no client")
	}
	switch c := client.(type) {
	case *redis.Client:
		readTimeout = c.Options().ReadTimeout
	case *redis.ClusterClient:
		readTimeout = c.Options().ReadTimeout
		if c.Options().ReadOnly {
			return nil, Errorf(bloom.ErrInvalid, "a cluster client that reads from replicas: it misses keys that were just added")
		}
	case *redis.Ring:
		return nil, Errorf(bloom.ErrInvalid, "client %T: it continues at a server without the keys when one does not answer", client)
	case interface{ IsBlocking() bool }: // redis.AutoPipeliner, since 9.22, encodes a command to learn its size: see verb
		return nil, Errorf(bloom.ErrInvalid, "client %T, want the client that made it: this module makes pipelines itself", client)
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

// find stores the address of a call's node in the call, and returns it: "" if unknown. A cluster client may first have
// to load the slots.
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

// Send sends calls and waits until each has a reply or an error, or until ctx ends. Calls for one key are executed in
// order. Each node gets its own pipeline, so that a node that hangs does not delay the others.
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
	// Clients end a call after their own timeouts, some also at the deadline of ctx, but none when ctx is cancelled.
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

// over reports whether ctx has ended. A client may notice the deadline a moment before ctx does; then over waits for
// ctx.
func over(ctx context.Context) bool {
	if deadline, limited := ctx.Deadline(); limited && !time.Now().Before(deadline) {
		<-ctx.Done()
	}
	return ctx.Err() != nil
}

// all divides calls into groups, and sends the groups at the same time.
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

// groups returns the calls in one group per node, or one per key if replicas must confirm adds.
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

// run sends the calls of a group. If none of them adds, it repeats the calls from the first one that must be sent
// again, so that calls for one key keep their order.
func (s *Sender) run(ctx context.Context, calls []*Call) {
	adds := slices.ContainsFunc(calls, func(c *Call) bool { return c.Add })
	for p := (&patience{time.Now(), time.Millisecond}); ; p.sleep(ctx) {
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

// once sends the calls of a group one time, without repeating any.
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

// failed sets call.unnamed if the error is not a reply and does not name the node. After an error that is not a reply,
// it lets a cluster client reload the slots, because a replica may have been promoted. For pipelines and for commands
// that must not be repeated, the client itself reloads them only every ten seconds.
func (s *Sender) failed(ctx context.Context, call *Call) {
	err, named := call.Cmd.Err(), (*net.OpError)(nil)
	lost := err != nil && !errors.Is(err, redis.Nil) && Reply(err) == ""
	call.unnamed = lost && !errors.As(err, &named)
	if c, ok := s.Client.(*redis.ClusterClient); ok && lost {
		c.ReloadState(ctx)
	}
}

// Do sends one command and returns its reply as a T. It may send the command more than once.
func Do[T any](ctx context.Context, s *Sender, key string, args ...any) (v T, err error) {
	cmd := redis.NewCmd(ctx, args...)
	call := &Call{Key: key, Cmd: cmd}
	s.Send(ctx, call)
	if err := call.Err(); err != nil {
		return v, err
	}
	return As[T](cmd.Val())
}

// RepeatFor is the time after which a command without a reply is not sent again. The client's timeouts end the last
// attempt. Tests replace it.
var RepeatFor = 10 * time.Second

// A patience limits how long a command that does not add is sent again, and pauses before each attempt.
type patience struct {
	began time.Time
	pause time.Duration
}

// lasts reports whether a command should be sent again. After a lost reply, it is true for RepeatFor. If the server
// refuses for a moment, or the client cannot send, it is true for one second, about as long as go-redis would try. If a
// hook or a limiter of the client refuses, it is false.
func (p *patience) lasts(ctx context.Context, err error) bool {
	reached, network := (*net.OpError)(nil), net.Error(nil)
	age := time.Since(p.began)
	switch {
	case err == nil || errors.Is(err, redis.Nil) || Final(err) || ctx.Err() != nil || age >= RepeatFor:
		return false
	case Reply(err) != "":
		return momentary(err) && age < time.Second
	case errors.As(err, &reached) && reached.Op == "dial", strings.HasPrefix(err.Error(), "redis: "): // errors of the client
		return age < time.Second
	}
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// sleep pauses, each time twice as long, up to a second, or until ctx ends.
func (p *patience) sleep(ctx context.Context) {
	select {
	case <-time.After(p.pause):
		p.pause = min(2*p.pause, time.Second)
	case <-ctx.Done():
	}
}
