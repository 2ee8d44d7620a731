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
	keyPositions := func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error) {
		return func(dst []uint64, key []byte) { clear(dst) }, nil
	}
	odd := errors.New("odd")
	for text, d := range map[string]Definition{
		`"x" has both or neither of Positions and KeyPositions, want one`: {},
		`"x" has both or neither of Positions`:                            {Positions: positions, KeyPositions: keyPositions},
		`"x" has MaxK = 256, want 0 to 255`:                               {Positions: positions, MaxK: 256},
		`"x" has MaxK = -1`:                                               {Positions: positions, MaxK: -1},
		`"x" has Unit = 9007199254740992`:                                 {Positions: positions, Unit: 1 << 53},
		`m = 96 and k = 8 with strategy "x", want multiples of 40 and 1`:  {Positions: positions, Unit: 40},
		`k = 8 bits per key, want 1 to 7`:                                 {Positions: positions, MaxK: 7},
		`m = 96 and k = 8 with strategy "x": odd`:                         {Positions: func(uint64, int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) { return nil, odd }},
		`m = 96 and k = 8 with strategy "x": it has no function for them`: {Positions: func(uint64, int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) { return nil, nil }},
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
