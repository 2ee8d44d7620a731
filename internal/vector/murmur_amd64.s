//go:build !purego && !race

#include "textflag.h"

// Murmur3 x64-128 for eight keys at once, with AVX-512: the first halves of the eight digests in one register, the
// second halves in another. The order of keys in them is 0 4 1 5 2 6 3 7. Source: Appleby, MurmurHash3_x64_128.

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

// Z registers have a lane for each key. Those of four keys have two lanes each.
#define low      DI // four keys
#define high     SI // and the next four
#define size1    R13
#define size3    R14 // three times size
#define key0     R8 // the bytes of the eight keys
#define key1     R9
#define key2     R10
#define key3     R11
#define key4     AX
#define key5     BX
#define key6     DX
#define key7     R12
#define at       CX // where the block begins in each key
#define digest   R15
#define mul1     Z0
#define mul2     Z1
#define add1     Z2
#define add2     Z3
#define end1     Z4
#define end2     Z5
#define zeros    Z7
#define seed     Z8 // the state before a key
#define numbers  Z9 // of 16 bytes
#define h1s      Z16 // the halves of the state
#define h2s      Z17
#define lengths1 Z18 // of the first four keys
#define lengths2 Z19
#define whole1   Z22 // whole blocks that are left
#define whole2   Z23
#define has1     K1 // which keys have any
#define has2     K2
#define lane0    K4 // the two lanes of a key among four
#define lane1    K5
#define lane2    K6
#define lane3    K7
#define blocks1  Z20 // of the first four keys
#define blocks1X X20
#define blocks2  Z21
#define blocks2X X21
#define halves1  Z24 // of the blocks of eight keys
#define halves2  Z25
#define tail1    X28
#define tail2    X29
#define tail3    X30

// LOAD loads the blocks of four keys. k says which keys have a block left; the others get zeros, and their bytes are
// not touched.
//
//	in: lane0 k p0 at lane1 p1 lane2 p2 lane3 p3; out: z; clobbers: K3
#define LOAD(k, p0, p1, p2, p3, z) \
	KANDB lane0, k, K3                  \
	VBROADCASTI64X2.Z (p0)(at*1), K3, z \
	KANDB lane1, k, K3                  \
	VBROADCASTI64X2 (p1)(at*1), K3, z   \
	KANDB lane2, k, K3                  \
	VBROADCASTI64X2 (p2)(at*1), K3, z   \
	KANDB lane3, k, K3                  \
	VBROADCASTI64X2 (p3)(at*1), K3, z

// TAIL loads the last bytes of a key, as mask says, from its start p and the place of its length. Bytes outside of the
// mask are not touched.
//
//	in: length p mask; out: x; clobbers: at
#define TAIL(p, length, mask, x) \
	MOVQ length, at \
	ANDQ $-16, at   \
	VMOVDQU8.Z (p)(at*1), mask, x

// TAILS loads the last bytes of four keys at base into x and the three tails, from their lengths in len. The mask is
// true for the numbers of bytes that are less than length mod 16. JOIN makes one register of them.
//
//	in: len zeros numbers base p0 size1 p1 p2 size3 p3; out: x tail1 tail2 tail3; clobbers: z has1 at has2
#define TAILS(base, p0, p1, p2, p3, len, z, x) \
	VPANDQ.BCST murmur<>+56(SB), len, z     \
	VPSHUFB zeros, z, z                     \
	VPCMPUB $6, numbers, z, has1            \
	TAIL(p0, 8(base), has1, x)              \
	KSHIFTRQ $16, has1, has2                \
	TAIL(p1, 8(base)(size1*1), has2, tail1) \
	KSHIFTRQ $32, has1, has2                \
	TAIL(p2, 8(base)(size1*2), has2, tail2) \
	KSHIFTRQ $48, has1, has2                \
	TAIL(p3, 8(base)(size3*1), has2, tail3)

//	in: tail1 z tail2 tail3; out: z; clobbers: -
#define JOIN(z) \
	VINSERTI64X2 $1, tail1, z, z \
	VINSERTI64X2 $2, tail2, z, z \
	VINSERTI64X2 $3, tail3, z, z

// MIX1 and MIX2 mix the first and the second halves of blocks.
//
//	in: mul1 k mul2; out: k; clobbers: -
#define MIX1(k) \
	VPMULLQ mul1, k, k \
	VPROLQ $31, k, k   \
	VPMULLQ mul2, k, k

//	in: mul2 k mul1; out: k; clobbers: -
#define MIX2(k) \
	VPMULLQ mul2, k, k \
	VPROLQ $33, k, k   \
	VPMULLQ mul1, k, k

// FMIX is Murmur3's finalizer of the halves h.
//
//	in: h end1 end2; out: h; clobbers: t
#define FMIX(h, t) \
	VPSRLQ $33, h, t   \
	VPXORQ t, h, h     \
	VPMULLQ end1, h, h \
	VPSRLQ $33, h, t   \
	VPXORQ t, h, h     \
	VPMULLQ end2, h, h \
	VPSRLQ $33, h, t   \
	VPXORQ t, h, h

