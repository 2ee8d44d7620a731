package send

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// The errors of package redisfilter, which says there what they mean.
var (
	// ErrMismatch means that the key holds something else: a filter with other
	// parameters, or no filter of this package.
	ErrMismatch = errors.New("redisfilter: not this filter")

	// ErrLost means that the filter, or one of its shards, is gone: evicted,
	// expired, flushed, deleted, lost in a restart, or made anew by another process.
	// Its keys are forgotten.
	ErrLost = errors.New("redisfilter: filter lost")

	// ErrUnknown means that no answer came for some keys of an add, so that they
	// may or may not be in the filter.
	ErrUnknown = errors.New("redisfilter: keys may or may not have been added")

	// ErrFull means that a filter takes no more keys.
	ErrFull = errors.New("redisfilter: filter full")

	// ErrReplicas means that fewer replicas than asked for confirmed an
	// add in time. The keys are in the primary's memory; a failover may lose them.
	ErrReplicas = errors.New("redisfilter: too few replicas confirmed")
)

// NotExecuted reports whether err proves that the server has not executed the
// command: it refused it, or the command never left.
func NotExecuted(err error) bool {
	if errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted) || errors.Is(err, redis.ErrClosed) {
		return true
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	return IsReply(err)
}

// IsReply reports whether err is the server's own error reply.
func IsReply(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok && !errors.Is(err, redis.Nil)
}

// Commands are all that a Filter sends, except EVALSHA and EVAL, without which it adds more
// slowly. The keys beside f are its other shards, and what is made first and then renamed.
const Commands = "BITCOUNT, BITFIELD, BITFIELD_RO, BITOP, EXEC, GETRANGE, MULTI, PERSIST, PEXPIRE, PEXPIREAT, PTTL, RENAME, RENAMENX, SET, SETRANGE, TIME, UNLINK, UNWATCH, WAIT and WATCH"

// hints say what to do about a server's refusal. The text before the first space
// of an error reply is its code.
var hints = map[string]string{
	"OOM":         "the server is at maxmemory: raise it, or give the filter a server of its own",
	"READONLY":    "the server is a replica: connect to the primary, through Sentinel or Cluster if it moves",
	"NOREPLICAS":  "min-replicas-to-write holds writes back: bring the replicas up and add again",
	"MISCONF":     "the server cannot save to disk and holds writes back: see its log",
	"LOADING":     "the server is reading its data after a start: add again in a moment",
	"MASTERDOWN":  "the replica has lost its primary: wait for the failover",
	"CLUSTERDOWN": "the cluster is incomplete: wait for the failover",
	"NOPERM":      "the user's ACL must allow " + Commands + " on the keys f, f:* and {f}:* if f is the filter's name",
	"NOAUTH":      "the server wants a password",
	"EXECABORT":   "a command of a transaction was refused, as is so while the key's cluster slot is being moved: try again when it has moved",
	"TRYAGAIN":    "the key's cluster slot is being moved: try again when it has moved",
}

// Explain adds to an error what the user can do about it.
func Explain(key string, err error) error {
	if err == nil || errors.Is(err, ErrLost) {
		return err
	}
	if !IsReply(err) {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("redisfilter: key %q: stopped waiting: %w", key, err)
		}
		return fmt.Errorf("redisfilter: key %q: %w", key, err)
	}
	text := strings.TrimPrefix(err.Error(), "EXECABORT Transaction discarded because of: ")
	code, _, _ := strings.Cut(text, " ")
	switch {
	case code == "WRONGTYPE":
		return fmt.Errorf("%w: key %q holds no string: choose another name, or delete the key: %w", ErrMismatch, key, err)
	case strings.HasPrefix(text, "ERR unknown command"):
		return fmt.Errorf("redisfilter: key %q: the server does not have the command, want Redis 6.2 or later: %w", key, err)
	}
	if hint, ok := hints[code]; ok {
		return fmt.Errorf("redisfilter: key %q: %s: %w", key, hint, err)
	}
	return fmt.Errorf("redisfilter: key %q: %w", key, err)
}
