//go:build !purego && !race

#include "textflag.h"

#include "murmur_amd64.h"

// TAIL loads the last bytes of a key, as mask says, from its start p and the place of its length.
#define TAIL(p, length, mask, x) \
	MOVQ length, AX \
	ANDQ $-16, AX   \
	VMOVDQU8.Z (p)(AX*1), mask, x

// func MurmurMany(state uint64, keys unsafe.Pointer, size uintptr, fours int, digests *[2]uint64) (done int)
//
// Registers: DI four keys, R13 and R14 one and three times size, R8 to R11 the keys' bytes, CX where
// the blocks begin, R15 digests, R12 how many fours are left; Z16 the state, Z18 the lengths, Z19 how
// many whole blocks each key has left; K1 the keys that have any, K4 to K7 one key each.
TEXT ·MurmurMany(SB), NOSPLIT, $0-48
	VBROADCASTI64X2 pairs<>+0(SB), Z0
	VBROADCASTI64X2 pairs<>+16(SB), Z1
	VBROADCASTI64X2 pairs<>+32(SB), Z2
	VBROADCASTI64X2 pairs<>+48(SB), Z3
	VBROADCASTI64X2 pairs<>+64(SB), Z4
	VBROADCASTI64X2 pairs<>+80(SB), Z5
	VBROADCASTI64X2 pairs<>+96(SB), Z6
	VBROADCASTI64X2 pairs<>+112(SB), Z9
	VPXORQ Z7, Z7, Z7
	VPBROADCASTQ state+0(FP), Z8
	MOVL $0xaa, AX
	KMOVB AX, K3
	MOVL $0x03, AX
	KMOVB AX, K4
	KSHIFTLB $2, K4, K5
	KSHIFTLB $4, K4, K6
	KSHIFTLB $6, K4, K7
	MOVQ keys+8(FP), DI
	MOVQ size+16(FP), R13
	LEAQ (R13)(R13*2), R14
	MOVQ fours+24(FP), R12
	MOVQ digests+32(FP), R15
four:
	VBROADCASTI64X2 (DI), Z18
	VBROADCASTI64X2 (DI)(R13*1), K5, Z18
	VBROADCASTI64X2 (DI)(R13*2), K6, Z18
	VBROADCASTI64X2 (DI)(R14*1), K7, Z18
	MOVQ (DI), R8
	MOVQ (DI)(R13*1), R9
	MOVQ (DI)(R13*2), R10
	MOVQ (DI)(R14*1), R11
	VPSHUFD $0xee, Z18, Z18
	VPCMPUQ.BCST $6, single<>+16(SB), Z18, K1
	KORTESTB K1, K1
	JNE stop
	VPSRLQ $4, Z18, Z19
	VMOVDQA64 Z8, Z16
	XORL CX, CX
	JMP more
block:
	KANDB K4, K1, K2
	VBROADCASTI64X2.Z (R8)(CX*1), K2, Z17
	KANDB K5, K1, K2
	VBROADCASTI64X2 (R9)(CX*1), K2, Z17
	KANDB K6, K1, K2
	VBROADCASTI64X2 (R10)(CX*1), K2, Z17
	KANDB K7, K1, K2
	VBROADCASTI64X2 (R11)(CX*1), K2, Z17
	ADDQ $16, CX
	MIX(Z17, Z0, Z1, Z2)
	STEP(Z16, Z17, Z20, Z21, Z3, Z4, Z5, Z6)
	VPADDQ Z17, Z20, K1, Z16
	VPSUBQ.BCST single<>+0(SB), Z19, K1, Z19
more:
	VPTESTMQ Z19, Z19, K1
	KORTESTB K1, K1
	JNE block
	VPANDQ.BCST single<>+8(SB), Z18, Z19
	VPSHUFB Z7, Z19, Z19
	VPCMPUB $6, Z9, Z19, K1 // the numbers of the bytes that each key has left
	TAIL(R8, 8(DI), K1, X17)
	KSHIFTRQ $16, K1, K2
	TAIL(R9, 8(DI)(R13*1), K2, X20)
	VINSERTI64X2 $1, X20, Z17, Z17
	KSHIFTRQ $32, K1, K2
	TAIL(R10, 8(DI)(R13*2), K2, X20)
	VINSERTI64X2 $2, X20, Z17, Z17
	KSHIFTRQ $48, K1, K2
	TAIL(R11, 8(DI)(R14*1), K2, X20)
	VINSERTI64X2 $3, X20, Z17, Z17
	MIX(Z17, Z0, Z1, Z2)
	VPTERNLOGQ $0x96, Z17, Z18, Z16
	FINISH(Z16, Z17)
	VMOVDQU64 Z16, (R15)
	ADDQ $64, R15
	LEAQ (DI)(R13*4), DI
	DECQ R12
	JNE four
stop:
	VZEROUPPER
	MOVQ fours+24(FP), AX
	SUBQ R12, AX
	MOVQ AX, done+40(FP)
	RET
