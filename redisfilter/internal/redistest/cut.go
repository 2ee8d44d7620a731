package redistest

import (
	"context"
	"io"

	"github.com/redis/go-redis/v9"
)

// A Cut is a process that dies: of its commands, only so many reach the server. The reply
// to the last one is lost. Of a pipeline that is no transaction, the server may have got a
// part; of a transaction, all or nothing.
type Cut struct{ Left int }

// DialHook does nothing.
func (*Cut) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook counts a command.
func (c *Cut) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if c.Left--; c.Left < 0 {
			cmd.SetErr(io.EOF)
			return io.EOF
		}
		err := next(ctx, cmd)
		if c.Left == 0 {
			cmd.SetErr(io.EOF)
			return io.EOF
		}
		return err
	}
}

// ProcessPipelineHook counts those of a pipeline.
func (c *Cut) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		lose := func() error {
			for _, cmd := range cmds {
				cmd.SetErr(io.EOF)
			}
			return io.EOF
		}
		reach := len(cmds)
		if transaction := cmds[0].Name() == "multi"; transaction {
			if c.Left--; c.Left < 0 {
				reach = 0
			}
		} else if reach = max(0, min(reach, c.Left)); true {
			c.Left -= len(cmds)
		}
		var err error
		if reach > 0 {
			err = next(ctx, cmds[:reach])
		}
		if c.Left <= 0 {
			return lose()
		}
		return err
	}
}
