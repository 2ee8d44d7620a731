// A layout has three macros, and Double no start but a second look. Start loads what stays the same for all keys. The
// look finds the words of the digest, and sets the carry flag if all of the key's bits are set. The setter takes what
// the look has left, with at least one unset bit, sets the key's bits as "How an add finds its one winner" in package
// bloom says, and leaves flags that are unequal if this call has completed the key. Batches need filter and R12 to R15.

#define words     Bits_Words(filter)
#define blocks    Bits_Blocks(filter)
#define positions Bits_K(filter)
#define state     Bits_State(filter)

#define y          R10 // hash2 xor probe.Xor
#define block      SI // its address
#define index1     R8 // of the key's words in the halves of it
#define index2     R9
#define word1      R8 // addresses of these words
#define word2      R9
#define last       R9 // address of the word that is written last
#define missing    DX // bits to set in it
#define missing1   R8 // bits to set in two words
#define missing2   R9
#define upper1     R10 // the key's bits in the upper half of the block
#define upper2     R11
#define old        AX // words as they were last seen
#define old2       DX
#define new        BX // words as they become
#define new2       CX
#define rest       CX // positions to go
#define tXor       R11 // t·probe.Xor for the t of probe.Next
#define pair       R11 // offset of two words
#define lastPair   R8
#define pick1      DX // 0 or 1: which word of the first pair has bits of the key
#define pick2      R11
#define pick3      BX
#define pick4      R9
#define turn       R11 // number of a pair
#define lastTurn   R8
#define want       Y1 // the key's bits
#define wantX      X1
#define want2      Y2
#define have       Y3 // the words of the block
#define haveX      X3
#define unset1     Y5 // the key's bits that are unset
#define unset2     Y6
#define zero       Y8
#define one32      Y13 // 1 in each lane of 32 bits
#define one64      Y14 // 1 in each lane of 64 bits
#define one64X     X14
#define low6       Y13 // 63 in each lane
#define low6X      X13
#define shifts1    Y12 // of the number, for the probes of the first round
#define shifts2    Y11
#define shiftsX    X12
#define number     Y0 // the positions in the block are made from it: y, then probe.Next
#define numberX    X0
#define nextNumber Y5
#define array      SI // the words of Double
#define m          DX // bits
#define x1         BX // of two positions
#define x2         R11
#define pos        AX // a position
#define step       R10 // the summand of x1 and x2
#define unset      R8 // number of unset bits

// LASTWORD is flipLast: it sets the missing bits in the last word.
//
//	in: old missing last; out: flags; clobbers: new old
#define LASTWORD \
again:                   \
	MOVQ old, new        \
	ORQ missing, new     \
	LOCK                 \
	CMPXCHGQ new, (last) \
	JNE again            \
	XORQ old, new

// FLIP16 sets the missing bits in the two words at block.
//
//	in: old missing1 old2 missing2 block; out: old old2 new new2; clobbers: -
#define FLIP16(again) \
again:                 \
	MOVQ old, new      \
	ORQ missing1, new  \
	MOVQ old2, new2    \
	ORQ missing2, new2 \
	LOCK               \
	CMPXCHG16B (block) \
	JNE again

// Split: salts are probe's multipliers of the lanes.
DATA salts<>+0(SB)/8, $0x44974d9147b6137b
DATA salts<>+8(SB)/8, $0xa2b7289d8824ad5b
DATA salts<>+16(SB)/8, $0x2df1424b705495c7
DATA salts<>+24(SB)/8, $0x5c6bfb319efc4947
GLOBL salts<>(SB), RODATA|NOPTR, $32

// SPLITSTART loads the constants of SPLIT.
//
//	in: -; out: one32; clobbers: -
#define SPLITSTART \
	VPBROADCASTQ numbers<>+16(SB), one32

// SPLIT looks at all words of the block. It leaves the address of the block in hash1.
//
//	in: hash1 filter one32; out: hash1 want have flags; clobbers: -
#define SPLIT \
	VMOVD hash1, wantX              \
	SHRQ $32, hash1                 \
	IMULQ blocks, hash1             \
	VPBROADCASTD wantX, want        \
	SHRQ $32, hash1                 \
	VPMULLD salts<>(SB), want, want \
	SHLQ $5, hash1                  \
	VPSRLD $27, want, want          \
	ADDQ words, hash1               \
	VPSLLVD want, one32, want       \
	VMOVDQU (hash1), have           \
	VPTEST want, have

