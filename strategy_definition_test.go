package bloom

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOwnStrategyRules(t *testing.T) {
	positions := func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
		return func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) { return 0, 0, 0, 0 }, nil
	}
	masks := func(m uint64, k int) (func(dst []Mask, h1, h2 uint64), error) {
		return func(dst []Mask, h1, h2 uint64) { clear(dst) }, nil
	}
	odd := errors.New("odd")
	for text, d := range map[string]Definition{
		`"x" has 0 of Positions, Masks, KeyPositions and Index, want one`: {},
		`"x" has 2 of Positions, Masks`:                                   {Positions: positions, Index: doubleIndex},
		`"x" has masks of 0 words, want 1 to 16`:                          {Masks: masks},
		`"x" has masks of 17 words`:                                       {Masks: masks, Words: 17},
		`"x" has masks and an m that is a multiple of 96, want of 64`:     {Masks: masks, Words: 1, Unit: 96},
		`"x" has K = 0, KUnit = 0, MaxK = 256, want a k of at most 255`:   {Positions: positions, MaxK: 256},
		`"x" has K = -1`:                                                 {Positions: positions, K: -1},
		`"x" has K = 9, KUnit = 2`:                                       {Positions: positions, K: 9, KUnit: 2},
		`"x" has K = 9, KUnit = 0, MaxK = 8`:                             {Positions: positions, K: 9, MaxK: 8},
		`"x" has K = 0, KUnit = 65`:                                      {Positions: positions, KUnit: 65},
		`"x" has Unit = 9007199254740992`:                                {Positions: positions, Unit: 1 << 53},
		`m = 96 and k = 8 with strategy "x", want multiples of 64 and 1`: {Masks: masks, Words: 1},
		`m = 96 and k = 8 with strategy "x", want multiples of 40 and 1`: {Positions: positions, Unit: 40},
		`m = 96 and k = 8 with strategy "x", want multiples of 1 and 3`:  {Positions: positions, KUnit: 3},
		`k = 8 bits a key, want 1 to 7`:                                  {Positions: positions, MaxK: 7},
		`k = 8 bits a key with strategy "x", want 7`:                     {Positions: positions, K: 7},
		`m = 96 and k = 8 with strategy "x": odd`:                        {Positions: func(uint64, int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) { return nil, odd }},
		`strategy "x" prepared no function for m = 96 and k = 8`:         {Positions: func(uint64, int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) { return nil, nil }},
	} {
		f, err := NewWithParams(Params{M: 96, K: 8}, WithStrategy(NewStrategy("x", d)))
		require.ErrorIs(t, err, ErrInvalid, text)
		require.ErrorContains(t, err, text)
		require.Nil(t, f)
		require.Equal(t, strings.Contains(err.Error(), "odd"), errors.Is(err, odd))
	}
	_, err := NewWithParams(Params{M: 96, K: 8}, WithStrategy(NewStrategy("x", Definition{Positions: positions, MaxM: 95})))
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, `m = 96 bits with strategy "x", want at most 95`)
	for name, text := range map[string]string{
		"blocked":                `strategy "blocked" has a name that is taken by this package`,
		strings.Repeat("x", 256): `has a name of 256 bytes, want at most 255`,
	} {
		_, err := New(10, 0.1, WithStrategy(NewStrategy(name, Definition{Positions: positions})))
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, text)
	}
}
