//go:build !purego && !race

#include "textflag.h"

DATA salts<>+0(SB)/8, $0x44974d9147b6137b
DATA salts<>+8(SB)/8, $0xa2b7289d8824ad5b
DATA salts<>+16(SB)/8, $0x2df1424b705495c7
DATA salts<>+24(SB)/8, $0x5c6bfb319efc4947
GLOBL salts<>(SB), RODATA|NOPTR, $32

DATA ones<>+0(SB)/8, $0x0000000100000001
DATA ones<>+8(SB)/8, $0x0000000100000001
DATA ones<>+16(SB)/8, $0x0000000100000001
DATA ones<>+24(SB)/8, $0x0000000100000001
GLOBL ones<>(SB), RODATA|NOPTR, $32

// BLOCK makes CX the address of the block of the digest h1 in CX, and MASK makes Y0 the key's
// eight bits, one per lane, from h1 in X1. h1 is loaded once, as 64 bits: two loads of 32 bits
// would wait until the caller's 64-bit store has reached the cache.
#define BLOCK \
	SHRQ $32, CX           \
	IMULQ blocks+8(FP), CX \
	SHRQ $32, CX           \
	SHLQ $5, CX            \
	ADDQ words+0(FP), CX

#define MASK \
	VPBROADCASTD X1, Y1         \
	VPMULLD salts<>(SB), Y1, Y1 \
	VMOVDQU ones<>(SB), Y0      \
	VPSRLD $27, Y1, Y1          \
	VPSLLVD Y1, Y0, Y0

// func Contains(words unsafe.Pointer, blocks, h1 uint64) bool
TEXT ·Contains(SB), NOSPLIT, $0-25
	MOVQ h1+16(FP), CX
	VMOVD CX, X1
	BLOCK
	MASK
	VMOVDQU (CX), Y2
	VPTEST Y0, Y2           // carry: none of the key's bits lacks
	SETCS ret+24(FP)
	VZEROUPPER
	RET

// RAPID makes BX the RapidHash of the CX bytes at SI, 17 to 48 of them, from the state in R8: what
// rapidhash.Tail and Head do. MULX multiplies DX, and leaves the halves of the product in BX and AX.
#define RAPID \
	MOVQ $0x4b33a62ed433d4a3, R9 \
	MOVQ (SI), DX                \
	XORQ R9, DX                  \
	XORQ 8(SI), R8               \
	MULXQ R8, AX, BX             \
	XORQ AX, BX                  \
	CMPQ CX, $32                 \
	JLE tail                     \
	MOVQ 16(SI), DX              \
	XORQ R9, DX                  \
	XORQ 24(SI), BX              \
	MULXQ BX, AX, BX             \
	XORQ AX, BX                  \
tail:                            \
	MOVQ $0x8bb84b93962eacc9, R9 \
	XORQ CX, R9                  \
	MOVQ -16(SI)(CX*1), DX       \
	XORQ R9, DX                  \
	XORQ -8(SI)(CX*1), BX        \
	MULXQ BX, AX, BX             \
	MOVQ $0xaaaaaaaaaaaaaaaa, DX \
	XORQ AX, DX                  \
	XORQ R9, BX                  \
	MULXQ BX, AX, BX             \
	XORQ AX, BX

// func ContainsRapid(words unsafe.Pointer, blocks, state uint64, key unsafe.Pointer, n int) bool
TEXT ·ContainsRapid(SB), NOSPLIT, $0-41
	MOVQ key+24(FP), SI
	MOVQ n+32(FP), CX
	MOVQ state+16(FP), R8
	RAPID
	VMOVD BX, X1
	MOVQ BX, CX
	BLOCK
	MASK
	VMOVDQU (CX), Y2
	VPTEST Y0, Y2
	SETCS ret+40(FP)
	VZEROUPPER
	RET

// func Add(words unsafe.Pointer, blocks, h1 uint64) bool
TEXT ·Add(SB), NOSPLIT, $0-25
	MOVQ h1+16(FP), CX
	VMOVD CX, X1
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
	SETNE ret+24(FP)
	RET
there:
	VZEROUPPER
	MOVB $0, ret+24(FP)
	RET

// func ContainsMany(words unsafe.Pointer, blocks uint64, digests unsafe.Pointer, n int, yes *bool) int
TEXT ·ContainsMany(SB), NOSPLIT, $0-48
	MOVQ words+0(FP), DI
	MOVQ blocks+8(FP), R8
	MOVQ digests+16(FP), SI
	MOVQ n+24(FP), DX
	MOVQ yes+32(FP), BX
	XORQ R9, R9
	VMOVDQU salts<>(SB), Y5
	VMOVDQU ones<>(SB), Y6
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
	MOVQ R9, ret+40(FP)
	RET

// func copyLines(to, from unsafe.Pointer, lines int)
TEXT ·copyLines(SB), NOSPLIT, $0-24
	MOVQ to+0(FP), DI
	MOVQ from+8(FP), SI
	MOVQ lines+16(FP), DX
	TESTQ DX, DX
	JEQ copied
line:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ DX
	JNE line
	VZEROUPPER
copied:
	RET
