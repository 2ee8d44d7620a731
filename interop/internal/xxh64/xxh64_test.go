package xxh64

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Numbers of the reference implementation: its sanity checks, whose data are the top
// bytes of a sequence of products.
func TestFrozenVectors(t *testing.T) {
	const prime32 = 2654435761
	data := make([]byte, 222)
	for i, gen := 0, uint64(prime32); i < len(data); i++ {
		data[i] = byte(gen >> 56)
		gen *= 11400714785074694797
	}
	for _, c := range []struct {
		length int
		seed   uint64
		want   uint64
	}{
		{0, 0, 0xef46db3751d8e999}, {0, prime32, 0xac75fda2929b17ef},
		{1, 0, 0xe934a84adb052768}, {1, prime32, 0x5014607643a9b4c3},
		{4, 0, 0x9136a0dca57457ee},
		{14, 0, 0x8282dcc4994e35c8}, {14, prime32, 0xc3bd6bf63deb6df0},
		{222, 0, 0xb641ae8cb691c174}, {222, prime32, 0x20cb8ab7ae10c14a},
	} {
		require.Equal(t, c.want, Sum(c.seed, data[:c.length]), "%d bytes, seed %d", c.length, c.seed)
	}
	require.Equal(t, uint64(0xd24ec4f1a98c6e5b), Sum(0, []byte("a")))
	require.Equal(t, uint64(0x44bc2cf5ad770999), Sum(0, []byte("abc")))
}

func TestNoAllocations(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(100, func() {
		var key [40]byte
		Sum(1, key[:])
	}))
}

func BenchmarkSum(b *testing.B) {
	var key [40]byte
	for b.Loop() {
		Sum(0, key[:])
	}
}
