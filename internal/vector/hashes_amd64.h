// A hash macro makes BX the h1 of a key, from CX bytes at SI and the state of the Bits. It may change
// AX, CX, DX, SI and R8 to R11. R10 is then h2, from WIDEN for a hash of
// 64 bits, and XOR makes it the y of the layouts.

// numbers are constants of which there is one.
DATA numbers<>+0(SB)/8, $1
DATA numbers<>+8(SB)/8, $63
DATA numbers<>+16(SB)/8, $0x0000000100000001
DATA numbers<>+24(SB)/8, $0x9e3779b97f4a7c15 // probe.Xor
DATA numbers<>+32(SB)/8, $0x9e3779b185ebca87 // of probe.Widen
DATA numbers<>+40(SB)/8, $0xb1b9d47c9f8b8cb9 // probe.Mul · probe.Mul mod 2^64
GLOBL numbers<>(SB), RODATA|NOPTR, $48

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

// WIDEN is probe.Widen: it makes R10 the h2 of a hash of 64 bits.
#define WIDEN \
	MOVQ numbers<>+24(SB), R10     \
	XORQ BX, R10                   \
	IMULQ numbers<>+32(SB), R10    \
	MOVQ R10, R11                  \
	SHRQ $32, R11                  \
	XORQ R11, R10

// MURMUR makes BX and R10 the halves of the Murmur3 x64-128 digest of the CX bytes at SI. Source: Appleby,
// MurmurHash3_x64_128. Registers: R8 and R9 its multipliers; R11 the length; AX and DX the halves of a block. After
// whole blocks, CX is how many bytes are left, less 16. The last bytes are loaded by words that overlap others of the
// key, and shifted: without a branch on their number if there are whole blocks, and in four cases if there are none: 8
// bytes, the most common short key, have no second half.
#define MURMUR \
	MOVQ state, BX                 \
	MOVQ BX, R10                   \
	MOVQ $0x87c37b91114253d5, R8   \
	MOVQ $0x4cf5ad432745937f, R9   \
	MOVQ CX, R11                   \
	SUBQ $16, CX                   \
	JLT short                      \
block:                             \
	MOVQ (SI), AX                  \
	MOVQ 8(SI), DX                 \
	ADDQ $16, SI                   \
	FIRST(AX)                      \
	ROLQ $27, BX                   \
	ADDQ R10, BX                   \
	LEAQ 0x52dce729(BX)(BX*4), BX  \
	SECOND(DX)                     \
	ROLQ $31, R10                  \
	ADDQ BX, R10                   \
	LEAQ 0x38495ab5(R10)(R10*4), R10 \
	SUBQ $16, CX                   \
	JGE block                      \
	ADDQ $16, CX                   \
	JEQ end                        \
	LEAQ (CX*8), AX                \
	NEGQ AX                        \
	LEAQ -8(SI)(CX*1), DX          \
	CMPQ CX, $8                    \
	CMOVQLE DX, SI                 \
	MOVQ (DX), DX                  \
	SHRXQ AX, DX, DX               \
	MOVQ (SI), AX                  \
	MOVL $0, SI                    \
	CMOVQLE DX, AX                 \
	CMOVQLE SI, DX                 \
	FIRST(AX)                      \
	SECOND(DX)                     \
	JMP end                        \
short:                             \
	ADDQ $8, CX                    \
	JLT four                       \
	MOVQ (SI), AX                  \
	JEQ first                      \
	MOVQ (SI)(CX*1), DX            \
	SHLQ $3, CX                    \
	NEGQ CX                        \
	ADDQ $56, CX                   \
	SHRQ $8, DX                    \
	SHRXQ CX, DX, DX               \
	FIRST(AX)                      \
	SECOND(DX)                     \
	JMP end                        \
four:                              \
	ADDQ $4, CX                    \
	JLT one                        \
	MOVL (SI), AX                  \
	MOVL (SI)(CX*1), DX            \
	SHLQ $3, CX                    \
	SHLXQ CX, DX, DX               \
	ORQ DX, AX                     \
first:                             \
	FIRST(AX)                      \
	JMP end                        \
one:                               \
	ADDQ $4, CX                    \
	JEQ end                        \
	MOVBQZX (SI), AX               \
	MOVBQZX -1(SI)(CX*1), DX       \
	SHRQ $1, R11                   \
	MOVBQZX (SI)(R11*1), SI        \
	SHLQ $3, R11                   \
	SHLXQ R11, SI, SI              \
	ORQ SI, AX                     \
	MOVQ CX, R11                   \
	LEAQ -8(CX*8), CX              \
	SHLXQ CX, DX, DX               \
	ORQ DX, AX                     \
	FIRST(AX)                      \
end:                               \
	XORQ R11, BX                   \
	XORQ R11, R10                  \
	ADDQ R10, BX                   \
	ADDQ BX, R10                   \
	MOVQ $0xff51afd7ed558ccd, R8   \
	MOVQ $0xc4ceb9fe1a85ec53, R9   \
	FMIX(BX)                       \
	FMIX(R10)                      \
	ADDQ R10, BX                   \
	ADDQ BX, R10

// FIRST and SECOND take the first and the second half of a block into the state.
#define FIRST(b) \
	IMULQ R8, b \
	ROLQ $31, b \
	IMULQ R9, b \
	XORQ b, BX

#define SECOND(b) \
	IMULQ R9, b \
	ROLQ $33, b \
	IMULQ R8, b \
	XORQ b, R10

// FMIX is Murmur3's finalizer of a half. R8 and R9 are its multipliers.
#define FMIX(h) \
	MOVQ h, AX   \
	SHRQ $33, AX \
	XORQ AX, h   \
	IMULQ R8, h  \
	MOVQ h, AX   \
	SHRQ $33, AX \
	XORQ AX, h   \
	IMULQ R9, h  \
	MOVQ h, AX   \
	SHRQ $33, AX \
	XORQ AX, h
