//go:build !purego && !race

#include "funcdata.h"
#include "go_asm.h"
#include "textflag.h"

// Double for batches: a register has the positions of eight digests, one position of each at a time. Code without
// vectors reads them from the stack. A gather is faster on some processors, but much slower on AMD's, and on Intel's
// that mend a leak of the gather.

#define filter  DI // the Bits
#define array   SI // its words
#define six     DX
#define hits    R12 // how many answers are true
#define element R13 // the digests
#define answer  R14
#define left    R15 // digests
#define inGroup R11 // digests left in this group of up to eight
#define line    R10 // eight digests' positions with one index
#define lane    BX // the digest's position in the first line
#define pos     AX
#define unset   R8 // number of unset bits
#define m       Z31
#define mask    Z30 // probe.Xor
#define firsts  Z29 // indices of first halves
#define seconds Z28
#define h1s     Z16
#define ys      Z18
#define x       Z20

#define words     Bits_Words(filter)
#define blocks    Bits_Blocks(filter)
#define positions Bits_K(filter)

// START loads what stays the same for all digests.
//
//	in: -; out: filter element left array six m mask firsts seconds answer hits; clobbers: -
#define START \
	MOVQ b+0(FP), filter              \
	MOVQ digests+8(FP), element       \
	MOVQ n+16(FP), left               \
	MOVQ words, array                 \
	MOVL $6, six                      \
	VPBROADCASTQ blocks, m            \
	VPBROADCASTQ ·xor(SB), mask       \
	VMOVDQU64 ·halves+0(SB), firsts   \
	VMOVDQU64 ·halves+64(SB), seconds \
	MOVQ answers+24(FP), answer       \
	XORL hits, hits

// EIGHT writes the positions of up to eight digests to the stack: the upper halves of k lines. The lines must be
// aligned: otherwise each load from them would wait. x_i = h1·powers_i + y·sums_i mod 2^64, and the position is
// floor(x·m / 2^64), by halves because m is below 2^32. Then lane is the address of the first digest's positions.
//
//	in: left element firsts seconds mask filter m; out: inGroup lane; clobbers: CX AX K1 K2 h1s Z17 ys R9 line x Z21
#define EIGHT \
	MOVL $8, inGroup                 \
	CMPQ left, inGroup               \
	CMOVQLT left, inGroup            \
	LEAQ (inGroup)(inGroup*1), CX    \
	MOVL $-1, AX                     \
	BZHIL CX, AX, AX                 \
	KMOVW AX, K1                     \
	KSHIFTRW $8, K1, K2              \
	VMOVDQU64.Z (element), K1, h1s   \
	VMOVDQU64.Z 64(element), K2, Z17 \
	VMOVDQA64 h1s, ys                \
	VPERMT2Q Z17, firsts, h1s        \
	VPERMT2Q Z17, seconds, ys        \
	VPXORQ mask, ys, ys              \
	LEAQ ·powers(SB), R9             \
	LEAQ 63(SP), line                \
	ANDQ $-64, line                  \
	LEAQ 4(line), lane               \
	MOVQ positions, CX               \
place:                               \
	VPMULLQ.BCST (R9), h1s, x        \
	VPMULLQ.BCST 8(R9), ys, Z21      \
	VPADDQ Z21, x, x                 \
	VPSRLQ $32, x, Z21               \
	VPMULUDQ m, Z21, Z21             \
	VPMULUDQ m, x, x                 \
	VPSRLQ $32, x, x                 \
	VPADDQ x, Z21, Z21               \
	VMOVDQA64 Z21, (line)            \
	ADDQ $16, R9                     \
	ADDQ $64, line                   \
	DECQ CX                          \
	JNE place

// LOOK counts the unset bits of the key. note says what to keep of a position.
//
//	in: lane filter six array; out: unset; clobbers: line CX pos note R9
#define LOOK(note) \
	MOVQ lane, line    \
	XORL unset, unset  \
	MOVQ positions, CX \
	SUBQ $2, CX        \
	JLT odd            \
two:                   \
	PROBE(0, note)     \
	PROBE(64, note)    \
	ADDQ $128, line    \
	SUBQ $2, CX        \
	JGE two            \
odd:                   \
	INCQ CX            \
	JLT looked         \
	PROBE(0, note)     \
looked:

//	in: at line six array unset; out: unset; clobbers: pos note R9
#define PROBE(at, note) \
	MOVL at(line), pos     \
	note                   \
	SHRXQ six, pos, R9     \
	MOVQ (array)(R9*8), R9 \
	BTQ pos, R9            \
	SBBQ $-1, unset

//	in: -; out: -; clobbers: -
#define NOTHING

//	in: unset pos; out: -; clobbers: -
#define LIST \
	MOVQ pos, 4160(SP)(unset*8)

// NEXT stores the answer in AX.
//
//	in: answer AX hits lane inGroup element left; out: hits answer lane inGroup element left; clobbers: -
#define NEXT \
	MOVB AX, (answer)       \
	ADDQ AX, hits           \
	INCQ answer             \
	ADDQ $8, lane           \
	DECQ inGroup            \
	JNE key                 \
	ADDQ $128, element      \
	SUBQ $8, left           \
	JGT eight               \
	VZEROUPPER              \
	MOVQ hits, count+32(FP) \
	RET

// func doubleContains(b *Bits, digests unsafe.Pointer, n int, answers *bool) (count int)
TEXT ·doubleContains(SB), 0, $4160-40
	NO_LOCAL_POINTERS
	START
eight:
	EIGHT
key:
	LOOK(NOTHING)
	XORL AX, AX
	CMPQ unset, $1
	SETCS AX
	NEXT

// func doubleAdd(b *Bits, digests unsafe.Pointer, n int, answers *bool) (count int)
TEXT ·doubleAdd(SB), 0, $4672-40
	NO_LOCAL_POINTERS
	START
eight:
	EIGHT
key:
	LOOK(LIST)
	XORL AX, AX
	TESTQ unset, unset
	JEQ there
	MOVQ 4152(SP)(unset*8), CX
	LEAQ 4152(SP)(unset*8), unset
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
	ORQ R10, (array)(AX*8)
listed:
	CMPQ R9, unset
	JNE bit
	MOVL $1, R10
	SHLXQ CX, R10, R10
	SHRQ $6, CX
	LEAQ (array)(CX*8), R9
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
