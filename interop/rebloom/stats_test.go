package rebloom

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/stretchr/testify/require"
)

func TestStats(t *testing.T) {
	f, err := New(1000, 0.01)
	require.NoError(t, err)
	require.Equal(t, "rebloom.Filter(n=1000 p=0.01 expansion=2 layers=1 bytes=1384 keys=0)", f.String())
	for i := range 5000 {
		_, err := f.AddString(fmt.Sprint(i))
		require.NoError(t, err)
	}
	s, layers := f.Stats(), f.Layers()
	require.Len(t, layers, 3)
	require.EqualValues(t, 1000+2000+4000, s.N)
	require.Equal(t, 0.01, s.P)
	require.Equal(t, layers[0].M+layers[1].M+layers[2].M, s.M)
	require.Equal(t, f.SizeBytes(), s.SizeBytes)
	require.Equal(t, layers[2].K, s.K)
	require.Equal(t, "redisbloom", s.Strategy)
	right, ones := 1.0, uint64(0)
	for _, l := range f.all() {
		of := l.Stats()
		right, ones = right*(1-of.EstimatedFalsePositiveRate), ones+of.Ones
	}
	require.Equal(t, ones, s.Ones)
	require.InDelta(t, 1-right, s.EstimatedFalsePositiveRate, 1e-15)
	wrong, asked := 0, effort.Times(20_000, 200_000, 200_000)
	for i := range asked {
		if f.ContainsString(fmt.Sprint("other", i)) {
			wrong++
		}
	}
	mean := s.EstimatedFalsePositiveRate * float64(asked)
	require.InDelta(t, mean, wrong, 4*math.Sqrt(mean))
}

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
