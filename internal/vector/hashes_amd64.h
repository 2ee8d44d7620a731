// A hash macro makes BX the h1 of a key, from CX bytes at SI and the state of the Bits. It may change
// AX, CX, DX, SI and R8 to R11. WIDEN, or XOR of h2 in R10, then makes R10 the y of the layouts.

// numbers are constants of which there is one.
DATA numbers<>+0(SB)/8, $1
DATA numbers<>+8(SB)/8, $63
DATA numbers<>+16(SB)/8, $0x0000000100000001
DATA numbers<>+24(SB)/8, $0x9e3779b97f4a7c15 // probe.Xor
DATA numbers<>+32(SB)/8, $0x9e3779b185ebca87 // of probe.Widen
GLOBL numbers<>(SB), RODATA|NOPTR, $40

#define XOR \
	XORQ numbers<>+24(SB), R10

// ABSORB is rapidhash.absorb: it takes the 16 bytes at SI+at into the state in BX.
#define ABSORB(at, secret) \
	MOVQ at(SI), DX   \
	XORQ secret, DX   \
	XORQ 8+at(SI), BX \
	MULXQ BX, AX, BX  \
	XORQ AX, BX

// RAPID is rapidhash.Sum for at most 112 bytes. Registers: R9
// secret1, then secret1 xor the length; R10 secret2; DX and BX the factors of the next product.
#define RAPID \
	MOVQ state, BX                 \
	MOVQ $0x8bb84b93962eacc9, R9   \
	CMPQ CX, $16                   \
	JLE short                      \
	MOVQ $0x4b33a62ed433d4a3, R10  \
	ABSORB(0, R10)                 \
	CMPQ CX, $32                   \
	JLE tail                       \
	ABSORB(16, R10)                \
	CMPQ CX, $48                   \
	JLE tail                       \
	ABSORB(32, R9)                 \
	CMPQ CX, $64                   \
	JLE tail                       \
	ABSORB(48, R9)                 \
	CMPQ CX, $80                   \
	JLE tail                       \
	ABSORB(64, R10)                \
	CMPQ CX, $96                   \
	JLE tail                       \
	ABSORB(80, R9)                 \
tail:                              \
	XORQ CX, R9                    \
	MOVQ -16(SI)(CX*1), DX         \
	XORQ R9, DX                    \
	XORQ -8(SI)(CX*1), BX          \
	JMP end                        \
short:                             \
	MOVQ R9, DX                    \
	XORQ CX, R9                    \
	CMPQ CX, $8                    \
	JLT four                       \
	XORQ CX, BX                    \
	XORQ (SI), DX                  \
	XORQ -8(SI)(CX*1), BX          \
	JMP end                        \
four:                              \
	CMPQ CX, $4                    \
	JLT one                        \
	XORQ CX, BX                    \
	MOVL (SI), AX                  \
	XORQ AX, DX                    \
	MOVL -4(SI)(CX*1), AX          \
	XORQ AX, BX                    \
	JMP end                        \
one:                               \
	TESTQ CX, CX                   \
	JEQ end                        \
	MOVBQZX (SI), AX               \
	SHLQ $45, AX                   \
	XORQ AX, DX                    \
	MOVBQZX -1(SI)(CX*1), AX       \
	XORQ AX, DX                    \
	SHRQ $1, CX                    \
	MOVBQZX (SI)(CX*1), AX         \
	XORQ AX, BX                    \
end:                               \
	MULXQ BX, AX, BX               \
	MOVQ $0xaaaaaaaaaaaaaaaa, DX   \
	XORQ AX, DX                    \
	XORQ R9, BX                    \
	MULXQ BX, AX, BX               \
	XORQ AX, BX

// WIDEN is probe.Widen and then XOR.
#define WIDEN \
	MOVQ numbers<>+24(SB), R10     \
	XORQ BX, R10                   \
	IMULQ numbers<>+32(SB), R10    \
	MOVQ R10, R11                  \
	SHRQ $32, R11                  \
	XORQ R11, R10                  \
	XOR