// SETSPLIT sets the lower half unless only it has unset bits, then the half with the last unset bit. The upper half's
// words are loaded again after the lower half: taken from have, they cost AMD's processors a nanosecond.
//
//	in: hash1 want have; out: flags;
//	clobbers: X5 X6 old old2 missing1 missing2 upper1 upper2 new new2 block
#define SETSPLIT \
	MOVQ hash1, block           \
	VEXTRACTI128 $1, want, X5   \
	VEXTRACTI128 $1, have, X6   \
	VMOVQ haveX, old            \
	VPEXTRQ $1, haveX, old2     \
	VMOVQ wantX, missing1       \
	VPEXTRQ $1, wantX, missing2 \
	VMOVQ X5, upper1            \
	VPEXTRQ $1, X5, upper2      \
	VPTEST X5, X6               \
	JCS flip                    \
	FLIP16(lower)               \
	ADDQ $16, block             \
	MOVQ (block), old           \
	MOVQ 8(block), old2         \
	MOVQ upper1, missing1       \
	MOVQ upper2, missing2       \
	FLIP16(flip)                \
	XORQ old, new               \
	XORQ old2, new2             \
	ORQ new, new2

// Blocked: counts has, for 2, 4, 6 and 8 probes of a round, the shifts of y that bring each probe's number to the
// lowest place. Lane i is for group i mod z. Spare lanes repeat a probe of their group.
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

// BLOCKEDSTART loads the constants of BLOCKED4 and BLOCKED8.
//
//	in: filter; out: one64 low6 shifts1 shifts2; clobbers: DX AX R9
#define BLOCKEDSTART \
	VPBROADCASTQ numbers<>+0(SB), one64 \
	VPBROADCASTQ numbers<>+8(SB), low6  \
	LEAQ counts<>-8(SB), DX             \
	MOVQ positions, AX                  \
	MOVQ $8, R9                         \
	CMPQ AX, R9                         \
	CMOVQGT R9, AX                      \
	VPMOVZXBQ 0(DX)(AX*4), shifts1      \
	VPMOVZXBQ 4(DX)(AX*4), shifts2

// BLOCK selects the block by h1.
//
//	in: hash1 filter y; out: block numberX; clobbers: DX AX
#define BLOCK \
	MOVQ hash1, DX          \
	MULXQ blocks, AX, block \
	SHLQ $6, block          \
	ADDQ words, block       \
	VMOVQ y, numberX

// NEXT is probe.Next: it makes the number for the next eight probes.
//
//	in: tXor y; out: tXor numberX; clobbers: DX AX
#define NEXT \
	ADDQ numbers<>+24(SB), tXor  \
	MOVQ tXor, DX                \
	XORQ y, DX                   \
	MOVQ $0xd1342543de82ef95, AX \
	MULXQ AX, AX, DX             \
	XORQ AX, DX                  \
	VMOVQ DX, numberX

// MASKS makes the key's bits in eight words. For four words, the two halves are ORed later.
//
//	in: shifts1 number low6 one64 shifts2 filter y; out: want want2;
//	clobbers: rest tXor DX AX numberX nextNumber Y6 Y7
#define MASKS \
	PROBES(shifts1, want)            \
	PROBES(shifts2, want2)           \
	MOVQ positions, rest             \
	XORL tXor, tXor                  \
	SUBQ $8, rest                    \
	JLE masked                       \
round:                               \
	NEXT                             \
	VPBROADCASTQ numberX, nextNumber \
	MOVQ $8, AX                      \
	CMPQ rest, AX                    \
	CMOVQLT rest, AX                 \
	LEAQ counts<>-8(SB), DX          \
	VPMOVZXBQ 0(DX)(AX*4), Y6        \
	VPMOVZXBQ 4(DX)(AX*4), Y7        \
	NEXTPROBES(Y6, want)             \
	NEXTPROBES(Y7, want2)            \
	SUBQ $8, rest                    \
	JGT round                        \
