//go:build !purego && !race

#include "go_asm.h"
#include "textflag.h"

DATA splitSalts8<>+0(SB)/8, $0x44974d9147b6137b
DATA splitSalts8<>+8(SB)/8, $0xa2b7289d8824ad5b
DATA splitSalts8<>+16(SB)/8, $0x2df1424b705495c7
DATA splitSalts8<>+24(SB)/8, $0x5c6bfb319efc4947
GLOBL splitSalts8<>(SB), RODATA|NOPTR, $32

DATA splitOnes<>+0(SB)/8, $0x0000000100000001
DATA splitOnes<>+8(SB)/8, $0x0000000100000001
DATA splitOnes<>+16(SB)/8, $0x0000000100000001
DATA splitOnes<>+24(SB)/8, $0x0000000100000001
GLOBL splitOnes<>(SB), RODATA|NOPTR, $32

// BLOCK makes CX the address of the block of h1, for the filter in DI.
#define BLOCK \
	MOVQ f+0(FP), DI              \
	MOVL h1_hi+12(FP), CX         \
	IMULQ BloomFilter_units(DI), CX \
	SHRQ $32, CX                  \
	SHLQ $5, CX                   \
	ADDQ BloomFilter_bits(DI), CX

// MASK makes Y0 the key's eight bits, one in each lane.
#define MASK \
	VPBROADCASTD h1+8(FP), Y1       \
	VPMULLD splitSalts8<>(SB), Y1, Y1 \
	VMOVDQU splitOnes<>(SB), Y0     \
	VPSRLD $27, Y1, Y1              \
	VPSLLVD Y1, Y0, Y0

// func splitContains(f *BloomFilter, h1 uint64) bool
TEXT ·splitContains(SB), NOSPLIT, $0-17
	BLOCK
	MASK
	VMOVDQU (CX), Y2
	VPTEST Y0, Y2           // carry: none of the key's bits lacks
	SETCS ret+16(FP)
	VZEROUPPER
	RET

// func splitContainsAt(block unsafe.Pointer, h1 uint64) bool
TEXT ·splitContainsAt(SB), NOSPLIT, $0-17
	MOVQ block+0(FP), CX
	MASK
	VMOVDQU (CX), Y2
	VPTEST Y0, Y2
	SETCS ret+16(FP)
	VZEROUPPER
	RET

// func splitAdd(f *BloomFilter, h1 uint64) bool
TEXT ·splitAdd(SB), NOSPLIT, $0-17
	BLOCK
	MOVQ CX, DI
	MASK
	VMOVDQU (DI), Y2
	VPTEST Y0, Y2
	JCS there
	VEXTRACTI128 $1, Y0, X1
	VEXTRACTI128 $1, Y2, X3
	VMOVQ X2, AX            // DX:AX, the lower half of the block
	VPEXTRQ $1, X2, DX
	VMOVQ X0, R8            // R9:R8, the key's bits in it
	VPEXTRQ $1, X0, R9
	VMOVQ X3, R12           // R13:R12, the upper half
	VPEXTRQ $1, X3, R13
	VMOVQ X1, R10           // R11:R10, the key's bits in it
	VPEXTRQ $1, X1, R11
	VPTEST X1, X3
	VZEROUPPER
	JCS flip                // nothing lacks in the upper half, so the lower one is the last
lower:
	MOVQ AX, BX
	ORQ R8, BX
	MOVQ DX, CX
	ORQ R9, CX
	LOCK
	CMPXCHG16B (DI)         // if it is still DX:AX, it becomes CX:BX, or else DX:AX becomes what it is
	JNE lower
	ADDQ $16, DI
	MOVQ R12, AX
	MOVQ R13, DX
	MOVQ R10, R8
	MOVQ R11, R9
flip:
	MOVQ AX, BX
	ORQ R8, BX
	MOVQ DX, CX
	ORQ R9, CX
	LOCK
	CMPXCHG16B (DI)
	JNE flip
	XORQ AX, BX             // what this call has changed
	XORQ DX, CX
	ORQ BX, CX
	SETNE ret+16(FP)
	RET
there:
	VZEROUPPER
	MOVB $0, ret+16(FP)
	RET

// func splitContainsMany(f *BloomFilter, d *digest128, n int, yes *bool) int
TEXT ·splitContainsMany(SB), NOSPLIT, $0-40
	MOVQ f+0(FP), DI
	MOVQ d+8(FP), SI
	MOVQ n+16(FP), DX
	MOVQ yes+24(FP), BX
	MOVQ BloomFilter_units(DI), R8
	MOVQ BloomFilter_bits(DI), DI
	XORQ R9, R9
	VMOVDQU splitSalts8<>(SB), Y5
	VMOVDQU splitOnes<>(SB), Y6
next:
	MOVL 4(SI), CX
	VPBROADCASTD (SI), Y1
	IMULQ R8, CX
	VPMULLD Y5, Y1, Y1
	SHRQ $32, CX
	SHLQ $5, CX
	VPSRLD $27, Y1, Y1
	VPSLLVD Y1, Y6, Y0
	VMOVDQU (DI)(CX*1), Y2
	XORL AX, AX
	VPTEST Y0, Y2
	SETCS AX
	MOVB AX, (BX)
	ADDQ AX, R9
	ADDQ $16, SI
	INCQ BX
	DECQ DX
	JNE next
	VZEROUPPER
	MOVQ R9, ret+32(FP)
	RET
