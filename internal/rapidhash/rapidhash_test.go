package rapidhash

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// data are the bytes that the reference implementation was given, too.
func data() []byte {
	b := make([]byte, 1100)
	for i := range b {
		b[i] = byte(i*i*7 + i*131 + 17)
	}
	return b
}

// TestFrozenVectors: at both ends of each range of lengths that has a way of its own.
func TestFrozenVectors(t *testing.T) {
	key := data()
	for seed, want := range map[uint64]map[int]uint64{
		0: {
			0: 0x0338dc4be2cecdae, 1: 0x46911692db77b8aa, 2: 0x2ab55bd124f87514, 3: 0x24a9a99c52169b49,
			4: 0x8beb620bb858f886, 5: 0xfa38a43766be1121, 7: 0x8e7f89cfde20100e, 8: 0xf67996cf970512ff,
			9: 0x6f1904a7a91ba24e, 15: 0x34e8312d6f023202, 16: 0x0eb9a14a2a6ecb6c, 17: 0x348ed5089f6efbeb,
			31: 0x08677d3acdfc5956, 32: 0x3ebc748aa32a752e, 33: 0x78a04a33819a5013, 40: 0xdb61e9ed7e34ec55,
			47: 0x6ddd77fe7fc95191, 48: 0x5cc78088599c6a7a, 49: 0xf6572b6c3dc00ae6, 63: 0x3a24ed18e55f70d0,
			64: 0x6223b5ccb4e93adc, 65: 0x16528d213c5811b8, 80: 0xf0dc7010e02df0df, 81: 0x0be428969abf700a,
			96: 0x8891af853445ecad, 97: 0x0edf7e07aa6e991b, 111: 0x45f15886d28cc503, 112: 0x78cc4cfafbc42028,
			113: 0xf77ed697d5c9c440, 128: 0x20f6b53b42a02e96, 129: 0x441e7685a0317bce, 160: 0x8afa0cdd56c2ede3,
			161: 0xcbc18d2ef627999f, 224: 0xc3b49278a5adc720, 225: 0xaba7ac2f949a2dc4, 226: 0x19d58d190a059400,
			336: 0xf3b2414aae3481ad, 337: 0x7a2d55ee7bd8d653, 1000: 0x725e6c4a933d29bf,
		},
		1: {
			0: 0xad700ecdf353d5ca, 3: 0x2fc04eecb48bd34a, 7: 0x49c0604ab0c1813e, 16: 0x077734af18b91407,
			17: 0xfdaef9cd3faeec6d, 40: 0xa67d63e038f0661a, 48: 0xb675654cf9c1659c, 49: 0xf650ea9d7df9705c,
			112: 0x25b5c77af5d65e59, 113: 0x2c25e946792ca342, 225: 0x795b76026f4b8bcc, 1000: 0x7f81e2305fc97ce4,
		},
		0x9e3779b97f4a7c15: {
			0: 0xe173cb3d9efa2720, 3: 0xfee80b607876789c, 7: 0x2d7da63373fa776a, 16: 0xb3c6e3f65dec93d3,
			17: 0x5386275e5c7562a3, 40: 0xd2942b045e0e1d7e, 48: 0x8ee87e2a8c0563cb, 49: 0x16ae5c99394bdd63,
			112: 0xbfe2e6846f1e3536, 113: 0x39b3013433fa7695, 225: 0xfcfc53a0e73a31a6, 1000: 0x8682e836c002706b,
		},
	} {
		for n, sum := range want {
			require.Equal(t, sum, Sum(Start(seed), key[:n]), "%d bytes, seed %d", n, seed)
		}
	}
}

// TestFrozenAllLengths combines the hashes of every length up to 1000, under three seeds, at any
// alignment. The number is the reference implementation's.
func TestFrozenAllLengths(t *testing.T) {
	key := data()
	all := uint64(0)
	for n := range 1001 {
		for _, seed := range []uint64{0, 1, 0x9e3779b97f4a7c15} {
			all = (all ^ Sum(Start(seed), key[n%64:n%64+n])) * 0x9e3779b185ebca87
		}
	}
	require.Equal(t, uint64(0x204ee3065dbc0d7e), all)
}

func TestInlines(t *testing.T) {
	key := data()
	for n := range 200 {
		if Inlines(n) {
			require.Equal(t, Sum(7, key[:n]), Tail(Head(7, key[:n]), key[:n]), "%d bytes", n)
		}
	}
	require.True(t, Inlines(40))
}

func TestNoAllocations(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(100, func() {
		var key [40]byte
		Sum(1, key[:])
	}))
}

func BenchmarkSum(b *testing.B) {
	key := data()
	for _, n := range []int{8, 16, 40, 100, 1000} {
		b.Run(fmt.Sprintf("bytes=%d", n), func(b *testing.B) {
			for b.Loop() {
				Sum(1, key[:n])
			}
		})
	}
}
