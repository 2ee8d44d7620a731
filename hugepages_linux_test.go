package bloom

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestHugePages: the pages change and the bits do not, also while keys are added, and nothing is left afterwards.
func TestHugePages(t *testing.T) {
	const n, keys = 30_000_000, 100_000 // 34 MiB
	f, want := must(New(n, 0.01)), must(New(n, 0.01))
	var wg testkit.Group
	wg.Go(func() { addKeys(f, keys) })
	err := f.HugePages()
	wg.Wait()
	addKeys(want, keys)
	require.True(t, f.Equal(want))
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOMEM) { // in pieces
		t.Skipf("NOT TESTED on this system: %v", err)
	}
	require.NoError(t, err)
	require.Positive(t, hugeBytes(t), "bytes in huge pages: the kernel leaves pages that somebody uses at that moment")
	require.NoError(t, f.HugePages(), "again")
	require.NoError(t, must(New(10, 0.01)).HugePages(), "less than a page")
	require.ErrorIs(t, new(BloomFilter).HugePages(), ErrInvalid)
}

// TestHugePagesOfMappedFile: an error that says why, and the filter works as before.
func TestHugePagesOfMappedFile(t *testing.T) {
	const size = 8 << 20
	file := must(os.Create(testkit.TempDir(t) + "/bits"))
	t.Cleanup(func() { _ = file.Close() })
	require.NoError(t, file.Truncate(size))
	data := must(syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED))
	t.Cleanup(func() { _ = syscall.Munmap(data) })
	s := must(NewSchemeWithParams(Params{M: size * 8, K: 7}))
	f := must(s.FilterOver(unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&data[0])), size/8)))
	addKeys(f, 100)
	if err := f.HugePages(); err == nil {
		t.Skip("NOT TESTED on this system, which has huge pages for files") // tmpfs
	} else {
		require.ErrorContains(t, err, "bloom: huge pages: ")
	}
	var b [40]byte
	require.True(t, f.Contains(key40(&b, 99)))
}

// hugeBytes returns how many bytes of this process are in huge pages.
func hugeBytes(t *testing.T) int {
	text := string(must(os.ReadFile("/proc/self/smaps_rollup")))
	_, after, found := strings.Cut(text, "AnonHugePages:")
	require.True(t, found)
	var kB int
	_, err := fmt.Sscan(after, &kB)
	require.NoError(t, err)
	return kB << 10
}
