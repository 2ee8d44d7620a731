package redisfilter

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// TestScriptHeads: the head of each script names the arguments that it uses, and no others.
func TestScriptHeads(t *testing.T) {
	files, err := filepath.Glob("scripts/*.lua")
	require.NoError(t, err)
	require.Len(t, files, 3)
	argument := regexp.MustCompile(`(?:KEYS|ARGV)\[\d+\]`)
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		head, code := map[string]bool{}, map[string]bool{}
		inHead := true
		for line := range strings.Lines(string(b)) {
			inHead = inHead && strings.HasPrefix(line, "--")
			for _, name := range argument.FindAllString(line, -1) {
				if inHead {
					head[name] = true
				} else if !strings.HasPrefix(strings.TrimSpace(line), "--") {
					code[name] = true
				}
			}
		}
		require.NotEmpty(t, head, file)
		require.Equal(t, head, code, file)
	}
}

// TestScriptsOfAServer: filters of many sizes and kinds leave three scripts on the server.
func TestScriptsOfAServer(t *testing.T) {
	ctx, s := context.Background(), redistest.Start(t)
	for i := range 600 {
		opts := [][]Option{nil, {WithGrowth()}, {WithGenerations(time.Duration(i+1)*time.Minute, 1+i%16)}}[i%3]
		f, err := Open(ctx, s.Client, fmt.Sprint(i), uint64(100+i), 1/float64(10+i*i), opts...)
		require.NoError(t, err)
		_, err = f.Add(ctx, []byte("key"))
		require.NoError(t, err)
		if i%3 == 0 {
			local, err := f.Local(ctx)
			require.NoError(t, err)
			require.NoError(t, f.Merge(ctx, local))
		}
		require.NoError(t, f.Delete(ctx))
	}
	require.Contains(t, s.Client.Info(ctx, "memory").Val(), "number_of_cached_scripts:3\r\n")
}

// TestReplyTypes: a reply of another type than expected is an error that is no loss, and never taken for an answer.
func TestReplyTypes(t *testing.T) {
	defer RepeatFor(0)()
	ctx, s := context.Background(), redistest.Start(t)
	for _, reply := range []any{int64(7), "text", "", []any{}, []any{"a", nil}, nil, true} {
		var odd bool
		client := redistest.Connect(t, &redis.Options{Addr: s.Addr})
		f, err := Open(ctx, client, "f", 1000, 0.01, WithCache(0))
		require.NoError(t, err)
		client.AddHook(oddReplies(&odd, reply))
		odd = false
		_, err = f.Add(ctx, []byte("a"))
		require.NoError(t, err)
		odd = true
		_, added := f.Add(ctx, []byte("b"))
		deleted := f.Delete(ctx)
		_, joined := Join(ctx, client, "f")
		_, err = Open(ctx, client, "f", 1000, 0.01)
		for what, err := range map[string]error{"add": added, "delete": deleted, "join": joined, "open": err} {
			if _, isNumber := reply.(int64); isNumber && what == "delete" || reply == "" && what == "join" {
				continue // possible replies
			}
			require.Error(t, err, "%s: %v", what, reply)
			require.NotErrorIs(t, err, ErrLost, "%s: %v", what, reply)
		}
		odd = false
		require.NoError(t, s.Client.FlushAll(ctx).Err())
		require.NoError(t, client.Close())
	}
}

// oddReplies gives single commands of a client another reply while odd is set.
func oddReplies(odd *bool, reply any) redistest.Hook {
	return func(cmds []redis.Cmder, do func() error) error {
		err := do()
		cmd := cmds[0]
		if once, ok := cmd.(send.Once); ok {
			cmd = once.Cmder
		}
		if cmd, ok := cmd.(*redis.Cmd); ok && *odd && err == nil {
			cmd.SetVal(reply)
		}
		return err
	}
}

// TestCauses: equal errors of many shards are one line.
func TestCauses(t *testing.T) {
	ctx, s := context.Background(), redistest.Start(t)
	f, err := Open(ctx, s.Client, "f", 1000, 0.01, WithShards(300))
	require.NoError(t, err)
	require.NoError(t, s.Client.FlushAll(ctx).Err())
	_, err = f.ContainsMany(ctx, redistest.KeysOf(0, 4000), nil)
	require.ErrorIs(t, err, ErrLost)
	require.Contains(t, err.Error(), "300 shards, one of them: ")
	require.Less(t, len(err.Error()), 300)
	n, err := f.AddMany(ctx, redistest.KeysOf(0, 4000), nil) // goes on
	require.NoError(t, err)
	require.InDelta(t, 4000, n, 300)

	// An error that is not printed is matched all the same.
	var many causes
	for i := range 5 {
		many.note("f", fmt.Errorf("cause %d", i))
	}
	many.note("f", send.Errorf(ErrLost, isGone))
	err = f.handle().addError([]fate{notAdded}, many.err())
	require.ErrorIs(t, err, ErrLost)
	require.ErrorContains(t, err, "and 3 other errors")
	require.Equal(t, 1, strings.Count(err.Error(), "redisfilter: "))
}
