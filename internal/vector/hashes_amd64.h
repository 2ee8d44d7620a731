// Names of registers. "in, out, clobbers" above each macro is its contract: the registers that it needs, those that it
// leaves for other macros, and those that it changes besides. An argument stands for itself, or for what its code
// changes. TestContracts compares the contracts with the code.

#define filter  DI // the Bits
#define hits    R12 // of a batch: how many answers are true
#define element R13 // the slice header, string header or digest
#define answer  R14
#define digest  R14 // where the next one is written
#define left    R15 // keys
#define bytes   SI // of a key
#define length  CX
#define hash1   BX // the digest, h1
#define hash2   R10 // and h2
#define secret1 R9 // of RapidHash
#define secret2 R10
#define mul1    R8 // of Murmur3
#define mul2    R9
#define half1   AX // a block of Murmur3
#define half2   DX
#define total   R11 // length of the key

// A hash macro makes the digest of the length bytes at bytes, from the state of the Bits. After a hash of 64 bits,
// WIDEN makes hash2. XOR makes hash2 the y of the layouts.

// numbers has scalar constants.
DATA numbers<>+0(SB)/8, $1
DATA numbers<>+8(SB)/8, $63
DATA numbers<>+16(SB)/8, $0x0000000100000001
DATA numbers<>+24(SB)/8, $0x9e3779b97f4a7c15 // probe.Xor
DATA numbers<>+32(SB)/8, $0x9e3779b185ebca87 // of probe.Widen
DATA numbers<>+40(SB)/8, $0xb1b9d47c9f8b8cb9 // probe.Mul · probe.Mul mod 2^64
GLOBL numbers<>(SB), RODATA|NOPTR, $48

//	in: hash2; out: hash2; clobbers: -
#define XOR \
	XORQ numbers<>+24(SB), hash2

// ABSORB is rapidhash.absorb: it takes the 16 bytes at bytes+at into the state, hash1.
//
//	in: at bytes secret hash1; out: hash1; clobbers: DX AX
#define ABSORB(at, secret) \
	MOVQ at(bytes), DX      \
	XORQ secret, DX         \
	XORQ 8+at(bytes), hash1 \
	MULXQ hash1, AX, hash1  \
	XORQ AX, hash1

// RAPID is rapidhash.Sum for at most 112 bytes. After whole steps, secret1 is xor the length. DX and hash1 are the
// factors of the next product.
//
//	in: filter length bytes; out: hash1; clobbers: secret1 secret2 DX AX length
#define RAPID \
	MOVQ state, hash1                 \
	MOVQ $0x8bb84b93962eacc9, secret1 \
	CMPQ length, $16                  \
	JLE short                         \
	MOVQ $0x4b33a62ed433d4a3, secret2 \
	ABSORB(0, secret2)                \
	CMPQ length, $32                  \
	JLE tail                          \
	ABSORB(16, secret2)               \
	CMPQ length, $48                  \
	JLE tail                          \
	ABSORB(32, secret1)               \
	CMPQ length, $64                  \
	JLE tail                          \
	ABSORB(48, secret1)               \
	CMPQ length, $80                  \
	JLE tail                          \
	ABSORB(64, secret2)               \
	CMPQ length, $96                  \
	JLE tail                          \
	ABSORB(80, secret1)               \
tail:                                 \
	XORQ length, secret1              \
	MOVQ -16(bytes)(length*1), DX     \
	XORQ secret1, DX                  \
	XORQ -8(bytes)(length*1), hash1   \
	JMP end                           \
short:                                \
	MOVQ secret1, DX                  \
	XORQ length, secret1              \
	CMPQ length, $8                   \
	JLT four                          \
	XORQ length, hash1                \
	XORQ (bytes), DX                  \
	XORQ -8(bytes)(length*1), hash1   \
	JMP end                           \
four:                                 \
	CMPQ length, $4                   \
	JLT one                           \
	XORQ length, hash1                \
	MOVL (bytes), AX                  \
	XORQ AX, DX                       \
	MOVL -4(bytes)(length*1), AX      \
	XORQ AX, hash1                    \
	JMP end                           \
one:                                  \
	TESTQ length, length              \
	JEQ end                           \
	MOVBQZX (bytes), AX               \
	SHLQ $45, AX                      \
	XORQ AX, DX                       \
	MOVBQZX -1(bytes)(length*1), AX   \
	XORQ AX, DX                       \
	SHRQ $1, length                   \
	MOVBQZX (bytes)(length*1), AX     \
	XORQ AX, hash1                    \
end:                                  \
	MULXQ hash1, AX, hash1            \
	MOVQ $0xaaaaaaaaaaaaaaaa, DX      \
	XORQ AX, DX                       \
	XORQ secret1, hash1               \
	MULXQ hash1, AX, hash1            \
	XORQ AX, hash1

// WIDEN is probe.Widen, for a hash of 64 bits.
//
//	in: hash1; out: hash2; clobbers: R11
#define WIDEN \
	MOVQ numbers<>+24(SB), hash2  \
	XORQ hash1, hash2             \
	IMULQ numbers<>+32(SB), hash2 \
	MOVQ hash2, R11               \
	SHRQ $32, R11                 \
	XORQ R11, hash2

