package bloom

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestResidentMemory: a large filter with few keys takes the memory that its keys touch, and after it
// the heap's pages are as after any large slice: slices of which one byte is written take as much.
func TestResidentMemory(t *testing.T) {
	const variable, words, limit = "BLOOM_TEST_RESIDENT", 7 << 24, 20 << 20
	switch os.Getenv(variable) {
	case "filter":
		f := must(newWithParams(Params{M: 64 * words, K: 7}))
		addKeys(f, 200)
		reportResident(t, f)
	case "slice":
		s := make([]uint64, words)
		s[words/2] = 1
		reportResident(t, s)
	default:
		var during, after [2]int
		for i, what := range []string{"filter", "slice"} {
			cmd := exec.Command(os.Args[0], "-test.run=^TestResidentMemory$") // a process without other tests
			cmd.Env = append(os.Environ(), variable+"="+what)
			out, err := cmd.Output()
			require.NoError(t, err, "%s", out)
			_, err = fmt.Sscan(string(out), &during[i], &after[i])
			require.NoError(t, err, "%s", out)
		}
		require.Less(t, during[0], during[1]+limit, "bytes resident with 200 keys")
		require.Less(t, after[0], after[1]+limit, "bytes resident afterwards")
	}
}

// reportResident prints the bytes that are resident while the object is there, and those of ordinary
// slices after it.
func reportResident(t *testing.T, object any) {
	resident := func() int {
		var total, pages int
		_, err := fmt.Sscan(string(must(os.ReadFile("/proc/self/statm"))), &total, &pages)
		require.NoError(t, err)
		return pages * os.Getpagesize()
	}
	fmt.Print(resident(), " ")
	runtime.KeepAlive(object)
	object = nil
	debug.FreeOSMemory()
	var list [200][]byte
	for i := range list {
		list[i] = make([]byte, 4<<20)
		list[i][5] = 1
	}
	fmt.Println(resident())
	runtime.KeepAlive(list)
}
