package send

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// addAndWait sends a call and then WAIT. The reply to WAIT is the number of replicas that have confirmed the call. WAIT
// is for the writes of its own connection, so both commands are sent to one node in one pipeline.
//
// A wrong node refuses the command without executing it. So it is safe to send the command again, to the node that the
// refusal names.
func (s *Sender) addAndWait(ctx context.Context, c *Call) {
	c.waited = redis.NewIntCmd(ctx, "WAIT", s.Replicas, s.Timeout.Milliseconds())
	const tries = 6
	var to string // the node in the last refusal
	var ask bool  // the refusal was ASK
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
		pipe.Process(ctx, c.command())
		pipe.Process(ctx, c.waited)
		pipe.Exec(ctx)
		c.keepReply()
		s.failed(ctx, c)
		var moved bool
		if moved, to, ask = s.redirected(ctx, c.Cmd.Err()); !moved {
			return
		}
	}
}

// Confirmed returns an error that wraps ErrReplicas if too few replicas have confirmed an executed call. The reply to
// the call is valid even then.
func (s *Sender) Confirmed(c *Call) error {
	if c.waited == nil {
		return nil
	}
	switch got, err := c.waited.Result(); {
	case err != nil:
		return Errorf(ErrReplicas, "%w", err)
	case got < int64(s.Replicas):
		return Errorf(ErrReplicas, "%d of %d within %v", got, s.Replicas, s.Timeout)
	}
	return nil
}

// node returns a client of the node that holds a key, or of the node at addr.
func (s *Sender) node(ctx context.Context, key, addr string) (*redis.Client, error) {
	c, ok := s.Client.(*redis.ClusterClient)
	switch {
	case !ok:
		return s.Client.(*redis.Client), nil // New has checked it
	case addr == "":
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

// redirected reports whether err asks to send the command again: to the node at addr, or to the key's node if addr is
// empty. If ask is true, this holds for one command only. Otherwise the slot has moved for good, and the cluster client
// reloads the slots.
func (s *Sender) redirected(ctx context.Context, err error) (moved bool, addr string, ask bool) {
	c, ok := s.Client.(*redis.ClusterClient)
	fields := strings.Fields(Reply(err))
	if !ok || len(fields) == 0 {
		return false, "", false
	}
	switch {
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
