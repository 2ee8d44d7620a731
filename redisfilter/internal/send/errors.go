package send

import (
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/seed3447c163/bloom"
)

const prefix = "redisfilter: "

// The sentinel errors that package redisfilter documents.
var (
	ErrMismatch = errors.New(prefix + "not this filter")
	ErrLost     = errors.New(prefix + "filter lost")
	ErrRefused  = errors.New(prefix + "refused")
	ErrReplicas = errors.New(prefix + "too few replicas confirmed")
)

// An Error is an error of an exported function of this module. Its text begins with "redisfilter: ", once even if it
// wraps another Error. Errors within the packages have neither this prefix nor the key.
type Error struct {
	Key  string // key in Redis, or ""
	Hint string // the remedy, or ""
	Err  error
}

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is ErrRefused and the same call would fail again.
func (e *Error) Is(target error) bool { return target == ErrRefused && Final(e.Err) }

func (e *Error) Error() string {
	text := Text(e.Err)
	if e.Hint != "" {
		text = e.Hint + ": " + text
	}
	if e.Key != "" {
		text = fmt.Sprintf("key %q: %s", e.Key, text)
	}
	return prefix + text
}

// Errorf returns an error that wraps kind. Its text is kind's text followed by the formatted text.
func Errorf(kind error, text string, args ...any) error {
	return fmt.Errorf("%w: "+text, slices.Insert(args, 0, any(kind))...)
}

// WithKind returns an error that wraps kind and has the text of err, but does not wrap err.
func WithKind(kind, err error) error { return fmt.Errorf("%w: %s", kind, Text(err)) }

// Text returns the text of an error without the prefix of its package.
func Text(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), prefix), "bloom: ")
}

// Reply returns the text if err is an error reply of the server or of a proxy in front of it, otherwise "".
func Reply(err error) string {
	if reply := redis.Error(nil); errors.As(err, &reply) && !errors.Is(err, redis.Nil) {
		return reply.Error()
	}
	return ""
}

// before lists the codes of error replies that a server returns before it executes a command, and the codes that a
// script of this module returns before it writes.
var before = []string{"ASK", "BUSY", "CLUSTERDOWN", "CROSSSLOT", "EXECABORT", "LOADING", "MASTERDOWN", "MISCONF", "MOVED",
	"NOAUTH", "NOPERM", "NOREPLICAS", "NOSCRIPT", "OOM", "READONLY", "TRYAGAIN", "WRONGPASS", "WRONGTYPE",
	Gone, Older, More}

// The codes of the scripts.
const (
	Gone  = "BLOOMGONE"  // the value is missing, replaced or truncated
	Older = "BLOOMOLDER" // the value has fewer layers than the handle has seen
	More  = "BLOOMMORE"  // the value has more layers, or a later generation, than the command assumes
)

// inScript matches the error of a command within a script in Redis 6.2, and captures its code.
var inScript = regexp.MustCompile(`@user_script: ?\d+: -?([A-Z]+) `)

// Code returns the code of an error reply, or "".
func Code(err error) string {
	reply := Reply(err)
	if found := inScript.FindStringSubmatch(reply); found != nil {
		return found[1]
	}
	// The user has no permission for a command of the script. The first text is from Redis 6.2 and 7.0, the second from
	// later versions.
	if strings.Contains(reply, "The user executing the script") || strings.HasPrefix(reply, "ERR ACL failure in script") {
		return "NOPERM"
	}
	code, _, _ := strings.Cut(reply, " ")
	return code
}

// Refused reports whether err proves that the server did not execute the command. An error reply that may come from a
// proxy is no proof.
func Refused(err error) bool {
	if slices.Contains(before, Code(err)) {
		return true
	}
	return strings.HasPrefix(Reply(err), "ERR unknown command") || strings.HasPrefix(Reply(err), "ERR max number of clients")
}

// raised matches the text that a server adds to an error within a script: first in Redis 7.0 and later, then in earlier
// versions.
var raised = regexp.MustCompile(`script: [0-9a-f]{40}|call to f_[0-9a-f]{40}`)