// func murmurEights(state uint64, keys unsafe.Pointer, size uintptr, eights int, digests *[2]uint64) (done int)
TEXT ·murmurEights(SB), NOSPLIT, $8-48
	VPBROADCASTQ murmur<>+0(SB), mul1
	VPBROADCASTQ murmur<>+8(SB), mul2
	VPBROADCASTQ murmur<>+16(SB), add1
	VPBROADCASTQ murmur<>+24(SB), add2
	VPBROADCASTQ murmur<>+32(SB), end1
	VPBROADCASTQ murmur<>+40(SB), end2
	VPXORQ zeros, zeros, zeros
	VBROADCASTI64X2 murmur<>+72(SB), numbers
	VPBROADCASTQ state+0(FP), seed
	MOVL $0x03, key4
	KMOVB key4, lane0
	KSHIFTLB $2, lane0, lane1
	KSHIFTLB $4, lane0, lane2
	KSHIFTLB $6, lane0, lane3
	MOVQ keys+8(FP), low
	MOVQ size+16(FP), size1
	LEAQ (size1)(size1*2), size3
	MOVQ eights+24(FP), at
	MOVQ at, 0(SP)
	MOVQ digests+32(FP), digest
eight:
	LEAQ (low)(size1*4), high
	VBROADCASTI64X2 (low), lengths1
	VBROADCASTI64X2 (low)(size1*1), lane1, lengths1
	VBROADCASTI64X2 (low)(size1*2), lane2, lengths1
	VBROADCASTI64X2 (low)(size3*1), lane3, lengths1
	VBROADCASTI64X2 (high), lengths2
	VBROADCASTI64X2 (high)(size1*1), lane1, lengths2
	VBROADCASTI64X2 (high)(size1*2), lane2, lengths2
	VBROADCASTI64X2 (high)(size3*1), lane3, lengths2
	MOVQ (low), key0
	MOVQ (low)(size1*1), key1
	MOVQ (low)(size1*2), key2
	MOVQ (low)(size3*1), key3
	MOVQ (high), key4
	MOVQ (high)(size1*1), key5
	MOVQ (high)(size1*2), key6
	MOVQ (high)(size3*1), key7
	VPSHUFD $0xee, lengths1, lengths1
	VPSHUFD $0xee, lengths2, lengths2
	VPORQ lengths1, lengths2, blocks1
	VPTESTMQ.BCST murmur<>+64(SB), blocks1, has1
	KORTESTB has1, has1
	JNE stop
	VPSRLQ $4, lengths1, whole1
	VPSRLQ $4, lengths2, whole2
	VMOVDQA64 seed, h1s
	VMOVDQA64 seed, h2s
	XORL at, at
	JMP more
block:
	LOAD(has1, key0, key1, key2, key3, blocks1)
	LOAD(has2, key4, key5, key6, key7, blocks2)
	ADDQ $16, at
	VPUNPCKLQDQ whole2, whole1, Z26
	VPTESTMQ Z26, Z26, K3
	VPUNPCKLQDQ blocks2, blocks1, halves1
	VPUNPCKHQDQ blocks2, blocks1, halves2
	MIX1(halves1)
	MIX2(halves2)
	VPXORQ halves1, h1s, halves1
	VPROLQ $27, halves1, halves1
	VPADDQ h2s, halves1, halves1
	VPSLLQ $2, halves1, Z26
	VPADDQ add1, halves1, halves1
	VPADDQ Z26, halves1, K3, h1s
	VPXORQ halves2, h2s, halves2
	VPROLQ $31, halves2, halves2
	VPADDQ h1s, halves2, halves2
	VPSLLQ $2, halves2, Z26
	VPADDQ add2, halves2, halves2
	VPADDQ Z26, halves2, K3, h2s
	VPSUBQ.BCST murmur<>+48(SB), whole1, has1, whole1
	VPSUBQ.BCST murmur<>+48(SB), whole2, has2, whole2
more:
	VPTESTMQ whole1, whole1, has1
	VPTESTMQ whole2, whole2, has2
	KORTESTB has1, has2
	JNE block
	TAILS(low, key0, key1, key2, key3, lengths1, blocks1, blocks1X)
	JOIN(blocks1)
	TAILS(high, key4, key5, key6, key7, lengths2, blocks2, blocks2X)
	JOIN(blocks2)
	VPUNPCKLQDQ blocks2, blocks1, halves1
	VPUNPCKHQDQ blocks2, blocks1, halves2
	VPUNPCKLQDQ lengths2, lengths1, lengths1
	MIX1(halves1)
	MIX2(halves2)
	VPTERNLOGQ $0x96, halves1, lengths1, h1s
	VPTERNLOGQ $0x96, halves2, lengths1, h2s
	VPADDQ h2s, h1s, h1s
	VPADDQ h1s, h2s, h2s
	FMIX(h1s, halves1)
	FMIX(h2s, halves2)
	VPADDQ h2s, h1s, h1s
	VPADDQ h1s, h2s, h2s
	VPUNPCKLQDQ h2s, h1s, blocks1
	VPUNPCKHQDQ h2s, h1s, blocks2
	VMOVDQU64 blocks1, (digest)
	VMOVDQU64 blocks2, 64(digest)
	ADDQ $128, digest
	LEAQ (high)(size1*4), low
	DECQ 0(SP)
	JNE eight
stop:
	VZEROUPPER
	MOVQ eights+24(FP), key4
	SUBQ 0(SP), key4
	MOVQ key4, done+40(FP)
	RET
