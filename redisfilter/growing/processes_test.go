package growing

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

const (
	processKeys  = 8000 // four layers
	processBatch = 40
	processEnv   = "GROWING_TEST_PROCESS"
)

// TestProcesses has processes of their own add the same keys in different orders, and kills one of
// them halfway: each key has one winner, except those whose winner was killed before it could say
// so: at most the keys of one batch.
func TestProcesses(t *testing.T) {
	s := redistest.Start(t)
	won := make(map[int]int)
	said := make(chan int, 1000)
	ended := make(chan error)
	const processes = 4
	for i := range processes {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcess$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", processEnv, s.Addr, i))
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { cmd.Process.Kill() })
		go func() {
			batches := 0
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				if batches++; i == 0 && batches == 50 {
					cmd.Process.Kill()
				}
				if text, ok := strings.CutPrefix(lines.Text(), "won"); ok {
					for _, word := range strings.Fields(text) {
						k, _ := strconv.Atoi(word)
						said <- k
					}
				}
			}
			if err := cmd.Wait(); i > 0 {
				ended <- err
			} else {
				ended <- nil
			}
		}()
	}
	for left := processes; left > 0; {
		select {
		case k := <-said:
			won[k]++
		case err := <-ended:
			require.NoError(t, err)
			left--
		}
	}
	for len(said) > 0 {
		won[<-said]++
	}
	for k, times := range won {
		require.Equal(t, 1, times, "key %d", k)
	}
	t.Logf("%d of %d keys have a winner", len(won), processKeys)
	require.GreaterOrEqual(t, len(won), processKeys-processBatch)
	f := open(t, s.Client, 1024, 1e-9)
	found, err := f.ContainsMany(bg, keysOf(0, processKeys), nil)
	require.NoError(t, err)
	require.Equal(t, processKeys, found)
	require.EqualValues(t, 4, f.life.Load().layers.Load())
}

// TestProcess is one of the processes.
func TestProcess(t *testing.T) {
	addr, number, ok := strings.Cut(os.Getenv(processEnv), " ")
	if !ok {
		return // it is run by TestProcesses
	}
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	f := open(t, client, 1024, 1e-9)
	seed, err := strconv.ParseUint(number, 10, 64)
	require.NoError(t, err)
	order := rand.New(rand.NewPCG(1, seed)).Perm(processKeys)
	for i := 0; i < len(order); i += processBatch {
		batch := make([][]byte, processBatch)
		for j := range batch {
			batch[j] = keyOf(order[i+j])
		}
		added := make([]bool, len(batch))
		_, err := f.AddMany(bg, batch, added)
		require.NoError(t, err)
		line := "won"
		for j, yes := range added {
			if yes {
				line += fmt.Sprint(" ", order[i+j])
			}
		}
		fmt.Println(line)
	}
}
