// Murmur3 with both halves of a digest in one register, for one key or, in MurmurMany, for four. So the
// constants are pairs: the multipliers and rotations of a block of 16 bytes, the rotation of the state,
// what is left of Murmur3's sums, see STEP, and the numbers of 16 bytes.
DATA pairs<>+0(SB)/8, $0x87c37b91114253d5
DATA pairs<>+8(SB)/8, $0x4cf5ad432745937f
DATA pairs<>+16(SB)/8, $31
DATA pairs<>+24(SB)/8, $33
DATA pairs<>+32(SB)/8, $0x4cf5ad432745937f
DATA pairs<>+40(SB)/8, $0x87c37b91114253d5
DATA pairs<>+48(SB)/8, $27
DATA pairs<>+56(SB)/8, $31
DATA pairs<>+64(SB)/8, $0
DATA pairs<>+72(SB)/8, $5
DATA pairs<>+80(SB)/8, $5
DATA pairs<>+88(SB)/8, $25
DATA pairs<>+96(SB)/8, $0x52dce729
DATA pairs<>+104(SB)/8, $0x1d699de82
DATA pairs<>+112(SB)/8, $0x0706050403020100
DATA pairs<>+120(SB)/8, $0x0f0e0d0c0b0a0908
GLOBL pairs<>(SB), RODATA|NOPTR, $128

DATA single<>+0(SB)/8, $1
DATA single<>+8(SB)/8, $15
DATA single<>+16(SB)/8, $0x10000 // the most bytes
DATA single<>+24(SB)/8, $0xff51afd7ed558ccd
DATA single<>+32(SB)/8, $0xc4ceb9fe1a85ec53
GLOBL single<>(SB), RODATA|NOPTR, $40

// MIX multiplies, rotates and multiplies blocks by the constants c0, c16 and c32.
#define MIX(block, c0, c16, c32) \
	VPMULLQ c0, block, block   \
	VPROLVQ c16, block, block  \
	VPMULLQ c32, block, block

// STEP takes mixed blocks into the state, but for the last sum of block and t. Murmur3 has
//
//	h1 = (rotl(h1 xor b1, 27) + h2)·5 + c1
//	h2 = (rotl(h2 xor b2, 31) + h1)·5 + c2
//
// With a and b for the rotated halves and h1 put into the second line, both wait for the same sum:
//
//	h1 = 5·(a + h2) + c1
//	h2 = 25·(a + h2) + 5·b + 5·c1 + c2
#define STEP(h, block, t, u, c48, c64, c80, c96) \
	VPSHUFD $0xee, h, u       \
	VPXORQ h, block, block    \
	VPROLVQ c48, block, block \
	VPSHUFD $0x44, block, t   \
	VPADDQ u, t, t            \
	VPMULLQ c64, block, block \
	VPMULLQ c80, t, t         \
	VPADDQ c96, block, block

// FINISH makes the state h the digest. K3 selects second halves: each is the sum of the first one's sum
// and its own.
#define FINISH(h, t) \
	SUM(h, t)                            \
	VPSRLQ $33, t, h                     \
	VPXORQ h, t, t                       \
	VPMULLQ.BCST single<>+24(SB), t, t   \
	VPSRLQ $33, t, h                     \
	VPXORQ h, t, t                       \
	VPMULLQ.BCST single<>+32(SB), t, t   \
	VPSRLQ $33, t, h                     \
	VPXORQ h, t, t                       \
	SUM(t, h)

#define SUM(h, t) \
	VPSHUFD $0x4e, h, t \
	VPADDQ h, t, t      \
	VPADDQ h, t, K3, t

// MURMUR makes X16 the h1 of the CX bytes at SI, and X17 the h2. The last bytes of the key are
// loaded and mixed first. Blocks are loaded by halves: a load of 16 bytes waits 20 ns for two stores of
// 8, as of a key that was just made. Registers: R9 where they begin; X18 what they and the length change.
#define MURMUR \
	VPBROADCASTQ state, X16           \
	MOVL CX, R8                       \
	ANDL $15, R8                      \
	MOVL $-1, R9                      \
	BZHIL R8, R9, R9                  \
	KMOVW R9, K1                      \
	MOVL $2, R9                       \
	KMOVW R9, K3                      \
	LEAQ (SI)(CX*1), R9               \
	SUBQ R8, R9                       \
	VMOVDQU8.Z (R9), K1, X17          \
	MIX(X17, pairs<>+0(SB), pairs<>+16(SB), pairs<>+32(SB)) \
	VPBROADCASTQ CX, X18              \
	VPXORQ X17, X18, X18              \
	CMPQ SI, R9                       \
	JEQ mixed                         \
block:                                \
	VMOVQ (SI), X17                   \
	VPINSRQ $1, 8(SI), X17, X17       \
	ADDQ $16, SI                      \
	MIX(X17, pairs<>+0(SB), pairs<>+16(SB), pairs<>+32(SB)) \
	STEP(X16, X17, X19, X20, pairs<>+48(SB), pairs<>+64(SB), pairs<>+80(SB), pairs<>+96(SB)) \
	VPADDQ X17, X19, X16              \
	CMPQ SI, R9                       \
	JNE block                         \
mixed:                                \
	VPXORQ X16, X18, X16              \
	FINISH(X16, X17)                  \
	VPUNPCKHQDQ X16, X16, X17