masked:

//	in: count number low6 one64; out: bits; clobbers: -
#define PROBES(count, bits) \
	VPSRLVQ count, number, bits \
	VPAND low6, bits, bits      \
	VPSLLVQ bits, one64, bits

//	in: count nextNumber low6 one64 bits; out: bits; clobbers: count
#define NEXTPROBES(count, bits) \
	VPSRLVQ count, nextNumber, count \
	VPAND low6, count, count         \
	VPSLLVQ count, one64, count      \
	VPOR count, bits, bits

// BLOCKED2START loads the constants of BLOCKED2. Its shifts bring a pair's numbers to the lowest place.
//
//	in: -; out: one64X low6X shiftsX; clobbers: -
#define BLOCKED2START \
	VMOVDDUP numbers<>+0(SB), one64X \
	VMOVDDUP numbers<>+8(SB), low6X  \
	VPMOVZXBQ counts<>+0(SB), shiftsX

// BLOCKED2 looks at two words. It keeps to 16 bytes: one key fills no more, its bits reach the locked instructions
// sooner, and a single call needs no VZEROUPPER. It never has 8, 16, ... probes.
//
//	in: hash1 filter y shiftsX low6X one64X; out: block index1 index2 haveX wantX flags;
//	clobbers: DX AX numberX rest X5 tXor
#define BLOCKED2 \
	BLOCK                                         \
	SPREAD                                        \
	MOVQ y, index1                                \
	SHRQ $62, index1                              \
	MOVQ y, index2                                \
	SHRQ $60, index2                              \
	ANDL $3, index2                               \
	VMOVQ (block)(index1*8), haveX                \
	VPINSRQ $1, 32(block)(index2*8), haveX, haveX \
	MOVQ positions, rest                          \
	PAIR(wantX)                                   \
	JEQ masked                                    \
	MORE                                          \
	JEQ masked                                    \
	MORE                                          \
	JEQ masked                                    \
	XORL tXor, tXor                               \
round:                                         \
	MORE                                          \
	NEXT                                          \
	SPREAD                                        \
	PAIR(X5)                                      \
	VPOR X5, wantX, wantX                         \
	JEQ masked                                    \
	MORE                                          \
	JEQ masked                                    \
	MORE                                          \
	JNE round                                     \
masked:                                        \
	VPTEST wantX, haveX

// SPREAD shifts a copy of the number for the second word. PAIR makes bits of the next probe of each word. MORE takes
// two more of eight probes.
//
//	in: numberX shiftsX; out: numberX; clobbers: -
#define SPREAD \
	VPUNPCKLQDQ numberX, numberX, numberX \
	VPSRLVQ shiftsX, numberX, numberX

//	in: low6X numberX one64X rest; out: bits rest flags; clobbers: -
#define PAIR(bits) \
	VPAND low6X, numberX, bits \
	VPSLLVQ bits, one64X, bits \
	SUBQ $2, rest

//	in: numberX low6X one64X rest wantX; out: wantX rest numberX flags; clobbers: X5
#define MORE \
	VPSRLQ $12, numberX, numberX \
	PAIR(X5)                     \
	VPOR X5, wantX, wantX

// SET2 swaps the words if the second has no unset bit. A branch is rarely mispredicted, because the second word of a
// new key usually has one, and the locked instruction need not wait for the words: with conditional moves, a new key
// took up to a tenth longer.
//
//	in: wantX haveX block index1 index2; out: flags; clobbers: CX missing old R11 word1 word2 new
#define SET2 \
	LEAQ (block)(index1*8), word1   \
	LEAQ 32(block)(index2*8), word2 \
	VMOVQ wantX, CX                 \
	VPEXTRQ $1, wantX, missing      \
	VPEXTRQ $1, haveX, old          \
	ANDNQ missing, old, R11         \
	JNE inorder                     \
	XCHGQ CX, missing               \
	XCHGQ word1, word2              \
	VMOVQ haveX, old                \
inorder:                            \
	LOCK                            \
	ORQ CX, (word1)                 \
	LASTWORD

