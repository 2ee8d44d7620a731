//go:build !purego && !race

#include "funcdata.h"
#include "go_asm.h"
#include "textflag.h"

#include "hashes_amd64.h"
#include "layouts_amd64.h"

// EACHKEY and EACHDIGEST load an element of a batch. The batch ends before a key of more than 112 bytes. The macros
// after them hash this key, or the key of a single call, for the layouts.

//	in: element; out: bytes length; clobbers: -
#define EACHKEY \
	MOVQ (element), bytes   \
	MOVQ 8(element), length \
	CMPQ length, $112       \
	JHI stop

//	in: element; out: hash1 hash2; clobbers: -
#define EACHDIGEST \
	MOVQ (element), hash1 \
	MOVQ 8(element), hash2

//	in: -; out: -; clobbers: -
#define NOTHING

//	in: filter length bytes; out: hash1 hash2; clobbers: secret1 DX AX length R11
#define RAPIDXOR RAPID WIDEN XOR

//	in: filter length bytes; out: hash1 hash2; clobbers: mul1 mul2 total length half1 half2 bytes
#define MURMURXOR MURMUR XOR

// KERNELS makes the four kernels of a hash, or of digests (d), and a layout, and their row of the table: ONE makes the
// kernels of a key, MANY the kernels of batches. end is VZEROUPPER for layouts with vectors of 32 bytes: without it,
// the next SSE instruction takes a hundred nanoseconds. The kernels are entered by a jump, with filter, for a single
// call with bytes and length, or hash1 and hash2, and with the arguments of the functions below on the stack. The
// garbage collector need not know the arguments: it never finds a goroutine here unless the memory of a key or the
// words has faulted, and after a fault the runtime does not scan this frame's arguments.
//
//	in: -; out: -; clobbers: start hash look end find set element left answer hits each AX
#define KERNELS(row, contains, add, containsMany, addMany, each, hash, start, look, find, set, frame, end) \
ONE(row, contains, add, start hash, look, find, set, frame, end) \
MANY(row, containsMany, addMany, start, each hash, look, find, set, frame)

//	in: -; out: -; clobbers: hash look end find set
#define ONE(row, contains, add, hash, look, find, set, frame, end) \
TEXT contains<>(SB), NOSPLIT, $frame-0 \
	NO_LOCAL_POINTERS      \
	hash                   \
	look                   \
	SETCS ret+32(FP)       \
	end                    \
	RET                    \
TEXT add<>(SB), NOSPLIT, $frame-0 \
	NO_LOCAL_POINTERS      \
	hash                   \
	find                   \
	JCS there              \
	set                    \
	SETNE ret+32(FP)       \
	end                    \
	RET                    \
there:                     \
	MOVB $0, ret+32(FP)    \
	end                    \
	RET                    \
DATA rows<>+(row*32)(SB)/8, $contains<>(SB) \
DATA rows<>+(row*32+8)(SB)/8, $add<>(SB)

//	in: -; out: -; clobbers: element left answer start hits each look AX find set
#define MANY(row, containsMany, addMany, start, each, look, find, set, frame) \
TEXT containsMany<>(SB), NOSPLIT, $frame-0 \
	NO_LOCAL_POINTERS      \
	BATCH(start, each, look FOUND) \
TEXT addMany<>(SB), NOSPLIT, $frame-0 \
	NO_LOCAL_POINTERS      \
	BATCH(start, each, find ADDED(set)) \
DATA rows<>+(row*32+16)(SB)/8, $containsMany<>(SB) \
DATA rows<>+(row*32+24)(SB)/8, $addMany<>(SB)

// BATCH calls do for each of n keys.
//
//	in: -; out: -; clobbers: element left answer start hits each do AX
#define BATCH(start, each, do) \
	MOVQ keys+8(FP), element    \
	MOVQ n+24(FP), left         \
	MOVQ answers+32(FP), answer \
	start                       \
	XORL hits, hits             \
next:                           \
	each                        \
	do                          \
	MOVB AX, (answer)           \
	ADDQ AX, hits               \
	ADDQ size+16(FP), element   \
	INCQ answer                 \
	DECQ left                   \
	JNE next                    \
stop:                           \
	VZEROUPPER                  \
	MOVQ n+24(FP), AX           \
	SUBQ left, AX               \
	MOVQ AX, done+48(FP)        \
	MOVQ hits, count+56(FP)     \
	RET

// HASHES hashes n keys.
//
//	in: -; out: -; clobbers: filter element left digest bytes length hash AX
#define HASHES(hash) \
	MOVQ b+0(FP), filter        \
	MOVQ keys+8(FP), element    \
	MOVQ n+24(FP), left         \
	MOVQ digests+32(FP), digest \
next:                           \
	EACHKEY                     \
	hash                        \
	MOVQ hash1, (digest)        \
	MOVQ hash2, 8(digest)       \
	ADDQ size+16(FP), element   \
	ADDQ $16, digest            \
	DECQ left                   \
	JNE next                    \
stop:                           \
	MOVQ n+24(FP), AX           \
	SUBQ left, AX               \
	MOVQ AX, done+40(FP)        \
	RET

//	in: -; out: AX; clobbers: -
#define FOUND \
	MOVL $0, AX \
	SETCS AX

//	in: -; out: AX; clobbers: set
#define ADDED(set) \
	MOVL $0, AX    \
	JCS there      \
	set            \
	SETNE AX       \
	MOVBQZX AX, AX \
there:

