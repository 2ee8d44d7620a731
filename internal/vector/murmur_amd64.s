//go:build !purego && !race

#include "textflag.h"

// Murmur3 x64-128 for eight keys at once, with AVX-512: the first halves of the eight digests in one register, the
// second halves in another. The order of keys in them is 0 4 1 5 2 6 3 7. Source: Appleby, MurmurHash3_x64_128.
//
// Registers, for the whole function:
//
//	DI, SI          four keys, and the next four; R13 and R14 one and three times size
//	R8 R9 R10 R11   the bytes of the first four keys; AX BX DX R12 of the next four
//	CX              where the block begins in each key
//	R15, 0(SP)      the digests, and how many eights are left
//	Z0 to Z5        murmur's first six constants in each lane; Z7 zeros; Z8 the state; Z9 the numbers of 16 bytes
//	Z16, Z17        the first and the second halves of the state
//	Z18, Z19        the lengths of the first four keys, twice each, and of the next four
//	Z22, Z23        how many whole blocks the keys have left, in the same way; K1 and K2 which have any
//	K4 K5 K6 K7     the two lanes of a key among four
//	Z20, Z21        blocks of the first four keys, and of the next four; Z24 and Z25 their first and second halves
//
// murmur: the two multipliers and the two summands of a block, the two multipliers of the end, 1, the mask of what a
// length leaves after whole blocks, the mask of lengths that are too long, and the numbers of 16 bytes.
DATA murmur<>+0(SB)/8, $0x87c37b91114253d5
DATA murmur<>+8(SB)/8, $0x4cf5ad432745937f
DATA murmur<>+16(SB)/8, $0x52dce729
DATA murmur<>+24(SB)/8, $0x38495ab5
DATA murmur<>+32(SB)/8, $0xff51afd7ed558ccd
DATA murmur<>+40(SB)/8, $0xc4ceb9fe1a85ec53
DATA murmur<>+48(SB)/8, $1
DATA murmur<>+56(SB)/8, $15
DATA murmur<>+64(SB)/8, $0xffffffffffff0000
DATA murmur<>+72(SB)/8, $0x0706050403020100
DATA murmur<>+80(SB)/8, $0x0f0e0d0c0b0a0908
GLOBL murmur<>(SB), RODATA|NOPTR, $88

// LOAD loads the blocks at CX of four keys, which k says are left, or zeros. A block that is not left is not touched.
#define LOAD(k, p0, p1, p2, p3, z) \
	KANDB K4, k, K3                      \
	VBROADCASTI64X2.Z (p0)(CX*1), K3, z  \
	KANDB K5, k, K3                      \
	VBROADCASTI64X2 (p1)(CX*1), K3, z    \
	KANDB K6, k, K3                      \
	VBROADCASTI64X2 (p2)(CX*1), K3, z    \
	KANDB K7, k, K3                      \
	VBROADCASTI64X2 (p3)(CX*1), K3, z

// TAIL loads the last bytes of a key, as mask says, from its start p and the place of its length. Bytes outside of the
// mask are not touched.
#define TAIL(p, length, mask, x) \
	MOVQ length, CX \
	ANDQ $-16, CX   \
	VMOVDQU8.Z (p)(CX*1), mask, x

// TAILS loads the last bytes of four keys at base into x, X28, X29 and X30, from their lengths in len. The mask is true
// for the numbers of bytes that are less than length mod 16. It changes z, K1 and K2. JOIN makes one register of them.
#define TAILS(base, p0, p1, p2, p3, len, z, x) \
	VPANDQ.BCST murmur<>+56(SB), len, z \
	VPSHUFB Z7, z, z                    \
	VPCMPUB $6, Z9, z, K1               \
	TAIL(p0, 8(base), K1, x)            \
	KSHIFTRQ $16, K1, K2                \
	TAIL(p1, 8(base)(R13*1), K2, X28)   \
	KSHIFTRQ $32, K1, K2                \
	TAIL(p2, 8(base)(R13*2), K2, X29)   \
	KSHIFTRQ $48, K1, K2                \
	TAIL(p3, 8(base)(R14*1), K2, X30)

#define JOIN(z) \
	VINSERTI64X2 $1, X28, z, z \
	VINSERTI64X2 $2, X29, z, z \
	VINSERTI64X2 $3, X30, z, z

// MIX1 and MIX2 mix the first and the second halves of blocks.
#define MIX1(k) \
	VPMULLQ Z0, k, k   \
	VPROLQ $31, k, k   \
	VPMULLQ Z1, k, k

#define MIX2(k) \
	VPMULLQ Z1, k, k   \
	VPROLQ $33, k, k   \
	VPMULLQ Z0, k, k

// FMIX is Murmur3's finalizer of the halves h.
#define FMIX(h, t) \
	VPSRLQ $33, h, t  \
	VPXORQ t, h, h    \
	VPMULLQ Z4, h, h  \
	VPSRLQ $33, h, t  \
	VPXORQ t, h, h    \
	VPMULLQ Z5, h, h  \
	VPSRLQ $33, h, t  \
	VPXORQ t, h, h

