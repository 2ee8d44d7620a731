package send

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/seed3447c163/bloom"
)

const prefix = "redisfilter: "

// The errors of package redisfilter, which documents them.
var (
	ErrMismatch = errors.New(prefix + "not this filter")
	ErrLost     = errors.New(prefix + "filter lost")
	ErrUnknown  = errors.New(prefix + "keys may or may not have been added")
	ErrReplicas = errors.New(prefix + "too few replicas confirmed")
)

// An Error is what the packages of this module return. The name of package redisfilter stands once before its text,
// also if it wraps another Error. Within the packages, errors name neither that nor the key.
type Error struct {
	Key  string // in Redis, or ""
	Hint string // what the user can do, or ""
	Err  error
}

func (e *Error) Unwrap() error { return e.Err }

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

// Errorf returns an error of a kind.
func Errorf(kind error, text string, args ...any) error {
	return fmt.Errorf("%w: "+text, slices.Insert(args, 0, any(kind))...)
}

// WithKind returns an error of another kind with the text of err.
func WithKind(kind, err error) error { return fmt.Errorf("%w: %s", kind, Text(err)) }

// Text returns the text of an error without the name of its package.
func Text(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), prefix), "bloom: ")
}

// Reply returns the text of an error reply, of the server or of a proxy in front of it, or "".
func Reply(err error) string {
	if reply := redis.Error(nil); errors.As(err, &reply) && !errors.Is(err, redis.Nil) {
		return reply.Error()
	}
	return ""
}

// before are the codes of error replies that a server gives before it executes a command. A script
// of this module gives one of its own before it writes.
var before = []string{"ASK", "BUSY", "CLUSTERDOWN", "CROSSSLOT", "EXECABORT", "LOADING", "MASTERDOWN", "MISCONF", "MOVED",
	"NOAUTH", "NOPERM", "NOREPLICAS", "NOSCRIPT", "OOM", "READONLY", "TRYAGAIN", "WRONGPASS", "WRONGTYPE",
	Gone, Taken, Older, More}

// The codes of the scripts.
const (
	Gone  = "BLOOMGONE"  // the value is missing, another one, or cut short
	Taken = "BLOOMTAKEN" // the record has another tag
	Older = "BLOOMOLDER" // nothing shows that the value has every confirmed add
	More  = "BLOOMMORE"  // the filter has more layers than the handle knows
	Late  = "BLOOMLATE"  // the server has executed the add before
)

// inScript is how Redis 6.2 reports an error within a script.
var inScript = regexp.MustCompile(`@user_script: ?\d+: -?([A-Z]+) `)

// Code returns the code of an error reply, or "".
func Code(err error) string {
	reply := Reply(err)
	if found := inScript.FindStringSubmatch(reply); found != nil {
		return found[1]
	}
	// The user may not execute one of the script's commands: Redis 6.2 and 7.0, and later ones.
	if strings.Contains(reply, "The user executing the script") || strings.HasPrefix(reply, "ERR ACL failure in script") {
		return "NOPERM"
	}
	code, _, _ := strings.Cut(reply, " ")
	return code
}

// Refused reports whether err proves that the server refused the command before it executed it. An error reply that a
// proxy may have made is no proof.
func Refused(err error) bool {
	if slices.Contains(before, Code(err)) {
		return true
	}
	return strings.HasPrefix(Reply(err), "ERR unknown command") || strings.HasPrefix(Reply(err), "ERR max number of clients")
}

// raised is what a server adds to the error of a command in a script, from Redis 7.0 on and before.
var raised = regexp.MustCompile(`script: [0-9a-f]{40}|call to f_[0-9a-f]{40}`)

// Raised reports whether err is the error of a script, which no proxy can have made.
func Raised(err error) bool { return raised.MatchString(Reply(err)) }

// momentary reports whether a server or a cluster refuses commands for a moment.
func momentary(err error) bool {
	return slices.Contains([]string{"CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY", "TRYAGAIN"}, Code(err)) ||
		strings.HasPrefix(Reply(err), "ERR max number of clients")
}

// Final reports whether err says that the command would fail again, whatever the server and its replicas do.
func Final(err error) bool {
	return errors.Is(err, ErrMismatch) || errors.Is(err, bloom.ErrFull) || errors.Is(err, redis.ErrClosed) ||
		slices.Contains([]string{"WRONGTYPE", "NOPERM", "NOAUTH", "WRONGPASS"}, Code(err)) || strings.HasPrefix(Reply(err), "ERR unknown command")
}

// As returns a reply, which must be a T.
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

// hints say what to do about an error reply, by its code.
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

// trailer is what a server adds to the error of a command in a script.
var trailer = regexp.MustCompile(` script: [0-9a-f]{40}, on @user_script:\d+\.$`)

// A plain is an error reply without the trailer and without a traceback.
type plain struct{ error }

func (p plain) Error() string {
	text, _, _ := strings.Cut(p.error.Error(), " stack traceback:")
	return trailer.ReplaceAllString(text, "")
}
func (p plain) Unwrap() error { return p.error }

// Explain names the key in an error that does not name one, and adds what the user can do.
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
