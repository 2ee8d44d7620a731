package redisfilter

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Errors that callers match with errors.Is. Errors for parameters out of range wrap bloom.ErrInvalid, and for local
// filters with another layout bloom.ErrIncompatible. Errors of adds wrap bloom.ErrFull if a growing filter has reached
// its limit, or a generation has its n keys; then the error has the time when the next one begins. [AddError] lists the
// refused keys; all others get answers.
var (
	// ErrMismatch means that the name holds a filter with other parameters, or something that is not a filter of this
	// package. Nothing was changed.
	ErrMismatch = send.ErrMismatch

	// ErrLost means that keys were or may have been lost. The filter or one of its shards is gone (evicted, expired,
	// flushed, deleted, lost in a restart) or was made again by another process, or the server has gone back to an
	// older value, or too many handles add, see [WithHandles], so that the handle cannot know whether its adds are all
	// there. The text of the error says which. [Filter.Reopen] continues with the present value, or with an empty one.
	ErrLost = send.ErrLost

	// ErrUnknown means that some keys of an add have no answer, because replies were lost. [AddError] lists them, and
	// those of them that are in the filter.
	ErrUnknown = send.ErrUnknown

	// ErrReplicas means that fewer replicas than [WithWait] requires confirmed an add in time. The
	// answers are valid, but a failover may lose the keys. [AddError] lists them.
	ErrReplicas = send.ErrReplicas
)

// An AddError lists the keys of Add, AddMany or AddAll without an answer. The answers of all other keys are valid.
//
// A key in Unknown may be in the filter although no process got true for it. If no key may be lost, treat it as new;
// then some work may be done twice. If no work may be done twice, drop it. A key in Unknown that is not in Present can
// be added again; then the answer true is right.
type AddError struct {
	Unknown     []int // indices of keys that this call may or may not have added
	Present     []int // keys in Unknown that are in the filter; adding them again shows nothing
	Unconfirmed []int // indices of keys with an answer that too few replicas confirmed; with package bitmap, for which no TTL was set
	NotAdded    []int // indices of keys that this call has definitely not added; they can be added again
	Refused     []int // like NotAdded, but adding them again would fail: no room, another filter, or no permission
	Err         error // the cause
}

// Error returns the number of keys of each kind and the cause.
func (e *AddError) Error() string {
	var kinds []string
	for _, kind := range []struct {
		keys []int
		text string
	}{
		{e.Unknown[min(len(e.Present), len(e.Unknown)):], "may or may not have been added"},
		{e.Present, "in the filter, perhaps by this call"}, {e.Unconfirmed, "added but unconfirmed"}, {e.NotAdded, "not added"}, {e.Refused, "refused"},
	} {
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

// Unwrap returns the cause, and ErrUnknown if there are keys in Unknown.
func (e *AddError) Unwrap() []error {
	if len(e.Unknown) > 0 {
		return []error{e.Err, ErrUnknown}
	}
	return []error{e.Err}
}

// A fate is the result of a call for one key.
type fate uint8

const (
	notAdded    fate = iota // not added, or not looked up
	answered                // by the server or by the cache
	unknown                 // sent, but no reply came
	present                 // in the filter, but the reply that showed whether it was new is lost
	unconfirmed             // answered, but too few replicas confirmed it
	refused                 // not added, and adding it again would fail
)

// addError returns an AddError with the fates of keys, or nil if err is nil.
func addError(fates []fate, err error) error {
	if err == nil {
		return nil
	}
	failed := &AddError{Err: err}
	for i, fate := range fates {
		switch fate {
		case unknown:
			failed.Unknown = append(failed.Unknown, i)
		case present:
			failed.Unknown, failed.Present = append(failed.Unknown, i), append(failed.Present, i)
		case unconfirmed:
			failed.Unconfirmed = append(failed.Unconfirmed, i)
		case notAdded:
			failed.NotAdded = append(failed.NotAdded, i)
		case refused:
			failed.Refused = append(failed.Refused, i)
		}
	}
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

// joined wraps several errors. Its text is the given texts.
type joined struct {
	errs  []error
	texts []string
}

func (j joined) Error() string   { return strings.Join(j.texts, "; ") }
func (j joined) Unwrap() []error { return j.errs }
