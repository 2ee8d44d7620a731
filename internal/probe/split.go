package probe

// The multipliers of SplitBlock's lanes.
const (
	salt0 = 0x47b6137b
	salt1 = 0x44974d91
	salt2 = 0x8824ad5b
	salt3 = 0xa2b7289d
	salt4 = 0x705495c7
	salt5 = 0x2df1424b
	salt6 = 0x9efc4947
	salt7 = 0x5c6bfb31
)

var salts = [...]uint32{salt0, salt1, salt2, salt3, salt4, salt5, salt6, salt7}

// SplitBlock returns the number of a key's block. If blocks is below 2^32, the result is less than blocks, so kernels
// need no bounds checks.
func SplitBlock(h1, blocks uint64) uint64 { return h1 >> 32 * blocks >> 32 }

// SplitBit returns the position of a key's bit in lane i, among the 256 bits of the block.
func SplitBit(h1 uint64, i int) uint64 { return uint64(i)*32 + uint64(uint32(h1)*salts[i]>>27) }

// SplitMasks returns a key's bits as four words, one for each word of its block.
func SplitMasks(h1 uint64) (m0, m1, m2, m3 uint64) {
	x := uint32(h1)
	m0 = Bit(uint64(x*salt0>>27)) | Bit(uint64(x*salt1>>27|32))
	m1 = Bit(uint64(x*salt2>>27)) | Bit(uint64(x*salt3>>27|32))
	m2 = Bit(uint64(x*salt4>>27)) | Bit(uint64(x*salt5>>27|32))
	m3 = Bit(uint64(x*salt6>>27)) | Bit(uint64(x*salt7>>27|32))
	return m0, m1, m2, m3
}