// MURMUR is Murmur3 x64-128. Source: Appleby, MurmurHash3_x64_128. After whole blocks, length is how many bytes are
// left, less 16. The last bytes are loaded by words that overlap others of the key, and shifted: without a branch on
// their number if there are whole blocks, and in four cases if there are none: 8 bytes, the most common short key, have
// no second half.
//
//	in: filter length bytes; out: hash1 hash2; clobbers: mul1 mul2 total length half1 half2 bytes
#define MURMUR \
	MOVQ state, hash1                      \
	MOVQ hash1, hash2                      \
	MOVQ $0x87c37b91114253d5, mul1         \
	MOVQ $0x4cf5ad432745937f, mul2         \
	MOVQ length, total                     \
	SUBQ $16, length                       \
	JLT short                              \
whole:                                     \
	MOVQ (bytes), half1                    \
	MOVQ 8(bytes), half2                   \
	ADDQ $16, bytes                        \
	FIRST(half1)                           \
	ROLQ $27, hash1                        \
	ADDQ hash2, hash1                      \
	LEAQ 0x52dce729(hash1)(hash1*4), hash1 \
	SECOND(half2)                          \
	ROLQ $31, hash2                        \
	ADDQ hash1, hash2                      \
	LEAQ 0x38495ab5(hash2)(hash2*4), hash2 \
	SUBQ $16, length                       \
	JGE whole                              \
	ADDQ $16, length                       \
	JEQ end                                \
	LEAQ (length*8), half1                 \
	NEGQ half1                             \
	LEAQ -8(bytes)(length*1), half2        \
	CMPQ length, $8                        \
	CMOVQLE half2, bytes                   \
	MOVQ (half2), half2                    \
	SHRXQ half1, half2, half2              \
	MOVQ (bytes), half1                    \
	MOVL $0, bytes                         \
	CMOVQLE half2, half1                   \
	CMOVQLE bytes, half2                   \
	FIRST(half1)                           \
	SECOND(half2)                          \
	JMP end                                \
short:                                     \
	ADDQ $8, length                        \
	JLT four                               \
	MOVQ (bytes), half1                    \
	JEQ first                              \
	MOVQ (bytes)(length*1), half2          \
	SHLQ $3, length                        \
	NEGQ length                            \
	ADDQ $56, length                       \
	SHRQ $8, half2                         \
	SHRXQ length, half2, half2             \
	FIRST(half1)                           \
	SECOND(half2)                          \
	JMP end                                \
four:                                      \
	ADDQ $4, length                        \
	JLT one                                \
	MOVL (bytes), half1                    \
	MOVL (bytes)(length*1), half2          \
	SHLQ $3, length                        \
	SHLXQ length, half2, half2             \
	ORQ half2, half1                       \
first:                                     \
	FIRST(half1)                           \
	JMP end                                \
one:                                       \
	ADDQ $4, length                        \
	JEQ end                                \
	MOVBQZX (bytes), half1                 \
	MOVBQZX -1(bytes)(length*1), half2     \
	SHRQ $1, total                         \
	MOVBQZX (bytes)(total*1), bytes        \
	SHLQ $3, total                         \
	SHLXQ total, bytes, bytes              \
	ORQ bytes, half1                       \
	MOVQ length, total                     \
	LEAQ -8(length*8), length              \
	SHLXQ length, half2, half2             \
	ORQ half2, half1                       \
	FIRST(half1)                           \
end:                                       \
	XORQ total, hash1                      \
	XORQ total, hash2                      \
	ADDQ hash2, hash1                      \
	ADDQ hash1, hash2                      \
	MOVQ $0xff51afd7ed558ccd, mul1         \
	MOVQ $0xc4ceb9fe1a85ec53, mul2         \
	FMIX(hash1)                            \
	FMIX(hash2)                            \
	ADDQ hash2, hash1                      \
	ADDQ hash1, hash2

// FIRST and SECOND take the first and the second half of a block into the state.
//
//	in: mul1 b mul2 hash1; out: hash1; clobbers: b
#define FIRST(b) \
	IMULQ mul1, b \
	ROLQ $31, b   \
	IMULQ mul2, b \
	XORQ b, hash1

//	in: mul2 b mul1 hash2; out: hash2; clobbers: b
#define SECOND(b) \
	IMULQ mul2, b \
	ROLQ $33, b   \
	IMULQ mul1, b \
	XORQ b, hash2

// FMIX is Murmur3's finalizer of a half.
//
//	in: h mul1 mul2; out: h; clobbers: AX
#define FMIX(h) \
	MOVQ h, AX    \
	SHRQ $33, AX  \
	XORQ AX, h    \
	IMULQ mul1, h \
	MOVQ h, AX    \
	SHRQ $33, AX  \
	XORQ AX, h    \
	IMULQ mul2, h \
	MOVQ h, AX    \
	SHRQ $33, AX  \
	XORQ AX, h
