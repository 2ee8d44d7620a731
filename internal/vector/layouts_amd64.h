// A layout has three macros, and Double a second look. Start loads what stays the same for all keys. The
// look finds the words of the digest with h1 in BX and y, h2 xor probe.Xor, in R10, and sets the
// carry flag if all of the key's bits are set. The setter takes what the look has left, with at least
// one unset bit, sets the key's bits as "How an add finds its one winner" in package bloom says, and
// leaves flags that are unequal if this call has completed the key. All have DI, the Bits, and must
// keep R12 to R15.

#define words Bits_Words(DI)
#define blocks Bits_Blocks(DI)
#define positions Bits_K(DI)
#define state Bits_State(DI)

// LASTWORD is flipLast: it sets the bits DX in the word at R9, which was AX when last seen.
#define LASTWORD \
again:                 \
	MOVQ AX, BX        \
	ORQ DX, BX         \
	LOCK               \
	CMPXCHGQ BX, (R9)  \
	JNE again          \
	XORQ AX, BX

// FLIP16 sets the bits R9:R8 in the 16 bytes at SI, which were DX:AX when last seen. Then BX and CX
// are what they have become.
#define FLIP16(again) \
again:              \
	MOVQ AX, BX     \
	ORQ R8, BX      \
	MOVQ DX, CX     \
	ORQ R9, CX      \
	LOCK            \
	CMPXCHG16B (SI) \
	JNE again

// Split: salts are probe's multipliers of the lanes.
DATA salts<>+0(SB)/8, $0x44974d9147b6137b
DATA salts<>+8(SB)/8, $0xa2b7289d8824ad5b
DATA salts<>+16(SB)/8, $0x2df1424b705495c7
DATA salts<>+24(SB)/8, $0x5c6bfb319efc4947
GLOBL salts<>(SB), RODATA|NOPTR, $32

// SPLITSTART: Y14 the salts, Y13 a 1 in each lane.
#define SPLITSTART \
	VMOVDQU salts<>(SB), Y14 \
	VPBROADCASTQ numbers<>+16(SB), Y13

// SPLIT: SI the block, Y3 its words, Y1 the key's bits.
#define SPLIT \
	VMOVD BX, X1        \
	SHRQ $32, BX        \
	IMULQ blocks, BX     \
	VPBROADCASTD X1, Y1 \
	SHRQ $32, BX        \
	VPMULLD Y14, Y1, Y1 \
	SHLQ $5, BX         \
	VPSRLD $27, Y1, Y1  \
	ADDQ words, BX      \
	VPSLLVD Y1, Y13, Y1 \
	VMOVDQU (BX), Y3    \
	MOVQ BX, SI         \
	VPTEST Y1, Y3

// SETSPLIT sets the lower half unless only it has unset bits, then the half with the last unset bit.
#define SETSPLIT \
	VEXTRACTI128 $1, Y1, X5 \
	VEXTRACTI128 $1, Y3, X6 \
	VMOVQ X3, AX            \
	VPEXTRQ $1, X3, DX      \
	VMOVQ X1, R8            \
	VPEXTRQ $1, X1, R9      \
	VPTEST X5, X6           \
	JCS flip                \
	FLIP16(lower)           \
	ADDQ $16, SI            \
	VMOVQ X6, AX            \
	VPEXTRQ $1, X6, DX      \
	VMOVQ X5, R8            \
	VPEXTRQ $1, X5, R9      \
	FLIP16(flip)            \
	XORQ AX, BX             \
	XORQ DX, CX             \
	ORQ BX, CX

// Blocked: counts has, for 2, 4, 6 and 8 probes of a round, the shifts of y that bring each probe's
// number to the lowest place. Lane i is for group i mod z. Spare lanes repeat a probe of their group.
DATA counts<>+0(SB)/8, $0x0600060006000600
DATA counts<>+8(SB)/8, $0x120c0600120c0600
DATA counts<>+16(SB)/8, $0x1e181e18120c0600
DATA counts<>+24(SB)/8, $0x2a241e18120c0600
GLOBL counts<>(SB), RODATA|NOPTR, $32

DATA lanes<>+0(SB)/8, $0
DATA lanes<>+8(SB)/8, $1
DATA lanes<>+16(SB)/8, $2
DATA lanes<>+24(SB)/8, $3
GLOBL lanes<>(SB), RODATA|NOPTR, $32

