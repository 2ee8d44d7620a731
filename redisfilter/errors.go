package redisfilter

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Errors that callers match with errors.Is. Parameters out of range wrap bloom.ErrInvalid, local filters with another
// layout bloom.ErrIncompatible. Adds wrap bloom.ErrFull if a growing filter has reached its limit, or a generation of a
// window has its n keys; the error says when the next one begins. All other keys get answers. [AddError] lists the
// refused ones.
var (
	// ErrMismatch means that the key holds something else: a filter with other parameters, or no
	// filter of this package. Nothing was changed.
	ErrMismatch = send.ErrMismatch

	// ErrLost means that the filter or one of its shards is gone (evicted, expired, flushed, deleted, lost in a
	// restart), was made anew by another process, or that nothing shows that it has every add that was confirmed to
	// this handle: the server has gone back to an older value, or more handles add than the filter is for, see
	// [WithHandles]. Keys are forgotten, or may be; the error says what is known. [Filter.Reopen] continues with the
	// value that is there, or with an empty one.
	ErrLost = send.ErrLost

	// ErrUnknown means that some keys of an add have no answer, because replies were lost. [AddError] lists them, and
	// says which of them are in the filter.
	ErrUnknown = send.ErrUnknown

	// ErrReplicas means that fewer replicas than [WithWait] requires confirmed an add in time. The
	// answers are valid, but a failover may lose the keys. [AddError] lists them.
	ErrReplicas = send.ErrReplicas
)

// An AddError lists the keys of Add, AddMany or AddAll without an answer. The answers of all other keys are valid.
//
// A key of Unknown may be in the filter although no process was told that it is new. If no key may be lost, treat it as
// new, at the risk that some work is done twice. If no work may be done twice, drop it. A key of Unknown that is not in
// Present can be added again, and then the answer true is right.
type AddError struct {
	Unknown     []int // indices of keys that this call may or may not have added
	Present     []int // those of Unknown that are in the filter; adding them again tells nothing
	Unconfirmed []int // indices of keys that were added and have an answer, but are on too few replicas; of package bitmap, have no TTL
	NotAdded    []int // indices of keys that this call has definitely not added; they can be added again
	Refused     []int // as NotAdded, but adding them again does not help: no room, another filter, or no permission
	Err         error // the cause
}

// Error counts the keys of each kind and names the cause.
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

// Unwrap returns the cause, and ErrUnknown if there are such keys.
func (e *AddError) Unwrap() []error {
	if len(e.Unknown) > 0 {
		return []error{e.Err, ErrUnknown}
	}
	return []error{e.Err}
}

// A fate is what has become of a key.
type fate uint8

const (
	notAdded    fate = iota // or not looked up
	answered                // by the server or by the cache
	unknown                 // it was sent to be added, and no answer came
	present                 // it is in the filter, but a reply is lost that would have told whether it was new
	unconfirmed             // it has an answer, but too few replicas have it
	refused                 // it was not added, and adding it again would not help
)

// addError lists the fates of keys in an AddError, unless err is nil.
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

// causes collects the errors of shards. Equal ones become one.
type causes []cause

type cause struct {
	err    error
	text   string
	first  string // of the shards
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

// err returns nil, or an error with the texts of the first causes that wraps all of them.
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

// joined are errors with their texts.
type joined struct {
	errs  []error
	texts []string
}

func (j joined) Error() string   { return strings.Join(j.texts, "; ") }
func (j joined) Unwrap() []error { return j.errs }
