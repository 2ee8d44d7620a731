//go:build !purego && !race

#include "funcdata.h"
#include "go_asm.h"
#include "textflag.h"

// Double for batches: the positions of eight digests in one register, one position of each at a time. They
// go over the stack to code without vectors. A gather is faster on some processors, but much slower on AMD's
// and on those of Intel whose gather leaked and was mended.

#define words Bits_Words(DI)
#define blocks Bits_Blocks(DI)
#define positions Bits_K(DI)

// START: R13 the digests, R15 how many are left, R14 the answers, R12 how many are true, SI the words, DX 6;
// Z31 the number of bits.
#define START \
	MOVQ b+0(FP), DI              \
	MOVQ digests+8(FP), R13       \
	MOVQ n+16(FP), R15            \
	MOVQ words, SI                \
	MOVL $6, DX                   \
	VPBROADCASTQ blocks, Z31      \
	VPBROADCASTQ ·xor(SB), Z30    \
	VMOVDQU64 ·halves+0(SB), Z29  \
	VMOVDQU64 ·halves+64(SB), Z28 \
	MOVQ answers+24(FP), R14      \
	XORL R12, R12

// EIGHT writes the positions of up to eight digests to the stack: the upper halves of k lines, which must be
// aligned, or each load from them would wait. x_i = h1·powers_i + y·sums_i mod 2^64, and the position is
// floor(x·m / 2^64), by halves because m is below 2^32. Then R11 is how many digests there are, and BX
// where the first one's positions are.
#define EIGHT \
	MOVL $8, R11                  \
	CMPQ R15, R11                 \
	CMOVQLT R15, R11              \
	LEAQ (R11)(R11*1), CX         \
	MOVL $-1, AX                  \
	BZHIL CX, AX, AX              \
	KMOVW AX, K1                  \
	KSHIFTRW $8, K1, K2           \
	VMOVDQU64.Z (R13), K1, Z16    \
	VMOVDQU64.Z 64(R13), K2, Z17  \
	VMOVDQA64 Z16, Z18            \
	VPERMT2Q Z17, Z29, Z16        \
	VPERMT2Q Z17, Z28, Z18        \
	VPXORQ Z30, Z18, Z18          \
	LEAQ ·powers(SB), R9          \
	LEAQ 63(SP), R10              \
	ANDQ $-64, R10                \
	LEAQ 4(R10), BX               \
	MOVQ positions, CX            \
place:                            \
	VPMULLQ.BCST (R9), Z16, Z20   \
	VPMULLQ.BCST 8(R9), Z18, Z21  \
	VPADDQ Z21, Z20, Z20          \
	VPSRLQ $32, Z20, Z21          \
	VPMULUDQ Z31, Z21, Z21        \
	VPMULUDQ Z31, Z20, Z20        \
	VPSRLQ $32, Z20, Z20          \
	VPADDQ Z20, Z21, Z21          \
	VMOVDQA64 Z21, (R10)          \
	ADDQ $16, R9                  \
	ADDQ $64, R10                 \
	DECQ CX                       \
	JNE place

// LOOK makes R8 how many bits of the key are unset. note says what to keep of the position in AX.
#define LOOK(note) \
	MOVQ BX, R10       \
	XORL R8, R8        \
	MOVQ positions, CX \
	SUBQ $2, CX        \
	JLT odd            \
two:                   \
	PROBE(0, note)     \
	PROBE(64, note)    \
	ADDQ $128, R10     \
	SUBQ $2, CX        \
	JGE two            \
odd:                   \
	INCQ CX            \
	JLT looked         \
	PROBE(0, note)     \
looked:

#define PROBE(at, note) \
	MOVL at(R10), AX      \
	note                  \
	SHRXQ DX, AX, R9      \
	MOVQ (SI)(R9*8), R9   \
	BTQ AX, R9            \
	SBBQ $-1, R8

#define NOTHING

#define LIST \
	MOVQ AX, 4160(SP)(R8*8)

// NEXT stores the answer in AX.
#define NEXT \
	MOVB AX, (R14)  \
	ADDQ AX, R12    \
	INCQ R14        \
	ADDQ $8, BX     \
	DECQ R11        \
	JNE key         \
	ADDQ $128, R13  \
	SUBQ $8, R15    \
	JGT group       \
	VZEROUPPER      \
	MOVQ R12, count+32(FP) \
	RET

// func doubleContains(b *Bits, digests unsafe.Pointer, n int, answers *bool) (count int)
TEXT ·doubleContains(SB), 0, $4160-40
	NO_LOCAL_POINTERS
	START
group:
	EIGHT
key:
	LOOK(NOTHING)
	XORL AX, AX
	CMPQ R8, $1
	SETCS AX
	NEXT

// func doubleAdd(b *Bits, digests unsafe.Pointer, n int, answers *bool) (count int)
TEXT ·doubleAdd(SB), 0, $4672-40
	NO_LOCAL_POINTERS
	START
group:
	EIGHT
key:
	LOOK(LIST)
	XORL AX, AX
	TESTQ R8, R8
	JEQ there
	MOVQ 4152(SP)(R8*8), CX
	LEAQ 4152(SP)(R8*8), R8
	LEAQ 4160(SP), R9
	JMP listed
bit:
	MOVQ (R9), AX
	ADDQ $8, R9
	CMPQ AX, CX
	JEQ listed
	MOVL $1, R10
	SHLXQ AX, R10, R10
	SHRQ $6, AX
	LOCK
	ORQ R10, (SI)(AX*8)
listed:
	CMPQ R9, R8
	JNE bit
	MOVL $1, R10
	SHLXQ CX, R10, R10
	SHRQ $6, CX
	LEAQ (SI)(CX*8), R9
	MOVQ (R9), AX
again:
	MOVQ AX, CX
	ORQ R10, CX
	LOCK
	CMPXCHGQ CX, (R9)
	JNE again
	XORQ CX, AX
	SETNE AX
	MOVBQZX AX, AX
there:
	NEXT