// BLOCKEDSTART: Y14 is 1 and Y13 is 63 in each lane, Y12 and Y11 the counts of the first round.
#define BLOCKEDSTART \
	VPBROADCASTQ numbers<>+0(SB), Y14 \
	VPBROADCASTQ numbers<>+8(SB), Y13 \
	LEAQ counts<>-8(SB), DX           \
	MOVQ positions, AX                \
	MOVQ $8, R9                       \
	CMPQ AX, R9                       \
	CMOVQGT R9, AX                    \
	VPMOVZXBQ 0(DX)(AX*4), Y12        \
	VPMOVZXBQ 4(DX)(AX*4), Y11

// BLOCK: SI the block, Y0 y in each lane.
#define BLOCK \
	MOVQ BX, DX         \
	MULXQ blocks, AX, SI \
	SHLQ $6, SI         \
	ADDQ words, SI      \
	VMOVQ R10, X0       \
	VPBROADCASTQ X0, Y0

// MASKS: Y1 and Y2 the bits of a key's probes. R11 is t·probe.Xor for the t of probe.Next.
#define MASKS \
	PROBES(Y12, Y1)              \
	PROBES(Y11, Y2)              \
	MOVQ positions, CX           \
	XORL R11, R11                \
	SUBQ $8, CX                  \
	JLE masked                   \
round:                           \
	ADDQ numbers<>+24(SB), R11   \
	MOVQ R11, DX                 \
	XORQ R10, DX                 \
	MOVQ $0xd1342543de82ef95, AX \
	MULXQ AX, AX, DX             \
	XORQ AX, DX                  \
	VMOVQ DX, X0                 \
	VPBROADCASTQ X0, Y5          \
	MOVQ $8, AX                  \
	CMPQ CX, AX                  \
	CMOVQLT CX, AX               \
	LEAQ counts<>-8(SB), DX      \
	VPMOVZXBQ 0(DX)(AX*4), Y6    \
	VPMOVZXBQ 4(DX)(AX*4), Y7    \
	NEXTPROBES(Y6, Y1)           \
	NEXTPROBES(Y7, Y2)           \
	SUBQ $8, CX                  \
	JGT round                    \
masked:

#define PROBES(count, bits) \
	VPSRLVQ count, Y0, bits \
	VPAND Y13, bits, bits   \
	VPSLLVQ bits, Y14, bits

#define NEXTPROBES(count, bits) \
	VPSRLVQ count, Y5, count  \
	VPAND Y13, count, count   \
	VPSLLVQ count, Y14, count \
	VPOR count, bits, bits

// BLOCKED2: R8 and R9 the two words' addresses, Y3 the words in turn, Y1 the key's bits.
#define BLOCKED2 \
	BLOCK                      \
	MOVQ R10, R8               \
	SHRQ $62, R8               \
	LEAQ (SI)(R8*8), R8        \
	MOVQ R10, R9               \
	SHRQ $60, R9               \
	ANDL $3, R9                \
	LEAQ 32(SI)(R9*8), R9      \
	VPBROADCASTQ (R8), Y3      \
	VPBROADCASTQ (R9), Y4      \
	VPBLENDD $0xcc, Y4, Y3, Y3 \
	MASKS                      \
	VPOR Y2, Y1, Y1            \
	VPTEST Y1, Y3

// SET2 swaps the words if the second has no unset bit, without a branch.
#define SET2 \
	VEXTRACTI128 $1, Y1, X2 \
	VPOR X2, X1, X1         \
	VMOVQ X1, CX            \
	VPEXTRQ $1, X1, DX      \
	VMOVQ X3, BX            \
	VPEXTRQ $1, X3, AX      \
	ANDNQ DX, AX, R11       \
	MOVQ DX, R11            \
	CMOVQEQ CX, DX          \
	CMOVQEQ R11, CX         \
	MOVQ R9, R11            \
	CMOVQEQ R8, R9          \
	CMOVQEQ R11, R8         \
	CMOVQEQ BX, AX          \
	LOCK                    \
	ORQ CX, (R8)            \
	LASTWORD

// BLOCKED4: Y3 the four words, Y1 the key's bits. Of each pair of words, a bit of y selects one.
#define BLOCKED4 \
	BLOCK                          \
	VMOVDQU (SI), X3               \
	VINSERTI128 $1, 32(SI), Y3, Y3 \
	VMOVDQU 16(SI), X4             \
	VINSERTI128 $1, 48(SI), Y4, Y4 \
	VPSLLVQ lanes<>(SB), Y0, Y5    \
	VPUNPCKLQDQ Y4, Y3, Y6         \
	VPUNPCKHQDQ Y4, Y3, Y7         \
	VBLENDVPD Y5, Y7, Y6, Y3       \
	MASKS                          \
	VPOR Y2, Y1, Y1                \
	VPTEST Y1, Y3