// BLOCKED4 looks at four words. Of each pair of words, a bit of y selects one.
//
//	in: hash1 filter y shifts1 low6 one64 shifts2; out: block have want flags;
//	clobbers: DX AX numberX X4 Y5 Y6 Y7 want2 rest tXor
#define BLOCKED4 \
	BLOCK                                 \
	VPBROADCASTQ numberX, number          \
	VMOVDQU (block), haveX                \
	VINSERTI128 $1, 32(block), have, have \
	VMOVDQU 16(block), X4                 \
	VINSERTI128 $1, 48(block), Y4, Y4     \
	VPSLLVQ lanes<>(SB), number, Y5       \
	VPUNPCKLQDQ Y4, have, Y6              \
	VPUNPCKHQDQ Y4, have, Y7              \
	VBLENDVPD Y5, Y7, Y6, have            \
	MASKS                                 \
	VPOR want2, want, want                \
	VPTEST want, have

// SET4 sets the words in order if the last one has an unset bit, as it usually has. Otherwise it takes the words in
// turn, beginning after lastTurn, the last one with an unset bit. The turns alone took up to a fifth longer.
//
//	in: want have y block; out: flags; clobbers: Y5 Y7 AX pick1 pick2 pick3 pick4 CX wantX lastTurn
#define SET4 \
	VPANDN want, have, Y5         \
	VPXOR Y7, Y7, Y7              \
	VPCMPEQQ Y7, Y5, Y5           \
	VMOVMSKPD Y5, AX              \
	XORL $15, AX                  \
	MOVQ y, pick1                 \
	SHRQ $63, pick1               \
	MOVQ y, pick2                 \
	SHRQ $62, pick2               \
	ANDL $1, pick2                \
	MOVQ y, pick3                 \
	SHRQ $61, pick3               \
	ANDL $1, pick3                \
	MOVQ y, pick4                 \
	SHRQ $60, pick4               \
	ANDL $1, pick4                \
	LEAQ 48(block)(pick4*8), last \
	TESTL $8, AX                  \
	JEQ rare                      \
	VMOVQ wantX, CX               \
	LOCK                          \
	ORQ CX, (block)(pick1*8)      \
	VPEXTRQ $1, wantX, CX         \
	LOCK                          \
	ORQ CX, 16(block)(pick2*8)    \
	VEXTRACTI128 $1, want, wantX  \
	VMOVQ wantX, CX               \
	LOCK                          \
	ORQ CX, 32(block)(pick3*8)    \
	VPEXTRQ $1, wantX, missing    \
	JMP lastword                  \
rare:                             \
	VMOVDQU want, 0(SP)           \
	BSRQ AX, lastTurn             \
	MOVQ lastTurn, turn           \
word:                             \
	INCQ turn                     \
	ANDL $3, turn                 \
	MOVL $63, CX                  \
	SUBL turn, CX                 \
	SHRXQ CX, y, AX               \
	ANDL $1, AX                   \
	LEAQ (AX)(turn*2), AX         \
	LEAQ (block)(AX*8), last      \
	MOVQ 0(SP)(turn*8), missing   \
	CMPQ turn, lastTurn           \
	JEQ lastword                  \
	LOCK                          \
	ORQ missing, (last)           \
	JMP word                      \
lastword:                         \
	MOVQ (last), old              \
	LASTWORD

// BLOCKED8 looks at all words of the block.
//
//	in: hash1 filter y shifts1 low6 one64 shifts2; out: block want want2 unset1 unset2 zero flags;
//	clobbers: DX AX numberX rest tXor Y7 have Y4
#define BLOCKED8 \
	BLOCK                        \
	VPBROADCASTQ numberX, number \
	MASKS                        \
	VMOVDQU (block), have        \
	VMOVDQU 32(block), Y4        \
	VPANDN want, have, unset1    \
	VPANDN want2, Y4, unset2     \
	VPXOR zero, zero, zero       \
	VPOR unset1, unset2, Y7      \
	VPTEST Y7, zero

