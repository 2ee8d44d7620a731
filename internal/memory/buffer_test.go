package memory

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBuffer: a copy has the bytes of the key and no room for more. Keys of up to 64 KiB get the same memory again,
// longer ones memory of their own.
func TestBuffer(t *testing.T) {
	var b Buffer
	for _, n := range []int{0, 1, 40, 64, 65, 1000, 40_000, mostPooled - 1, mostPooled, mostPooled + 1, 1 << 20, 3} {
		key := bytes.Repeat([]byte{byte(n + 1)}, n)
		first := b.Copy(key)
		require.Equal(t, string(key), string(first))
		require.Equal(t, len(first), cap(first))
		clear(key)
		second := b.Copy(key)
		require.Equal(t, string(key), string(second))
		if n > 0 {
			require.Equal(t, n <= mostPooled, &first[0] == &second[0], "%d bytes", n)
		}
		require.LessOrEqual(t, cap(b.room), mostPooled)
	}
}