// SET4 takes the words in turn, beginning after the last one with an unset bit, R8, which is the end.
#define SET4 \
	VMOVDQU Y1, 0(SP)     \
	VPANDN Y1, Y3, Y5     \
	VPXOR Y7, Y7, Y7      \
	VPCMPEQQ Y7, Y5, Y5   \
	VMOVMSKPD Y5, AX      \
	XORL $15, AX          \
	BSRQ AX, R8           \
	MOVQ R8, R11          \
word:                     \
	INCQ R11              \
	ANDL $3, R11          \
	MOVL $63, CX          \
	SUBL R11, CX          \
	SHRXQ CX, R10, AX     \
	ANDL $1, AX           \
	LEAQ (AX)(R11*2), AX  \
	LEAQ (SI)(AX*8), R9   \
	MOVQ 0(SP)(R11*8), DX \
	CMPQ R11, R8          \
	JEQ lastword          \
	LOCK                  \
	ORQ DX, (R9)          \
	JMP word              \
lastword:                 \
	MOVQ (R9), AX         \
	LASTWORD

// BLOCKED8: Y1 and Y2 the key's bits, Y5 and Y6 the unset ones.
#define BLOCKED8 \
	BLOCK              \
	MASKS              \
	VMOVDQU (SI), Y3   \
	VMOVDQU 32(SI), Y4 \
	VPANDN Y1, Y3, Y5  \
	VPANDN Y2, Y4, Y6  \
	VPXOR Y8, Y8, Y8   \
	VPOR Y5, Y6, Y7    \
	VPTEST Y7, Y8

// SET8 takes pairs of words in turn, like SET4. R11 and R8 are the pairs' offsets.
#define SET8 \
	VMOVDQU Y1, 0(SP)        \
	VMOVDQU Y2, 32(SP)       \
	VPCMPEQQ Y8, Y5, Y5      \
	VPCMPEQQ Y8, Y6, Y6      \
	VMOVMSKPD Y5, AX         \
	VMOVMSKPD Y6, CX         \
	SHLL $4, CX              \
	ORL CX, AX               \
	XORL $255, AX            \
	BSRQ AX, R8              \
	ANDL $6, R8              \
	SHLL $3, R8              \
	MOVQ R8, R11             \
pair:                        \
	ADDQ $16, R11            \
	ANDL $48, R11            \
	MOVQ (SI)(R11*1), AX     \
	MOVQ 8(SI)(R11*1), DX    \
again:                       \
	MOVQ 0(SP)(R11*1), BX    \
	ORQ AX, BX               \
	MOVQ 8(SP)(R11*1), CX    \
	ORQ DX, CX               \
	LOCK                     \
	CMPXCHG16B (SI)(R11*1)   \
	JNE again                \
	CMPQ R11, R8             \
	JNE pair                 \
	XORQ AX, BX              \
	XORQ DX, CX              \
	ORQ BX, CX

// Double: x_i = x_0·power_i + y·sum_i. The ninth ones lead to the next eight.
DATA powers<>+0(SB)/8, $0x1
DATA powers<>+8(SB)/8, $0xd1342543de82ef95
DATA powers<>+16(SB)/8, $0xb1b9d47c9f8b8cb9
DATA powers<>+24(SB)/8, $0x739d9fcd088b9ead
DATA powers<>+32(SB)/8, $0x49136017ec40ddb1
DATA powers<>+40(SB)/8, $0xe7fc1700229b4705
DATA powers<>+48(SB)/8, $0x2d320d22823800e9
DATA powers<>+56(SB)/8, $0x35f577dd97c40e9d
DATA powers<>+64(SB)/8, $0xce3a3efbf07b1461
GLOBL powers<>(SB), RODATA|NOPTR, $72

DATA sums<>+0(SB)/8, $0x0
DATA sums<>+8(SB)/8, $0x1
DATA sums<>+16(SB)/8, $0xd1342543de82ef96
DATA sums<>+24(SB)/8, $0x82edf9c07e0e7c4f
DATA sums<>+32(SB)/8, $0xf68b998d869a1afc
DATA sums<>+40(SB)/8, $0x3f9ef9a572daf8ad
DATA sums<>+48(SB)/8, $0x279b10a595763fb2
DATA sums<>+56(SB)/8, $0x54cd1dc817ae409b
DATA sums<>+64(SB)/8, $0x8ac295a5af724f38
GLOBL sums<>(SB), RODATA|NOPTR, $72

// DOUBLESTART: Z31 the number of bits, Z30 and Z29 the powers and the sums.
#define DOUBLESTART \
	VPBROADCASTQ blocks, Z31       \
	VMOVDQU64 powers<>(SB), Z30   \
	VMOVDQU64 sums<>(SB), Z29

