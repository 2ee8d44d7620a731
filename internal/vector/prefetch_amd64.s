//go:build !purego && !race

#include "textflag.h"

// func readLines(words unsafe.Pointer, at *[MostPrefetched]uint64, n int)
TEXT ·readLines(SB), NOSPLIT, $0-24
	MOVQ words+0(FP), DI
	MOVQ at+8(FP), SI
	MOVQ n+16(FP), DX
	TESTQ DX, DX
	JEQ done
next:
	MOVQ (SI), CX
	PREFETCHT0 (DI)(CX*1)
	ADDQ $8, SI
	DECQ DX
	JNE next
done:
	RET

// func writeLines(words unsafe.Pointer, at *[MostPrefetched]uint64, n int)
TEXT ·writeLines(SB), NOSPLIT, $0-24
	MOVQ words+0(FP), DI
	MOVQ at+8(FP), SI
	MOVQ n+16(FP), DX
	TESTQ DX, DX
	JEQ done
next:
	MOVQ (SI), CX
	ADDQ DI, CX
	BYTE $0x0f; BYTE $0x0d; BYTE $0x09 // PREFETCHW (CX)
	ADDQ $8, SI
	DECQ DX
	JNE next
done:
	RET
