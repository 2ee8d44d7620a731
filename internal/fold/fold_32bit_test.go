//go:build 386 || arm || mips || mipsle

package fold

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFactorBeyondInt: an odd factor above 2^31, which 256 MiB of bits can have, is no int
// here.
func TestFactorBeyondInt(t *testing.T) {
	const m = 1<<31 + 1
	from := make([]atomic.Uint64, m/64+1)
	to := make([]atomic.Uint64, 1)
	Bits(to, from, m, m)
	require.Zero(t, to[0].Load(), "no bit is set")

	from[m/64].Store(1) // the last one
	Bits(to, from, m, m)
	require.EqualValues(t, 1, to[0].Load())
}
