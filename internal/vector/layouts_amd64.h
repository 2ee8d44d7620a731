// A layout has three macros, and Double no start but a second look. Start loads what stays the same for all keys. The
// look finds the words of the digest with h1 in BX and y, h2 xor probe.Xor, in R10, and sets the
// carry flag if all of the key's bits are set. The setter takes what the look has left, with at least
// one unset bit, sets the key's bits as "How an add finds its one winner" in package bloom says, and
// leaves flags that are unequal if this call has completed the key. All have DI, the Bits, and must
// keep R12 to R15 if there are batches.

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

// SETSPLIT sets the lower half unless only it has unset bits, then the half with the last unset bit. R11:R10 are the key's
// bits in the upper half. Its words are loaded again after the lower half: taken from Y3, they cost AMD's processors a
// nanosecond.
#define SETSPLIT \
	VEXTRACTI128 $1, Y1, X5 \
	VEXTRACTI128 $1, Y3, X6 \
	VMOVQ X3, AX            \
	VPEXTRQ $1, X3, DX      \
	VMOVQ X1, R8            \
	VPEXTRQ $1, X1, R9      \
	VMOVQ X5, R10           \
	VPEXTRQ $1, X5, R11     \
	VPTEST X5, X6           \
	JCS flip                \
	FLIP16(lower)           \
	ADDQ $16, SI            \
	MOVQ (SI), AX           \
	MOVQ 8(SI), DX          \
	MOVQ R10, R8            \
	MOVQ R11, R9            \
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

// BLOCK: SI the block, X0 y.
#define BLOCK \
	MOVQ BX, DX         \
	MULXQ blocks, AX, SI \
	SHLQ $6, SI         \
	ADDQ words, SI      \
	VMOVQ R10, X0

// NEXT: X0 the number that the next eight probes are made from. R11 is t·probe.Xor for the t of probe.Next.
#define NEXT \
	ADDQ numbers<>+24(SB), R11   \
	MOVQ R11, DX                 \
	XORQ R10, DX                 \
	MOVQ $0xd1342543de82ef95, AX \
	MULXQ AX, AX, DX             \
	XORQ AX, DX                  \
	VMOVQ DX, X0

// MASKS: Y1 and Y2 the bits of a key's probes, from Y0, y in each lane.
#define MASKS \
	PROBES(Y12, Y1)              \
	PROBES(Y11, Y2)              \
	MOVQ positions, CX           \
	XORL R11, R11                \
	SUBQ $8, CX                  \
	JLE masked                   \
round:                           \
	NEXT                         \
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

// BLOCKED2START: X14 is 1 and X13 is 63 in each half, X12 the shifts of y that bring a pair's numbers to the lowest place.
#define BLOCKED2START \
	VMOVDDUP numbers<>+0(SB), X14 \
	VMOVDDUP numbers<>+8(SB), X13 \
	VPMOVZXBQ counts<>+0(SB), X12

// BLOCKED2: R8 and R9 the two words' addresses, X3 the words, X1 the key's bits, CX how many probes are left. It keeps to
// 16 bytes: one key fills no more, its bits reach the locked instructions sooner, and a single call needs no
// VZEROUPPER. It never has 8, 16, ... probes.
#define BLOCKED2 \
	BLOCK                    \
	SPREAD                   \
	MOVQ R10, R8             \
	SHRQ $62, R8             \
	LEAQ (SI)(R8*8), R8      \
	MOVQ R10, R9             \
	SHRQ $60, R9             \
	ANDL $3, R9              \
	LEAQ 32(SI)(R9*8), R9    \
	VMOVQ (R8), X3           \
	VPINSRQ $1, (R9), X3, X3 \
	MOVQ positions, CX       \
	PAIR(X1)                 \
	JEQ masked               \
	MORE                     \
	JEQ masked               \
	MORE                     \
	JEQ masked               \
	XORL R11, R11            \
round:                       \
	MORE                     \
	NEXT                     \
	SPREAD                   \
	PAIR(X5)                 \
	VPOR X5, X1, X1          \
	JEQ masked               \
	MORE                     \
	JEQ masked               \
	MORE                     \
	JNE round                \
masked:                      \
	VPTEST X1, X3

// SPREAD: X0 what it was and that shifted for the second word. PAIR: bits those of the next probe of each word. MORE takes
// two more of eight probes.
#define SPREAD \
	VPUNPCKLQDQ X0, X0, X0 \
	VPSRLVQ X12, X0, X0

#define PAIR(bits) \
	VPAND X13, X0, bits     \
	VPSLLVQ bits, X14, bits \
	SUBQ $2, CX

#define MORE \
	VPSRLQ $12, X0, X0 \
	PAIR(X5)           \
	VPOR X5, X1, X1

