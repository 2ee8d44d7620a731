package redisfilter

import (
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// onLost marks an incarnation as lost and returns the error.
func (f *handle) onLost(v *incarnation, how string) error {
	if v != nil && !v.lost.Swap(true) {
		f.sender.Counts.Lost.Add(1)
	}
	return send.Errorf(ErrLost, "%s. Call Reopen", how)
}

// The ways in which a filter is lost.
const (
	isGone  = "value missing, replaced or truncated, or it has no record of this handle; keys were lost"
	isOlder = "nothing shows that the server has every add of this handle: it went back to an older value (failover, restart or " +
		"restore), or gave the handle's slot away twice; keys were lost"
)

// refused turns the refusal of a script into an error of this package, and marks a lost incarnation.
func (f *handle) refused(v *incarnation, err error) error {
	switch send.Code(err) {
	case send.Gone:
		return f.onLost(v, isGone)
	case send.Older:
		return f.onLost(v, isOlder)
	}
	return err
}
