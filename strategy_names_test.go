package bloom

import (
	"fmt"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestNamesInLogs: String tells apart what has no name.
func TestNamesInLogs(t *testing.T) {
	named, a, b := customStrategy("mine"), customStrategy(""), customStrategy("")
	require.Equal(t, "mine", named.String())
	require.Equal(t, "blocked", Blocked.String())
	require.Empty(t, a.Name())
	require.Regexp(t, `^unnamed#\d+$`, a.String())
	require.NotEqual(t, a.String(), b.String())
	require.Equal(t, a.String(), fmt.Sprint(a))

	sum := func([]byte) uint64 { return 1 }
	h := NewHash64("", sum)
	require.Equal(t, "mine", NewHash64("mine", sum).String())
	require.Equal(t, "murmur3", Murmur3.String())
	require.Empty(t, h.Name())
	require.Regexp(t, `^unnamed#\d+$`, h.String())
	require.NotEqual(t, h.String(), NewHash64("", sum).String())

	f := MustNew(10, 0.1, WithStrategy(a), WithHash(h))
	require.Contains(t, f.String(), a.String())
	require.Contains(t, f.String(), h.String())
	_, err := NewWithParams(Params{M: 64, K: 4}, WithStrategy(NewStrategy("", Definition{Unit: 40, Positions: testkit.ByIndex(doubleIndex)})))
	require.ErrorContains(t, err, `strategy "unnamed#`)
}

func customStrategy(name string) Strategy {
	return NewStrategy(name, Definition{Positions: testkit.ByIndex(doubleIndex)})
}
