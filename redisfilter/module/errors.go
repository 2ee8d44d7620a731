package module

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// commands are all that this package sends.
const commands = "BF.INFO, BF.INSERT, BF.MEXISTS, BF.RESERVE and BF.SCANDUMP, with an expiry and for Push EXEC, EXISTS, MULTI, PEXPIRE, UNWATCH and WATCH, for Delete EXEC, MULTI, UNLINK, UNWATCH and WATCH, and for Push BF.LOADCHUNK, PERSIST, RENAME and UNLINK"

// explain adds what the user can do.
func (f *Filter) explain(err error) error {
	switch {
	case err == nil || errors.Is(err, redisfilter.ErrMismatch):
		return err
	case send.IsReply(err) && strings.HasPrefix(err.Error(), "ERR unknown command"):
		return fmt.Errorf("redisfilter: key %q: the server does not have the RedisBloom module: load it, or use redisfilter.Open: %w", f.name, err)
	case send.IsReply(err) && strings.Contains(err.Error(), "not found"):
		f.counts.Lost.Add(1)
		return fmt.Errorf("%w: key %q: it was evicted, expired, flushed or deleted; its keys are forgotten: Open makes an empty one: %w", redisfilter.ErrLost, f.name, err)
	case send.IsReply(err) && strings.HasPrefix(err.Error(), "WRONGTYPE"):
		return fmt.Errorf("%w: key %q holds no filter of the module: choose another name, or delete the key: %w", redisfilter.ErrMismatch, f.name, err)
	case send.IsReply(err) && strings.HasPrefix(err.Error(), "NOPERM "):
		return fmt.Errorf("redisfilter: key %q: the user's ACL must allow %s: %w", f.name, commands, err)
	case strings.HasPrefix(err.Error(), "redisfilter: "):
		return err
	case isFull(err):
		return fmt.Errorf("%w: key %q: it does not scale: open one with a larger n: %w", redisfilter.ErrFull, f.name, err)
	}
	return send.Explain(f.name, err)
}