// SET2 swaps the words if the second has no unset bit. A branch is rarely mispredicted, because the second word of a new
// key usually has one, and the locked instruction need not wait for the words: with conditional moves, a new key took up
// to a tenth longer.
#define SET2 \
	VMOVQ X1, CX       \
	VPEXTRQ $1, X1, DX \
	VPEXTRQ $1, X3, AX \
	ANDNQ DX, AX, R11  \
	JNE inorder        \
	XCHGQ CX, DX       \
	XCHGQ R8, R9       \
	VMOVQ X3, AX       \
inorder:               \
	LOCK               \
	ORQ CX, (R8)       \
	LASTWORD

// BLOCKED4: Y3 the four words, Y1 the key's bits. Of each pair of words, a bit of y selects one.
#define BLOCKED4 \
	BLOCK                          \
	VPBROADCASTQ X0, Y0            \
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

// SET4 sets the words in order if the last one has an unset bit, as it usually has. Otherwise it takes the words in turn,
// beginning after the last one with an unset bit, R8, which is the end. The turns alone took up to a fifth longer.
// Registers: AX which words have unset bits; DX, R11 and BX what y selects of the first three pairs, and R9 the last word.
#define SET4 \
	VPANDN Y1, Y3, Y5     \
	VPXOR Y7, Y7, Y7      \
	VPCMPEQQ Y7, Y5, Y5   \
	VMOVMSKPD Y5, AX      \
	XORL $15, AX          \
	MOVQ R10, DX          \
	SHRQ $63, DX          \
	MOVQ R10, R11         \
	SHRQ $62, R11         \
	ANDL $1, R11          \
	MOVQ R10, BX          \
	SHRQ $61, BX          \
	ANDL $1, BX           \
	MOVQ R10, R9          \
	SHRQ $60, R9          \
	ANDL $1, R9           \
	LEAQ 48(SI)(R9*8), R9 \
	TESTL $8, AX          \
	JEQ rare              \
	VMOVQ X1, CX          \
	LOCK                  \
	ORQ CX, (SI)(DX*8)    \
	VPEXTRQ $1, X1, CX    \
	LOCK                  \
	ORQ CX, 16(SI)(R11*8) \
	VEXTRACTI128 $1, Y1, X1 \
	VMOVQ X1, CX          \
	LOCK                  \
	ORQ CX, 32(SI)(BX*8)  \
	VPEXTRQ $1, X1, DX    \
	JMP lastword          \
rare:                     \
	VMOVDQU Y1, 0(SP)     \
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
	VPBROADCASTQ X0, Y0 \
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

// DOUBLE looks at two positions at a time, each from the one before the last: with two chains of half
// the length, x_(i+2) = x_i·Mul² + y·(Mul+1). A lookup does not stop at an unset bit, because a branch
// would be mispredicted. There are no vectors here: one key fills few of them, and a multiplication in
// vectors takes 15 cycles on Intel's processors. note says what to keep of unset bits. Registers: BX and R11
// x, R10 the summand, DX the number of bits, CX how many positions are left, R8 how many bits are unset, SI
// the words.
#define DOUBLE(note) \
	MOVQ words, SI                \
	MOVQ blocks, DX               \
	MOVQ positions, CX            \
	MOVQ $0xd1342543de82ef95, R8  \
	MOVQ BX, R11                  \
	IMULQ R8, R11                 \
	ADDQ R10, R11                 \
	INCQ R8                       \
	IMULQ R8, R10                 \
	XORL R8, R8                   \
	SUBQ $2, CX                   \
	JLT odd                       \
two:                              \
	PROBE(BX, note)               \
	PROBE(R11, note)              \
	IMULQ numbers<>+40(SB), BX    \
	ADDQ R10, BX                  \
	IMULQ numbers<>+40(SB), R11   \
	ADDQ R10, R11                 \
	SUBQ $2, CX                   \
	JGE two                       \
odd:                              \
	INCQ CX                       \
	JLT probed                    \
	PROBE(BX, note)               \
probed:                           \
	CMPQ R8, $1

// PROBE counts the bit at x's position, floor(x·m / 2^64), if it is unset. note has the position in AX.
#define PROBE(x, note) \
	MULXQ x, AX, AX       \
	note                  \
	MOVQ AX, R9           \
	SHRQ $6, R9           \
	MOVQ (SI)(R9*8), R9   \
	BTQ AX, R9            \
	SBBQ $-1, R8

// LIST writes the position to the stack, where the next one takes its place if the bit is set.
#define LIST \
	MOVQ AX, (SP)(R8*8)

// SETDOUBLE sets the listed bits, the last one at the end. Setting only unset ones saves locked
// instructions of 2 to 6 ns each.
#define SETDOUBLE \
	MOVQ -8(SP)(R8*8), CX   \
	LEAQ -8(SP)(R8*8), R11  \
	MOVQ SP, R9             \
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