// func murmurEights(state uint64, keys unsafe.Pointer, size uintptr, eights int, digests *[2]uint64) (done int)
TEXT ·murmurEights(SB), NOSPLIT, $8-48
	VPBROADCASTQ murmur<>+0(SB), Z0
	VPBROADCASTQ murmur<>+8(SB), Z1
	VPBROADCASTQ murmur<>+16(SB), Z2
	VPBROADCASTQ murmur<>+24(SB), Z3
	VPBROADCASTQ murmur<>+32(SB), Z4
	VPBROADCASTQ murmur<>+40(SB), Z5
	VPXORQ Z7, Z7, Z7
	VBROADCASTI64X2 murmur<>+72(SB), Z9
	VPBROADCASTQ state+0(FP), Z8
	MOVL $0x03, AX
	KMOVB AX, K4
	KSHIFTLB $2, K4, K5
	KSHIFTLB $4, K4, K6
	KSHIFTLB $6, K4, K7
	MOVQ keys+8(FP), DI
	MOVQ size+16(FP), R13
	LEAQ (R13)(R13*2), R14
	MOVQ eights+24(FP), CX
	MOVQ CX, 0(SP)
	MOVQ digests+32(FP), R15
eight:
	LEAQ (DI)(R13*4), SI
	VBROADCASTI64X2 (DI), Z18
	VBROADCASTI64X2 (DI)(R13*1), K5, Z18
	VBROADCASTI64X2 (DI)(R13*2), K6, Z18
	VBROADCASTI64X2 (DI)(R14*1), K7, Z18
	VBROADCASTI64X2 (SI), Z19
	VBROADCASTI64X2 (SI)(R13*1), K5, Z19
	VBROADCASTI64X2 (SI)(R13*2), K6, Z19
	VBROADCASTI64X2 (SI)(R14*1), K7, Z19
	MOVQ (DI), R8
	MOVQ (DI)(R13*1), R9
	MOVQ (DI)(R13*2), R10
	MOVQ (DI)(R14*1), R11
	MOVQ (SI), AX
	MOVQ (SI)(R13*1), BX
	MOVQ (SI)(R13*2), DX
	MOVQ (SI)(R14*1), R12
	VPSHUFD $0xee, Z18, Z18
	VPSHUFD $0xee, Z19, Z19
	VPORQ Z18, Z19, Z20
	VPTESTMQ.BCST murmur<>+64(SB), Z20, K1
	KORTESTB K1, K1
	JNE stop
	VPSRLQ $4, Z18, Z22
	VPSRLQ $4, Z19, Z23
	VMOVDQA64 Z8, Z16
	VMOVDQA64 Z8, Z17
	XORL CX, CX
	JMP more
block:
	LOAD(K1, R8, R9, R10, R11, Z20)
	LOAD(K2, AX, BX, DX, R12, Z21)
	ADDQ $16, CX
	VPUNPCKLQDQ Z23, Z22, Z26
	VPTESTMQ Z26, Z26, K3
	VPUNPCKLQDQ Z21, Z20, Z24
	VPUNPCKHQDQ Z21, Z20, Z25
	MIX1(Z24)
	MIX2(Z25)
	VPXORQ Z24, Z16, Z24
	VPROLQ $27, Z24, Z24
	VPADDQ Z17, Z24, Z24
	VPSLLQ $2, Z24, Z26
	VPADDQ Z2, Z24, Z24
	VPADDQ Z26, Z24, K3, Z16
	VPXORQ Z25, Z17, Z25
	VPROLQ $31, Z25, Z25
	VPADDQ Z16, Z25, Z25
	VPSLLQ $2, Z25, Z26
	VPADDQ Z3, Z25, Z25
	VPADDQ Z26, Z25, K3, Z17
	VPSUBQ.BCST murmur<>+48(SB), Z22, K1, Z22
	VPSUBQ.BCST murmur<>+48(SB), Z23, K2, Z23
more:
	VPTESTMQ Z22, Z22, K1
	VPTESTMQ Z23, Z23, K2
	KORTESTB K1, K2
	JNE block
	TAILS(DI, R8, R9, R10, R11, Z18, Z20, X20)
	JOIN(Z20)
	TAILS(SI, AX, BX, DX, R12, Z19, Z21, X21)
	JOIN(Z21)
	VPUNPCKLQDQ Z21, Z20, Z24
	VPUNPCKHQDQ Z21, Z20, Z25
	VPUNPCKLQDQ Z19, Z18, Z18
	MIX1(Z24)
	MIX2(Z25)
	VPTERNLOGQ $0x96, Z24, Z18, Z16
	VPTERNLOGQ $0x96, Z25, Z18, Z17
	VPADDQ Z17, Z16, Z16
	VPADDQ Z16, Z17, Z17
	FMIX(Z16, Z24)
	FMIX(Z17, Z25)
	VPADDQ Z17, Z16, Z16
	VPADDQ Z16, Z17, Z17
	VPUNPCKLQDQ Z17, Z16, Z20
	VPUNPCKHQDQ Z17, Z16, Z21
	VMOVDQU64 Z20, (R15)
	VMOVDQU64 Z21, 64(R15)
	ADDQ $128, R15
	LEAQ (SI)(R13*4), DI
	DECQ 0(SP)
	JNE eight
stop:
	VZEROUPPER
	MOVQ eights+24(FP), AX
	SUBQ 0(SP), AX
	MOVQ AX, done+40(FP)
	RET