// SET8 takes pairs of words in turn, like SET4.
//
//	in: want want2 zero unset1 unset2 block; out: flags; clobbers: unset1 unset2 lastPair pair old old2 new new2
#define SET8 \
	VMOVDQU want, 0(SP)           \
	VMOVDQU want2, 32(SP)         \
	VPCMPEQQ zero, unset1, unset1 \
	VPCMPEQQ zero, unset2, unset2 \
	VMOVMSKPD unset1, old         \
	VMOVMSKPD unset2, new2        \
	SHLL $4, new2                 \
	ORL new2, old                 \
	XORL $255, old                \
	BSRQ old, lastPair            \
	ANDL $6, lastPair             \
	SHLL $3, lastPair             \
	MOVQ lastPair, pair           \
both:                             \
	ADDQ $16, pair                \
	ANDL $48, pair                \
	MOVQ (block)(pair*1), old     \
	MOVQ 8(block)(pair*1), old2   \
again:                            \
	MOVQ 0(SP)(pair*1), new       \
	ORQ old, new                  \
	MOVQ 8(SP)(pair*1), new2      \
	ORQ old2, new2                \
	LOCK                          \
	CMPXCHG16B (block)(pair*1)    \
	JNE again                     \
	CMPQ pair, lastPair           \
	JNE both                      \
	XORQ old, new                 \
	XORQ old2, new2               \
	ORQ new, new2

// DOUBLE looks at two positions at a time, each from the one before the last: with two chains of half the length,
// x_(i+2) = x_i·Mul² + y·(Mul+1). A lookup does not stop at an unset bit, because a branch would be mispredicted. There
// are no vectors here: one key fills few of them, and a multiplication in vectors takes 15 cycles on Intel's
// processors. note says what to keep of unset bits.
//
//	in: filter hash1 y; out: array unset flags; clobbers: m rest x2 step pos note R9 x1
#define DOUBLE(note) \
	MOVQ words, array               \
	MOVQ blocks, m                  \
	MOVQ positions, rest            \
	MOVQ $0xd1342543de82ef95, unset \
	MOVQ x1, x2                     \
	IMULQ unset, x2                 \
	ADDQ step, x2                   \
	INCQ unset                      \
	IMULQ unset, step               \
	XORL unset, unset               \
	SUBQ $2, rest                   \
	JLT odd                         \
two:                                \
	PROBE(x1, note)                 \
	PROBE(x2, note)                 \
	IMULQ numbers<>+40(SB), x1      \
	ADDQ step, x1                   \
	IMULQ numbers<>+40(SB), x2      \
	ADDQ step, x2                   \
	SUBQ $2, rest                   \
	JGE two                         \
odd:                                \
	INCQ rest                       \
	JLT probed                      \
	PROBE(x1, note)                 \
probed:                             \
	CMPQ unset, $1

// PROBE counts the bit at x's position, floor(x·m / 2^64), if it is unset.
//
//	in: x m array unset; out: unset; clobbers: pos note R9
#define PROBE(x, note) \
	MULXQ x, pos, pos      \
	note                   \
	MOVQ pos, R9           \
	SHRQ $6, R9            \
	MOVQ (array)(R9*8), R9 \
	BTQ pos, R9            \
	SBBQ $-1, unset

// LIST writes the position to the stack, where the next one takes its place if the bit is set.
//
//	in: unset pos; out: -; clobbers: -
#define LIST \
	MOVQ pos, (SP)(unset*8)

// SETDOUBLE sets the listed bits, the last one at the end. Setting only unset ones saves locked instructions of 2 to 6
// ns each.
//
//	in: unset array; out: flags; clobbers: CX R11 last old DX new
#define SETDOUBLE \
	MOVQ -8(SP)(unset*8), CX  \
	LEAQ -8(SP)(unset*8), R11 \
	MOVQ SP, last             \
	JMP listed                \
bit:                          \
	MOVQ (last), old          \
	ADDQ $8, last             \
	CMPQ old, CX              \
	JEQ listed                \
	MOVL $1, DX               \
	SHLXQ old, DX, DX         \
	SHRQ $6, old              \
	LOCK                      \
	ORQ DX, (array)(old*8)    \
listed:                       \
	CMPQ last, R11            \
	JNE bit                   \
	MOVL $1, DX               \
	SHLXQ CX, DX, DX          \
	SHRQ $6, CX               \
	LEAQ (array)(CX*8), last  \
	MOVQ (last), old          \
	LASTWORD
