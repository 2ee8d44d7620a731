package rebloom

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// TestReadPlan: the header of each recorded filter says what its BF.RESERVE did.
func TestReadPlan(t *testing.T) {
	for _, r := range recordings(t) {
		var rate string
		want := Plan{Expansion: DefaultExpansion}
		require.NoError(t, json.Unmarshal(r.Reserve[0], &rate))
		require.NoError(t, json.Unmarshal(r.Reserve[1], &want.N))
		want.P, _ = strconv.ParseFloat(rate, 64)
		if len(r.Reserve) == 4 {
			require.NoError(t, json.Unmarshal(r.Reserve[3], &want.Expansion))
		}
		plan, err := ReadPlan(r.chunks(t)[0].Data)
		require.NoError(t, err)
		require.Equal(t, want, plan, r.Name)
	}
	f, err := New(700, 0.03, WithoutScaling())
	require.NoError(t, err)
	for chunk := range f.Chunks() {
		plan, err := ReadPlan(chunk.Data)
		require.NoError(t, err)
		require.Equal(t, Plan{N: 700, P: 0.03}, plan)
		_, err = ReadPlan(chunk.Data[1:])
		require.ErrorIs(t, err, bloom.ErrCorrupt)
		break
	}
}
