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

// Once is a command that the client neither repeats nor answers from a cache. This module repeats commands itself,
// because a client repeats all commands of a pipeline, even those with replies. If the server executed an add twice,
// the second time would find the bits of the first: no caller would get true for the key.
type Once struct{ redis.Cmder }

// NoRetry tells the client not to repeat the command.
func (Once) NoRetry() bool { return true }

// A Call is one command on one key.
type Call struct {
	Key string
	Cmd redis.Cmder
	Add bool // if true, Send does not repeat it, and replicas confirm it

	Alone bool // send it after the reply to the node's previous call

	state     atomic.Int32           // unwritten, written or withdrawn; for adds
	abandoned error                  // the error if ctx ended before a reply; the command may still be running
	repeated  atomic.Bool            // a hook has sent it again, although the server may have executed it
	done      atomic.Bool            // the command has a reply or an error
	node      atomic.Pointer[string] // the address of the node, once it is known
	before    atomic.Pointer[error]  // why the command was sent again
	unnamed   bool                   // the client's error does not name the node
	waited    *redis.IntCmd          // the reply to WAIT
}

// command returns the command to pass to the go-redis client. In an add, it replaces the name by a verb.
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
	written   // at least a part may have been sent
	withdrawn // it will not be sent
)

// A verb is the name of a command that adds. A client encodes the name only when it writes the command to an open
// connection, not when it chooses a node or a hook prints the command. So MarshalBinary records that the add may have
// been sent.
type verb struct {
	name string
	call *Call
}

func (v verb) String() string { return v.name }

var errWithdrawn = errors.New("the call has ended before the command was sent")

// MarshalBinary encodes the name when the client writes the command. If the call was withdrawn, it returns an error, so
// that the client sends nothing: the caller was told that the add is not executed. A second call, without a refusal by
// the server in between, means that the add may be executed twice; MarshalBinary records that.
func (v verb) MarshalBinary() ([]byte, error) {
	if !v.call.state.CompareAndSwap(unwritten, written) {
		if v.call.state.Load() == withdrawn {
			return nil, errWithdrawn
		}
		if !Refused(v.call.Cmd.Err()) {
			v.call.repeated.Store(true)
		}
	}
	return []byte(v.name), nil
}

// where returns the address of the call's node for error texts, or a general name if it is unknown.
func (c *Call) where() string {
	switch addr := c.node.Load(); {
	case addr == nil || *addr == "":
		return "the server"
	case *addr == "FailoverClient": // go-redis's address with Sentinel
		return "the primary that Sentinel knows"
	default:
		return *addr
	}
}

// stopped returns the error of a call whose context has ended before the reply.
func (c *Call) stopped(ctx context.Context) error {
	if before := c.before.Load(); before != nil {
		return fmt.Errorf("stopped waiting for %s: %w, after %w", c.where(), ctx.Err(), *before)
	}
	return fmt.Errorf("stopped waiting for %s: %w", c.where(), ctx.Err())
}

// Err returns the error of a call. Read the reply only if Err returns nil.
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

// NotExecuted reports whether the server certainly does not execute a failed add: it was never written to a connection,
// or the server refused it. It is false if the add was written twice: the server may have executed the first and
// refused the second.
func (c *Call) NotExecuted() bool {
	return c.state.Load() != written || c.abandoned == nil && Refused(c.Cmd.Err()) && !c.repeated.Load()
}

// Repeated returns an error if a hook or the client has sent an add again although the server may have executed it.
// Then the answer false does not mean that the key was there before.
func (c *Call) Repeated() error {
	if c.repeated.Load() {
		return errors.New("the client has sent the command again after a lost reply")
	}
	return nil
}

// keepReply removes the error of an add that has a reply: when a connection breaks, go-redis 9.21 sets the error of all
// commands of a pipeline.
func (c *Call) keepReply() {
	if cmd, ok := c.Cmd.(*redis.Cmd); ok && c.Add && cmd.Val() != nil && Reply(cmd.Err()) == "" {
		cmd.SetErr(nil)
	}
}