// Raised reports whether err is an error within a script. Such an error cannot come from a proxy.
func Raised(err error) bool { return raised.MatchString(Reply(err)) }

// Broken reports whether err means that the connection has ended, and not that a time limit has passed.
func Broken(err error) bool {
	if network := net.Error(nil); errors.As(err, &network) {
		return !network.Timeout()
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// momentary reports whether err is a refusal that usually lasts only a moment.
func momentary(err error) bool {
	return slices.Contains([]string{"CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY", "TRYAGAIN"}, Code(err)) ||
		strings.HasPrefix(Reply(err), "ERR max number of clients")
}

// Final reports whether the command would fail again until somebody changes the parameters, the client or the
// permissions.
func Final(err error) bool {
	return errors.Is(err, ErrMismatch) || errors.Is(err, bloom.ErrFull) || errors.Is(err, redis.ErrClosed) ||
		slices.Contains([]string{"WRONGTYPE", "NOPERM", "NOAUTH", "WRONGPASS"}, Code(err)) || strings.HasPrefix(Reply(err), "ERR unknown command")
}

// As returns a reply as a T, or an error if it is not a T.
func As[T any](reply any) (T, error) {
	v, ok := reply.(T)
	if !ok {
		return v, fmt.Errorf("a reply of type %T, want %T", reply, v)
	}
	return v, nil
}

// Commands are the commands that a redisfilter.Filter sends. A cluster client also sends ClusterCommands.
const (
	Commands        = "BITCOUNT, BITFIELD_RO, BITOP, EVAL, EVALSHA, EXISTS, GETRANGE, PEXPIREAT, SETRANGE, TIME, UNLINK and WAIT"
	ClusterCommands = "ASKING and CLUSTER|SLOTS"
)

// hints has remedies for error replies, by code.
var hints = map[string]string{
	"OOM":         "the server is at maxmemory: raise it, or give the filter a server of its own",
	"READONLY":    "the server is a replica: connect to the primary, through Sentinel or Cluster if it moves",
	"NOREPLICAS":  "min-replicas-to-write holds writes back: bring the replicas up and add again",
	"MISCONF":     "the server cannot save to disk and holds writes back: see its log",
	"LOADING":     "the server is reading its data after a start: add again in a moment",
	"MASTERDOWN":  "the replica has lost its primary: wait for the failover",
	"CLUSTERDOWN": "the cluster is incomplete: wait for the failover",
	"NOPERM": "the ACL of the user must allow " + Commands + ", in a cluster also " + ClusterCommands +
		", on the keys f, f:* and {f}:* if f is the filter's name",
	"NOAUTH":   "the server wants a password",
	"TRYAGAIN": "the key's cluster slot is being moved: try again when it has moved",
}

// trailer matches the name of the script that Redis appends to an error within the script.
var trailer = regexp.MustCompile(` script: [0-9a-f]{40}, on @user_script:\d+\.$`)

// A plain is an error reply. Its text leaves out the name of the script and a traceback.
type plain struct{ error }

func (p plain) Error() string {
	text, _, _ := strings.Cut(p.error.Error(), " stack traceback:")
	return trailer.ReplaceAllString(text, "")
}
func (p plain) Unwrap() error { return p.error }

// Explain adds the key and the remedy to an error that has no key.
func Explain(key string, err error) error {
	if e, ok := err.(*Error); err == nil || ok && e.Key != "" {
		return err
	}
	hint := hints[Code(err)]
	switch {
	case Code(err) == "WRONGTYPE":
		err = Errorf(ErrMismatch, "no string; choose another name, or delete the key: %w", err)
	case strings.Contains(Reply(err), "nonexistent global variable"):
		hint = "the server's Lua lacks a library that Redis and Valkey have"
	case strings.HasPrefix(Reply(err), "ERR unknown command"):
		hint = "the server does not have the command, want Redis 6.2 or later with scripts"
	}
	return &Error{key, hint, err}
}
