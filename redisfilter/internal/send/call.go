package send

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// Once is a command that the client must not repeat. Clients repeat a command whose reply was lost, and all others of its
// pipeline, which have replies. An add that had been executed would find its own bits the second time and answer "seen" for a
// key that no caller was told is new; the adds of redisfilter have numbers against that, and are repeated there.
type Once struct{ redis.Cmder }

// NoRetry tells the client.
func (Once) NoRetry() bool { return true }

// A Call is one command on one key.
type Call struct {
	Key string
	Cmd redis.Cmder
	Add bool // the client does not repeat it, and replicas confirm it

	Alone bool // a node gets it after the reply to the call before

	state     atomic.Int32  // of an add: unwritten, written or withdrawn
	abandoned error         // the end of ctx; the command may still be running
	addr      string        // of the node, if the client's error does not name it
	waited    *redis.IntCmd // the reply to WAIT
}

// command returns what the client gets.
func (c *Call) command() redis.Cmder {
	if !c.Add {
		return c.Cmd
	}
	if args := c.Cmd.Args(); len(args) > 0 {
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

// A verb is the name of a command that adds. Clients encode it when they write the command to a connection that is ready, and
// at no other time: not to choose a node, and not when a hook prints the command.
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

// Err returns the error of a call. The reply may be read only if Err returns nil.
func (c *Call) Err() error {
	if c.abandoned != nil {
		return c.abandoned
	}
	switch err := c.Cmd.Err(); {
	case err != nil && c.addr != "":
		return fmt.Errorf("%s: %w", c.addr, err)
	case Reply(err) != "":
		return plain{err}
	default:
		return err
	}
}

// NotExecuted reports whether it is certain that the server does not execute an add that failed: it was never written to a
// connection, or the server refused it.
func (c *Call) NotExecuted() bool {
	return c.state.Load() != written || c.abandoned == nil && Refused(c.Cmd.Err())
}

// keepReply removes the error of an add that has a reply: when a pipeline breaks, go-redis 9.21 gives its error to all commands.
func (c *Call) keepReply() {
	if cmd, ok := c.Cmd.(*redis.Cmd); ok && c.Add && cmd.Val() != nil && Reply(cmd.Err()) == "" {
		cmd.SetErr(nil)
	}
}