// SPREAD makes Z16 and Z17 of BX and R10, and VECTORSPREAD of X16 and h2 in X17.
#define SPREAD \
	VPBROADCASTQ BX, Z16 \
	VPBROADCASTQ R10, Z17

#define VECTORSPREAD \
	VPXORQ.BCST numbers<>+24(SB), X17, X17 \
	VPBROADCASTQ X16, Z16                  \
	VPBROADCASTQ X17, Z17

// DOUBLE looks at eight positions at a time. Each is floor(x·m / 2^64), by halves because m is below
// 2^32. The words are loaded one by one, which takes less time than a gather. note says what to keep
// of unset bits. A lookup does not stop at one, because a branch would be mispredicted. Places without
// a position get the first word: no other line is loaded. Registers: Z16 h1, then x, and Z17 y; Z19 the
// positions, Z20 the numbers of their words, then the words; K1 which of them are needed, then which
// are unset; SI the words; CX how many positions are left; R8 a line of the stack for the numbers,
// and R9 the next one, where R11 begins. The line must be aligned, or each load from it would wait.
#define DOUBLE(note) \
	VPMULLQ Z30, Z16, Z16                  \
	VPMULLQ Z29, Z17, Z19                  \
	VPADDQ Z19, Z16, Z16                   \
	MOVQ words, SI                         \
	MOVQ positions, CX                     \
	LEAQ 63(SP), R8                        \
	ANDQ $-64, R8                          \
	LEAQ 64(R8), R9                        \
	MOVQ R9, R11                           \
probes:                                    \
	VPSRLQ $32, Z16, Z19                   \
	VPMULUDQ Z31, Z19, Z19                 \
	VPMULUDQ Z31, Z16, Z20                 \
	VPSRLQ $32, Z20, Z20                   \
	VPADDQ Z20, Z19, Z19                   \
	VPSRLQ $32, Z19, Z19                   \
	VPSRLQ $6, Z19, Z20                    \
	MOVL $-1, AX                           \
	BZHIL CX, AX, AX                       \
	KMOVB AX, K1                           \
	KNOTB K1, K2                           \
	VPBROADCASTQ X20, K2, Z20              \
	VMOVDQU64 Z20, (R8)                    \
	PAIR(0, X20)                           \
	PAIR(16, X21)                          \
	PAIR(32, X22)                          \
	PAIR(48, X23)                          \
	VINSERTI64X2 $1, X21, Y20, Y20         \
	VINSERTI64X2 $1, X23, Y22, Y22         \
	VINSERTI64X4 $1, Y22, Z20, Z20         \
	VPRORVQ Z19, Z20, Z20                  \
	VPTESTNMQ.BCST numbers<>+0(SB), Z20, K1, K1 \
	note                                   \
	SUBQ $8, CX                            \
	JLE looked                             \
	VPMULLQ.BCST powers<>+64(SB), Z16, Z16 \
	VPMULLQ.BCST sums<>+64(SB), Z17, Z19   \
	VPADDQ Z19, Z16, Z16                   \
	JMP probes                             \
looked:                                    \
	LEAQ 1(R9), AX                         \
	CMPQ R11, AX

#define PAIR(at, x) \
	MOVQ at(R8), AX   \
	MOVQ 8+at(R8), DX \
	VMOVQ (SI)(AX*8), x \
	VPINSRQ $1, (SI)(DX*8), x, x

// ANY lets R11 grow if a bit is unset. LIST also writes the positions of unset bits there.
#define ANY \
	KMOVB K1, AX \
	ADDQ AX, R11

#define LIST \
	VPCOMPRESSQ.Z Z19, K1, Z20 \
	VMOVDQU64 Z20, (R11)       \
	KMOVB K1, AX               \
	POPCNTL AX, AX             \
	LEAQ (R11)(AX*8), R11

// SETDOUBLE sets the listed bits, the last one at the end. Setting only unset ones saves locked
// instructions of 2 to 5 ns each.
#define SETDOUBLE \
	SUBQ $8, R11            \
	MOVQ (R11), CX          \
	JMP listed              \
bit:                        \
	MOVQ (R9), AX           \
	ADDQ $8, R9             \
	CMPQ AX, CX             \
	JEQ listed              \
	MOVL $1, DX             \
	SHLXQ AX, DX, DX        \
	SHRQ $6, AX             \
	LOCK                    \
	ORQ DX, (SI)(AX*8)      \
listed:                     \
	CMPQ R9, R11            \
	JNE bit                 \
	MOVL $1, DX             \
	SHLXQ CX, DX, DX        \
	SHRQ $6, CX             \
	LEAQ (SI)(CX*8), R9     \
	MOVQ (R9), AX           \
	LASTWORD
