package redistest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// CommandStats returns how often a server has executed a command and how many
// microseconds that took.
func CommandStats(t testing.TB, client *redis.Client, command string) (calls int, usec float64) {
	t.Helper()
	info, err := client.Info(context.Background(), "commandstats").Result()
	require.NoError(t, err)
	for line := range strings.Lines(info) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_"+command+":"); ok {
			_, err := fmt.Sscanf(rest, "calls=%d,usec=%g", &calls, &usec)
			require.NoError(t, err)
		}
	}
	return calls, usec
}

// Calls returns how often a server has executed a command.
func Calls(t testing.TB, client *redis.Client, command string) int {
	t.Helper()
	n, _ := CommandStats(t, client, command)
	return n
}

// Lines returns the lines of what INFO answers.
func Lines(info string) []string {
	return strings.Split(strings.ReplaceAll(info, "\r\n", "\n"), "\n")
}
