// Package onekey is what filters have in common that are one value of one Redis key and are
// changed by scripts alone: packages growing and window.
//
//   - Each script looks before it writes, and does the whole of what it does or nothing: see [Script].
//   - A handle is told when the key is gone or has gone back to an older value: see [Life] and [Slot].
//   - The bits of an element are in one block of 512: see [Block].
package onekey

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// MaxValue is how long a Redis string can be, in bytes.
const MaxValue = 512 << 20

// A Key is a filter's key in Redis, and the way to it.
type Key struct {
	Name   string
	Sender send.Sender
	Counts send.Counters

	pkg      string // for errors
	commands string
}

// New checks a name and a client. pkg is the package for errors; commands are those that a user
// must be allowed.
func New(pkg, commands string, client redis.UniversalClient, prefix, name string, replicas int, timeout time.Duration) (*Key, error) {
	if name == "" {
		return nil, fmt.Errorf("%w: empty name, want one for a Redis key", bloom.ErrInvalid)
	}
	sender, err := send.New(client, replicas, timeout)
	if err != nil {
		return nil, err
	}
	return &Key{Name: prefix + name, Sender: sender, pkg: pkg, commands: commands}, nil
}

// Read reads bytes [from, to) of the value; those that are missing are left out.
func (k *Key) Read(ctx context.Context, from, to uint64) (string, error) {
	k.Counts.RoundTrips.Add(1)
	return k.Sender.GetRange(ctx, k.Name, from, to-1)
}

// Run runs a script that may be executed twice.
func (k *Key) Run(ctx context.Context, s Script, args ...any) (any, error) {
	k.Counts.RoundTrips.Add(1)
	v, err := k.Sender.Do(ctx, k.call("EVALSHA", s.sha, args)...)
	if isMissing(err) {
		k.Counts.RoundTrips.Add(1)
		v, err = k.Sender.Do(ctx, k.call("EVAL", s.source, args)...)
	}
	return v, err
}

// Add runs a script that adds, which the client does not send again by itself, and has replicas
// confirm it: see [send.Sender.Confirmed]. The command is nil if ctx ended before a reply came.
// The error is the client's or the server's.
func (k *Key) Add(ctx context.Context, s Script, args []any) (reply string, command *send.Command, err error) {
	reply, command, err = k.addOnce(ctx, k.call("EVALSHA", s.sha, args))
	if isMissing(err) {
		reply, command, err = k.addOnce(ctx, k.call("EVAL", s.source, args))
	}
	return reply, command, err
}

func (k *Key) addOnce(ctx context.Context, call []any) (reply string, command *send.Command, err error) {
	cmd := redis.NewCmd(ctx, call...)
	command = &send.Command{Key: k.Name, Cmd: send.Once{Cmd: cmd}}
	k.Counts.RoundTrips.Add(1)
	if err := k.Sender.Add(ctx, []*send.Command{command}); err != nil {
		return "", nil, err
	}
	reply, err = cmd.Text()
	return reply, command, err
}

func (k *Key) call(verb, script string, args []any) []any {
	return append([]any{verb, script, 1, k.Name}, args...)
}

// isMissing reports whether the server does not know the script, and wants its source.
func isMissing(err error) bool {
	return err != nil && send.IsReply(err) && strings.HasPrefix(err.Error(), "NOSCRIPT ")
}

// Explain turns the refusals of scripts into the errors of package redisfilter, and adds to others
// what to do about them.
func (k *Key) Explain(l *Life, err error) error {
	if err == nil || !send.IsReply(err) {
		return send.Explain(k.Name, err)
	}
	code, _, _ := strings.Cut(err.Error(), " ")
	switch code {
	case SaysGone:
		return k.Lost(l, Gone)
	case SaysTaken:
		return k.Lost(l, Taken)
	case SaysOlder:
		return k.Lost(l, Older)
	case "NOPERM":
		return k.Errorf("the user's ACL must allow %s on it: %w", k.commands, err)
	}
	return send.Explain(k.Name, err)
}

// Errorf returns an error of the filter's package that names the key.
func (k *Key) Errorf(format string, args ...any) error {
	return fmt.Errorf(k.pkg+": key %q: "+format, append([]any{k.Name}, args...)...)
}

// Missing is the error for a key that is not there.
func (k *Key) Missing() error {
	return fmt.Errorf("%w: key %q: there is none: Open makes it", send.ErrLost, k.Name)
}

// Foreign is the error for a value that is no filter of the package.
func (k *Key) Foreign() error {
	return fmt.Errorf("%w: key %q holds something that is no filter of this package: choose another name, or delete the key", send.ErrMismatch, k.Name)
}

// Delete removes the filter of this life. Another one in its place is left alone.
func (k *Key) Delete(ctx context.Context, l *Life) error {
	if _, err := k.Run(ctx, scriptDelete, l.Epoch); err != nil {
		return k.Explain(l, err)
	}
	l.lost.Store(true)
	return nil
}
