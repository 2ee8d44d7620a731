package send

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
)

// Once is a command that the client neither repeats nor answers from a cache. This module repeats commands itself: a
// client repeats all commands of a pipeline, also those that have replies, and an add that was executed before would
// find its own bits and answer "seen" for a key that no caller was told is new.
type Once struct{ redis.Cmder }

// NoRetry tells the client.
func (Once) NoRetry() bool { return true }

// A Call is one command on one key.
type Call struct {
	Key string
	Cmd redis.Cmder
	Add bool // Send does not repeat it, and replicas confirm it

	Alone bool // a node gets it after the reply to the call before

	state     atomic.Int32           // of an add: unwritten, written or withdrawn
	abandoned error                  // the end of ctx; the command may still be running
	done      atomic.Bool            // it has a reply or an error
	node      atomic.Pointer[string] // the address of the node, once it is known
	before    atomic.Pointer[error]  // why the command is sent again
	unnamed   bool                   // the client's error does not name the node
	waited    *redis.IntCmd          // the reply to WAIT
}

// command returns the command to pass to the go-redis client.
func (c *Call) command() redis.Cmder {
	if args := c.Cmd.Args(); c.Add && len(args) > 0 {
		if name, ok := args[0].(string); ok {
			args[0] = verb{name, c}
		}
	}
	return Once{c.Cmd}
}

// The states of an add.
const (
	unwritten = iota
	written   // a part of it may have been sent
	withdrawn // it will not be sent
)

// A verb is the name of a command that adds. Clients encode it when they write the command to a connection that is
// ready, and at no other time: not to choose a node, and not when a hook prints the command.
type verb struct {
	name string
	call *Call
}

func (v verb) String() string { return v.name }

var errWithdrawn = errors.New("the call has ended before the command was sent")

// MarshalBinary encodes the name. Its error keeps a command from being sent if its call has ended.
func (v verb) MarshalBinary() ([]byte, error) {
	if !v.call.state.CompareAndSwap(unwritten, written) && v.call.state.Load() == withdrawn {
		return nil, errWithdrawn
	}
	return []byte(v.name), nil
}

// where returns the address of the call's node, as far as it is known.
func (c *Call) where() string {
	switch addr := c.node.Load(); {
	case addr == nil || *addr == "":
		return "the server"
	case *addr == "FailoverClient": // what go-redis has for an address then
		return "the primary that Sentinel knows"
	default:
		return *addr
	}
}

// stopped is the error of a call whose context has ended before the reply.
func (c *Call) stopped(ctx context.Context) error {
	if before := c.before.Load(); before != nil {
		return fmt.Errorf("stopped waiting for %s: %w, after %w", c.where(), ctx.Err(), *before)
	}
	return fmt.Errorf("stopped waiting for %s: %w", c.where(), ctx.Err())
}

// Err returns the error of a call. The reply may be read only if Err returns nil.
func (c *Call) Err() error {
	if c.abandoned != nil {
		return c.abandoned
	}
	switch err := c.Cmd.Err(); {
	case c.unnamed:
		return fmt.Errorf("%s: %w", c.where(), err)
	case strings.Contains(Reply(err), "exceeds maximum allowed size"), strings.Contains(Reply(err), "bit offset is not an integer or out of range"):
		return Errorf(bloom.ErrFull, "the server's proto-max-bulk-len is less than the value needs: %w", plain{err})
	case Reply(err) != "":
		return plain{err}
	default:
		return err
	}
}

// NotExecuted reports whether it is certain that the server does not execute an add that failed: it was never written
// to a connection, or the server refused it.
func (c *Call) NotExecuted() bool {
	return c.state.Load() != written || c.abandoned == nil && Refused(c.Cmd.Err())
}

// keepReply removes the error of an add that has a reply: when a pipeline breaks, go-redis 9.21 gives its error to all
// commands.
func (c *Call) keepReply() {
	if cmd, ok := c.Cmd.(*redis.Cmd); ok && c.Add && cmd.Val() != nil && Reply(cmd.Err()) == "" {
		cmd.SetErr(nil)
	}
}
