package redisfilter

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Errors that callers match with errors.Is. Errors for parameters out of range wrap bloom.ErrInvalid. Errors for local
// filters with another layout wrap bloom.ErrIncompatible. Errors of adds wrap bloom.ErrFull if a growing filter has
// reached its limit, or if a generation has its n keys; the text then names the time when the next generation begins.
var (
	// ErrMismatch means that the name holds a filter with other parameters, or something that is not a filter of this
	// package. Nothing was changed.
	ErrMismatch = send.ErrMismatch

	// ErrLost means that the filter or one of its shards is gone (evicted, flushed, deleted, lost in a restart) or was
	// created again by another process. Calls that notice the loss return the error. Later calls use the present value.
	// If there is none, the next add creates it, and lookups return ErrLost until then. A filter that [WithTTL] lets
	// expire is not lost. Writes that the server forgets in a crash or a failover are not noticed if the filter is
	// still there: see README.md for how to configure the server.
	ErrLost = send.ErrLost

	// ErrRefused means that the same call would fail again: there is no room, the name holds something else, the server
	// does not permit it, or the client is closed. Errors that are neither ErrRefused nor ErrLost may pass: call again
	// with the same keys.
	ErrRefused = send.ErrRefused
)

// An AddError is the error of Add and AddMany. The answers are safe to act on: true means that the key is new, or may
// be new because the reply was lost. To process each key at least once, process every key whose answer is true, even
// after an error, and then add the same keys again. To process each key at most once, do the same but skip the keys in
// Unsure.
type AddError struct {
	Unsure   []int // indices of keys with the answer true that others may win, too: no reply, or too few replicas
	NotAdded []int // indices of keys with the answer false that this call has not added
	Err      error // the cause
}

// Error returns the number of keys of each kind and the cause.
func (e *AddError) Error() string {
	var kinds []string
	for _, kind := range []struct {
		keys []int
		text string
	}{{e.Unsure, "perhaps added"}, {e.NotAdded, "not added"}} {
		switch len(kind.keys) {
		case 0:
		case 1:
			kinds = append(kinds, "1 key "+kind.text)
		default:
			kinds = append(kinds, fmt.Sprintf("%d keys %s", len(kind.keys), kind.text))
		}
	}
	text := send.Text(cmp.Or(e.Err, errNoCause))
	if len(kinds) > 0 {
		text = strings.Join(kinds, ", ") + ": " + text
	}
	return "redisfilter: " + text
}

var errNoCause = errors.New("no cause")

// Unwrap returns the cause.
func (e *AddError) Unwrap() error { return e.Err }

// Is reports whether target is ErrRefused and the same call would fail again.
func (e *AddError) Is(target error) bool { return target == ErrRefused && send.Final(e.Err) }

// A fate is the result of a call for one key.
type fate uint8

const (
	notAdded    fate = iota // not added, or not looked up
	answered                // by the server or by the cache
	unsure                  // sent, but no reply came
	unconfirmed             // answered, and new, but too few replicas have it
	refused                 // not added, and another attempt would fail
)

// addError returns an AddError with the fates of keys, or nil if err is nil.
func (f *handle) addError(fates []fate, err error) error {
	if err == nil {
		return nil
	}
	failed := &AddError{Err: err}
	for i, fate := range fates {
		switch fate {
		case unsure, unconfirmed:
			failed.Unsure = append(failed.Unsure, i)
		case notAdded, refused:
			failed.NotAdded = append(failed.NotAdded, i)
		}
	}
	f.sender.Counts.Unsure.Add(uint64(len(failed.Unsure)))
	return failed
}

// causes collects the errors of shards, and merges those with the same text.
type causes []cause

type cause struct {
	err    error
	text   string
	first  string // the first shard
	shards map[string]bool
}

func (c *causes) note(shard string, err error) {
	if err == nil {
		return
	}
	text := send.Text(err)
	for _, known := range *c {
		if known.text == text {
			known.shards[shard] = true
			return
		}
	}
	*c = append(*c, cause{err, text, shard, map[string]bool{shard: true}})
}

func (c *causes) add(more causes) {
	for _, cause := range more {
		c.note(cause.first, cause.err)
		for shard := range cause.shards {
			c.note(shard, cause.err)
		}
	}
}

// err returns an error that wraps all causes and has the texts of the first three, or nil.
func (c causes) err() error {
	const most = 3
	if len(c) == 0 {
		return nil
	}
	var all joined
	for i, cause := range c {
		err := send.Explain(cause.first, cause.err)
		all.errs = append(all.errs, err)
		if i >= most {
			continue
		}
		text := send.Text(err)
		if n := len(cause.shards); n > 1 {
			text = fmt.Sprintf("%d shards, one of them: %s", n, text)
		}
		all.texts = append(all.texts, text)
	}
	if others := len(c) - most; others > 0 {
		all.texts = append(all.texts, fmt.Sprintf("and %d other errors", others))
	}
	return &send.Error{Err: all}
}

// joined wraps the errors errs. Its text is made of texts, which may summarize some of them.
type joined struct {
	errs  []error
	texts []string
}

func (j joined) Error() string   { return strings.Join(j.texts, "; ") }
func (j joined) Unwrap() []error { return j.errs }
