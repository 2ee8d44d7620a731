// Package send is what all filters in Redis have in common: how their commands are
// sent, how long they wait, and what their errors mean.
//
//   - An add is sent at most once, see [Once] and [Sender.Add].
//   - A call ends with its context, see [Sender.Await].
//   - Replicas confirm an add, see [Sender.Add].
//   - A transaction in a cluster slot that is being moved is an error, see
//     [Sender.Watch].
//   - Every error names the key and what to do, see [Explain].
package send

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
)

// A Sender sends commands with a client. It is safe for concurrent use.
type Sender struct {
	Client   redis.UniversalClient
	Replicas int           // that confirm each add, 0 for none
	Timeout  time.Duration // how long they may take
}

// New checks a client and returns a sender. The error wraps bloom.ErrInvalid for
// clients that cannot keep the promises of a filter.
func New(client redis.UniversalClient, replicas int, timeout time.Duration) (Sender, error) {
	if replicas < 0 || replicas > 0 && timeout < time.Millisecond {
		return Sender{}, fmt.Errorf("%w: wait for %d replicas for %v, want at least 1 replica and 1ms", bloom.ErrInvalid, replicas, timeout)
	}
	var readTimeout time.Duration
	switch c := client.(type) {
	case nil:
		return Sender{}, fmt.Errorf("%w: no client", bloom.ErrInvalid)
	case *redis.Client:
		readTimeout = c.Options().ReadTimeout
	case *redis.ClusterClient:
		readTimeout = c.Options().ReadTimeout
		if c.Options().ReadOnly {
			return Sender{}, fmt.Errorf("%w: a cluster client that reads from replicas, want one that does not: a replica lags behind, and a key that was added would be missed", bloom.ErrInvalid)
		}
	case *redis.Ring:
		return Sender{}, fmt.Errorf("%w: client %T, want one that never goes on at another server: that one would lack the keys", bloom.ErrInvalid, client)
	default:
		if replicas > 0 {
			return Sender{}, fmt.Errorf("%w: client %T with WithWait, want *redis.Client or *redis.ClusterClient", bloom.ErrInvalid, client)
		}
	}
	if replicas > 0 && readTimeout > 0 && timeout >= readTimeout {
		return Sender{}, fmt.Errorf("%w: wait for %v with a client whose ReadTimeout is %v, want less", bloom.ErrInvalid, timeout, readTimeout)
	}
	return Sender{Client: client, Replicas: replicas, Timeout: timeout}, nil
}

// Await runs do, but does not wait for it longer than ctx allows. What do writes to
// may be read only if Await returns nil: otherwise do may still be running.
//
// A client with ContextTimeoutEnabled keeps deadlines by itself. Any other gives up a
// reply only when its read timeout is over, and none is told of a cancellation: do
// then runs in a goroutine of its own. Under a context with a
// deadline, a client with ContextTimeoutEnabled hears of no cancellation: do ends at the
// deadline, or by the client's time limits.
func (s *Sender) Await(ctx context.Context, do func()) error {
	if ctx.Done() == nil {
		do()
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, limited := ctx.Deadline(); limited && s.keepsDeadlines() {
		do()
		if !time.Now().Before(deadline) { // the client says so in words of its own
			return context.DeadlineExceeded
		}
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Sender) keepsDeadlines() bool {
	switch c := s.Client.(type) {
	case *redis.Client:
		return c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		return c.Options().ContextTimeoutEnabled
	}
	return false
}

// Once is a command that the client must not send a second time. Clients retry when
// a reply is lost. An add that was executed but whose reply was lost would find its
// own bits the second time and answer "seen" for a key that no caller was told is new.
type Once struct{ *redis.Cmd }

// NoRetry tells the client.
func (Once) NoRetry() bool { return true }

// OnceInts is Once for commands that answer a slice of integers.
type OnceInts struct{ *redis.IntSliceCmd }

// NoRetry tells the client.
func (OnceInts) NoRetry() bool { return true }

// Do sends one command that may be repeated, and returns its reply.
func (s *Sender) Do(ctx context.Context, args ...any) (any, error) {
	cmd := redis.NewCmd(ctx, args...)
	return s.finish(ctx, cmd, cmd)
}

// DoOnce sends one command that the client must not repeat.
func (s *Sender) DoOnce(ctx context.Context, args ...any) (any, error) {
	cmd := redis.NewCmd(ctx, args...)
	return s.finish(ctx, Once{cmd}, cmd)
}

func (s *Sender) finish(ctx context.Context, cmd redis.Cmder, reply *redis.Cmd) (any, error) {
	do := func() {
		s.Client.Process(ctx, cmd)
		s.seek(ctx, cmd.Err())
	}
	if err := s.Await(ctx, do); err != nil {
		return nil, err
	}
	return reply.Result()
}

// GetRange reads bytes [from, to] of a key; a missing key reads as empty.
func (s *Sender) GetRange(ctx context.Context, key string, from, to uint64) (string, error) {
	v, err := s.Do(ctx, "GETRANGE", key, from, to)
	if err != nil {
		return "", Explain(key, err)
	}
	text, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("redisfilter: key %q: GETRANGE answered %T, want a string", key, v)
	}
	return text, nil
}

// errMoving is what Watch returns for a key whose slot is being moved.
var errMoving = errors.New("the key's cluster slot is being moved, and nothing was done: try again when it has moved")

// Watch runs do in a connection that watches keys, as the client's Watch does. That of a
// cluster client returns nil without ever having called do when its redirects run out,
// which is so for a key in a slot that is being moved; here that is an error. It does not
// wait longer than ctx allows.
func (s *Sender) Watch(ctx context.Context, do func(*redis.Tx) error, keys ...string) error {
	var err error
	stopped := s.Await(ctx, func() {
		called := false
		err = s.Client.Watch(ctx, func(tx *redis.Tx) error {
			called = true
			return do(tx)
		}, keys...)
		if err == nil && !called {
			err = errMoving
		}
	})
	if stopped != nil {
		return stopped
	}
	return err
}

// Cause returns the reply because of which a transaction was not executed.
func Cause(cmds []redis.Cmder, err error) error {
	for _, cmd := range cmds {
		if e := cmd.Err(); e != nil && IsReply(e) && !strings.HasPrefix(e.Error(), "EXECABORT") {
			return e
		}
	}
	return err
}
