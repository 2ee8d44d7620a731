package redisfilter

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
	"github.com/stretchr/testify/require"
)

// user returns a client of a user that may execute these commands, on the keys of a
// filter called f.
func user(t *testing.T, s *server, name string, commands []string) *redis.Client {
	t.Helper()
	args := []any{"ACL", "SETUSER", name, "on", ">secret", "-@all", "~f", "~f:*", "~{f}:*"}
	for _, c := range commands {
		args = append(args, "+"+strings.ToLower(c))
	}
	require.NoError(t, s.Client.Do(bg, args...).Err())
	client := redis.NewClient(&redis.Options{Addr: s.Addr, Username: name, Password: "secret"})
	t.Cleanup(func() { client.Close() })
	return client
}

// everything does all that a filter called f can do.
func everything(client *redis.Client, s *server, opts ...Option) error {
	f, err := Open(bg, client, "f", 1000, 0.01, opts...)
	if err != nil {
		return err
	}
	local, err := f.NewLocal()
	if err != nil {
		return err
	}
	_, addErr := addEach(bg, f, keysOf(0, 10))
	if errors.Is(addErr, ErrReplicas) && !strings.Contains(addErr.Error(), "NOPERM") { // there are none to confirm
		addErr = nil
	}
	_, containsErr := askEach(bg, f, keysOf(0, 10))
	_, infoErr := f.Info(bg)
	err = errors.Join(addErr, containsErr, infoErr, f.Push(bg, local.Filters()...), f.Merge(bg, local.Filters()...), f.Pull(bg, local.Filters()...))
	if err != nil {
		return err
	}
	s.Client.Del(bg, "f")
	if _, err := addEach(bg, f, keysOf(0, 100)); !errors.Is(err, ErrLost) {
		return fmt.Errorf("lost, but %w", err)
	}
	s.Client.Set(bg, "f", orphan, 0)
	return errors.Join(f.Reopen(bg), f.Delete(bg))
}

// TestCommandsOfAUser: a user that may execute what the hint names, and nothing else, can
// do everything; and there is nothing in it that is not needed.
func TestCommandsOfAUser(t *testing.T) {
	s := startServer(t)
	named := strings.Fields(strings.NewReplacer(",", "", " and", "").Replace(send.Commands))
	client := user(t, s, "all", named)
	for _, opts := range [][]Option{nil, {WithTTL(time.Hour)}, {WithShards(3)}, {WithWait(1, time.Millisecond)}} {
		require.NoError(t, everything(client, s, opts...))
		require.Zero(t, s.Client.DBSize(bg).Val())
	}
	for i, c := range named {
		if c == "UNWATCH" {
			require.Positive(t, calls(t, s.Client, "unwatch"))
			continue // that it failed is not returned
		}
		s.Client.FlushAll(bg)
		rest := append(append([]string{}, named[:i]...), named[i+1:]...)
		client := user(t, s, "no"+c, rest)
		err := errors.Join(everything(client, s, WithTTL(time.Hour)), everything(client, s, WithWait(1, time.Millisecond)))
		require.ErrorContains(t, err, "the user's ACL must allow "+send.Commands+" on", c)
	}
}