KERNELS(0, dSplit, dSplitAdd, dSplitMany, dSplitAddMany, EACHDIGEST, NOTHING, SPLITSTART, SPLIT, SPLIT, SETSPLIT, 0, VZEROUPPER)
KERNELS(1, dBlocked2, dBlocked2Add, dBlocked2Many, dBlocked2AddMany, EACHDIGEST, XOR, BLOCKED2START, BLOCKED2, BLOCKED2, SET2, 0, NOTHING)
KERNELS(2, dBlocked4, dBlocked4Add, dBlocked4Many, dBlocked4AddMany, EACHDIGEST, XOR, BLOCKEDSTART, BLOCKED4, BLOCKED4, SET4, 32, VZEROUPPER)
KERNELS(3, dBlocked8, dBlocked8Add, dBlocked8Many, dBlocked8AddMany, EACHDIGEST, XOR, BLOCKEDSTART, BLOCKED8, BLOCKED8, SET8, 64, VZEROUPPER)
ONE(4, dDouble, dDoubleAdd, XOR, DOUBLE(NOTHING), DOUBLE(LIST), SETDOUBLE, 512, NOTHING)
MANY(4, dDoubleMany, dDoubleAddMany, NOTHING, EACHDIGEST XOR, DOUBLE(NOTHING), DOUBLE(LIST), SETDOUBLE, 512)
KERNELS(5, rSplit, rSplitAdd, rSplitMany, rSplitAddMany, EACHKEY, RAPID, SPLITSTART, SPLIT, SPLIT, SETSPLIT, 0, VZEROUPPER)
KERNELS(6, rBlocked2, rBlocked2Add, rBlocked2Many, rBlocked2AddMany, EACHKEY, RAPIDXOR, BLOCKED2START, BLOCKED2, BLOCKED2, SET2, 0, NOTHING)
KERNELS(7, rBlocked4, rBlocked4Add, rBlocked4Many, rBlocked4AddMany, EACHKEY, RAPIDXOR, BLOCKEDSTART, BLOCKED4, BLOCKED4, SET4, 32, VZEROUPPER)
KERNELS(8, rBlocked8, rBlocked8Add, rBlocked8Many, rBlocked8AddMany, EACHKEY, RAPIDXOR, BLOCKEDSTART, BLOCKED8, BLOCKED8, SET8, 64, VZEROUPPER)
ONE(9, rDouble, rDoubleAdd, RAPIDXOR, DOUBLE(NOTHING), DOUBLE(LIST), SETDOUBLE, 512, NOTHING)
ONE(10, mSplit, mSplitAdd, SPLITSTART MURMUR, SPLIT, SPLIT, SETSPLIT, 0, VZEROUPPER)
ONE(11, mBlocked2, mBlocked2Add, BLOCKED2START MURMURXOR, BLOCKED2, BLOCKED2, SET2, 0, NOTHING)
ONE(12, mBlocked4, mBlocked4Add, BLOCKEDSTART MURMURXOR, BLOCKED4, BLOCKED4, SET4, 32, VZEROUPPER)
ONE(13, mBlocked8, mBlocked8Add, BLOCKEDSTART MURMURXOR, BLOCKED8, BLOCKED8, SET8, 64, VZEROUPPER)
ONE(14, mDouble, mDoubleAdd, MURMURXOR, DOUBLE(NOTHING), DOUBLE(LIST), SETDOUBLE, 512, NOTHING)
GLOBL rows<>(SB), NOPTR, $480

// func rows() *[hashes][layouts]Row
TEXT ·rows(SB), NOSPLIT, $0-8
	LEAQ rows<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func DoKey(b *Bits, key unsafe.Pointer, n int, kernel uintptr) bool
TEXT ·DoKey(SB), NOSPLIT, $0-33
	MOVQ b+0(FP), filter
	MOVQ key+8(FP), bytes
	MOVQ n+16(FP), length
	MOVQ kernel+24(FP), AX
	JMP AX

// func DoDigest(b *Bits, h1, h2 uint64, kernel uintptr) bool
TEXT ·DoDigest(SB), NOSPLIT, $0-33
	MOVQ b+0(FP), filter
	MOVQ h1+8(FP), hash1
	MOVQ h2+16(FP), hash2
	MOVQ kernel+24(FP), AX
	JMP AX

// func many(b *Bits, keys unsafe.Pointer, size uintptr, n int, answers *bool, kernel uintptr) (done, count int)
TEXT ·many(SB), NOSPLIT, $0-64
	MOVQ b+0(FP), filter
	MOVQ kernel+40(FP), AX
	JMP AX

// func fillSplit(b *Bits, digests *[2]uint64, n int)
TEXT ·fillSplit(SB), NOSPLIT, $0-24
	MOVQ b+0(FP), filter
	MOVQ digests+8(FP), element
	MOVQ n+16(FP), left
	SPLITSTART
next:
	EACHDIGEST
	SPLIT
	VPOR want, have, have
	VMOVDQU have, (hash1)
	ADDQ $16, element
	DECQ left
	JNE next
	VZEROUPPER
	RET

// func rapidMany(b *Bits, keys unsafe.Pointer, size uintptr, n int, digests *[2]uint64) (done int)
TEXT ·rapidMany(SB), NOSPLIT, $0-48
	HASHES(RAPID WIDEN)

// func murmurMany(b *Bits, keys unsafe.Pointer, size uintptr, n int, digests *[2]uint64) (done int)
TEXT ·murmurMany(SB), NOSPLIT, $0-48
	HASHES(MURMUR)

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
