package redisbloom

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// commandStats returns how often a server has executed a command and how many
// microseconds that took.
func commandStats(t testing.TB, client *redis.Client, command string) (calls int, usec float64) {
	t.Helper()
	info, err := client.Info(bg, "commandstats").Result()
	require.NoError(t, err)
	for line := range strings.Lines(info) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_"+command+":"); ok {
			_, err := fmt.Sscanf(rest, "calls=%d,usec=%g", &calls, &usec)
			require.NoError(t, err)
		}
	}
	return calls, usec
}

func calls(t testing.TB, client *redis.Client, command string) int {
	t.Helper()
	n, _ := commandStats(t, client, command)
	return n
}

// lines returns the lines of what INFO answers.
func lines(info string) []string {
	return strings.Split(strings.ReplaceAll(info, "\r\n", "\n"), "\n")
}
