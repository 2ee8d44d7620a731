package redistest

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// A Hook is called when a client sends one command or a pipeline. It must call the function send, which sends them and
// waits for the replies.
type Hook func(cmds []redis.Cmder, send func() error) error

// DialHook does nothing.
func (Hook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook passes a single command to the hook.
func (h Hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return h([]redis.Cmder{cmd}, func() error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook passes the commands of a pipeline to the hook.
func (h Hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return h(cmds, func() error { return next(ctx, cmds) })
	}
}
