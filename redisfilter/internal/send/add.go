package send

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
)

// A Command is one command on one key, of a batch.
type Command struct {
	Key string
	Cmd redis.Cmder // for an add, one that the client does not repeat: see Once

	confirmed *redis.IntCmd // the reply to WAIT
}

// Ask sends commands that change nothing. The error means that ctx ended before the
// replies came; what went wrong with one command stands in that command.
func (s *Sender) Ask(ctx context.Context, commands []*Command) error {
	return s.Await(ctx, func() { s.pipeline(ctx, commands) })
}

// Add sends commands that add, and has replicas confirm each if the sender was made so:
// see [Sender.Confirmed]. The error is as that of Ask.
//
// Commands for different keys go side by side, those for one key in their order, so
// that of equal elements the first is the new one.
func (s *Sender) Add(ctx context.Context, commands []*Command) error {
	if s.Replicas == 0 {
		return s.Ask(ctx, commands)
	}
	return s.Await(ctx, func() {
		perKey := make(map[string][]*Command)
		for _, c := range commands {
			perKey[c.Key] = append(perKey[c.Key], c)
		}
		var all sync.WaitGroup
		for _, commands := range perKey {
			all.Go(func() {
				for _, c := range commands {
					s.addAndWait(ctx, c)
				}
			})
		}
		all.Wait()
	})
}

func (s *Sender) pipeline(ctx context.Context, commands []*Command) {
	switch len(commands) {
	case 0:
	case 1:
		s.Client.Process(ctx, commands[0].Cmd)
	default:
		pipe := s.Client.Pipeline()
		for _, c := range commands {
			pipe.Process(ctx, c.Cmd)
		}
		pipe.Exec(ctx)
	}
	for _, c := range commands {
		if s.seek(ctx, c.Cmd.Err()) {
			return
		}
	}
}

// seek has a cluster client look where the slots are, if err says that a node does not answer:
// a replica may have taken over. For a command that is not to be repeated, or several at a
// time, the client looks only every ten seconds by itself.
func (s *Sender) seek(ctx context.Context, err error) bool {
	c, ok := s.Client.(*redis.ClusterClient)
	if !ok || err == nil || errors.Is(err, redis.Nil) || IsReply(err) {
		return false
	}
	c.ReloadState(ctx)
	return true
}

// Confirmed returns an error that wraps ErrReplicas if a command that was executed has
// been confirmed by fewer replicas than the sender asks for. Its own answer is known
// all the same.
func (s *Sender) Confirmed(c *Command) error {
	if c.confirmed == nil {
		return nil
	}
	switch got, err := c.confirmed.Result(); {
	case err != nil:
		return errors.Join(ErrReplicas, Explain(c.Key, err))
	case got < int64(s.Replicas):
		return fmt.Errorf("%w: %d of %d, within %v", ErrReplicas, got, s.Replicas, s.Timeout)
	}
	return nil
}

// addAndWait executes one command and has replicas confirm it. WAIT speaks of what
// came over its own connection, so that the two must go to one node in one pipeline.
//
// A node that is not, or no longer, the right one refuses the command and has not
// executed it: to send it to the one that the refusal names is no retry of an add.
func (s *Sender) addAndWait(ctx context.Context, c *Command) {
	c.confirmed = redis.NewIntCmd(ctx, "WAIT", s.Replicas, s.Timeout.Milliseconds())
	const tries = 6
	var to string // the node to which the last refusal has sent us
	var ask bool  // for this once
	for try := range tries {
		if try > 0 && !ask {
			time.Sleep(10 * time.Millisecond << try)
		}
		node, err := s.node(ctx, c.Key, to)
		if err != nil {
			c.Cmd.SetErr(err)
			return
		}
		pipe := node.Pipeline()
		if ask {
			pipe.Do(ctx, "ASKING")
		}
		pipe.Process(ctx, c.Cmd)
		pipe.Process(ctx, c.confirmed)
		pipe.Exec(ctx)
		s.seek(ctx, c.Cmd.Err())
		var moved bool
		if moved, to, ask = s.redirected(ctx, c.Cmd.Err()); !moved {
			return
		}
	}
}

// node returns a client of the one node that holds a key, or of the one at addr.
func (s *Sender) node(ctx context.Context, key, addr string) (*redis.Client, error) {
	switch c := s.Client.(type) {
	case *redis.Client:
		return c, nil
	case *redis.ClusterClient:
		if addr == "" {
			return c.MasterForKey(ctx, key)
		}
		var mu sync.Mutex
		var found *redis.Client
		err := c.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
			if node.Options().Addr == addr {
				mu.Lock()
				defer mu.Unlock()
				found = node
			}
			return nil
		})
		if err == nil && found == nil {
			return c.MasterForKey(ctx, key)
		}
		return found, err
	}
	return nil, fmt.Errorf("%w: client %T with WithWait, want *redis.Client or *redis.ClusterClient", bloom.ErrInvalid, s.Client)
}

// redirected reports whether err says that the key is at another node, at addr: for this
// command alone, or for good, and then the cluster client looks where the slots are.
func (s *Sender) redirected(ctx context.Context, err error) (moved bool, addr string, ask bool) {
	c, ok := s.Client.(*redis.ClusterClient)
	if !ok || err == nil || !IsReply(err) {
		return false, "", false
	}
	switch fields := strings.Fields(err.Error()); {
	case len(fields) == 3 && fields[0] == "ASK":
		return true, fields[2], true
	case len(fields) == 3 && fields[0] == "MOVED":
		c.ReloadState(ctx)
		return true, fields[2], false
	case fields[0] == "TRYAGAIN":
		return true, "", false
	}
	return false, "", false
}
