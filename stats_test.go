package bloom

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStatsAgreeWithEstimates: the one pass says what each method says by itself.
func TestStatsAgreeWithEstimates(t *testing.T) {
	const n = 5000
	for _, s := range allStrategies {
		f := MustNew(n, 0.01, WithStrategy(s))
		var b [40]byte
		added := uint64(0)
		for _, load := range []uint64{0, 1, n / 2, n, 3 * n} {
			for ; added < load; added++ {
				f.Add(key40(&b, added))
			}
			st, p := f.Stats(), f.Params()
			require.Equal(t, p, Params{N: st.N, P: st.P, M: st.M, K: st.K})
			require.Equal(t, f.Strategy().Name(), st.Strategy)
			require.Equal(t, f.SizeBytes(), st.SizeBytes)
			require.Equal(t, f.Scheme().Hash().Name(), st.Hash)
			require.Equal(t, f.bits.count(), st.Ones, "%s", s)
			require.Equal(t, f.Stats().FillRatio, st.FillRatio)
			require.Equal(t, f.Stats().EstimatedCount, st.EstimatedCount)
			require.Equal(t, f.Stats().EstimatedFalsePositiveRate, st.EstimatedFalsePositiveRate)
			require.InDelta(t, float64(load)/n, st.Load(), 4/math.Sqrt(n))
		}
	}
}

func TestLoadOfEmptyFullAndUnknown(t *testing.T) {
	f := MustNew(100, 0.01)
	require.Zero(t, f.Stats().Load())
	for i := range f.Params().M {
		f.bits.set(i)
	}
	require.Equal(t, math.Inf(1), f.Stats().Load())
	unknown, err := NewWithParams(Params{M: 640, K: 3})
	require.NoError(t, err)
	unknown.AddString("x")
	require.Zero(t, unknown.Stats().Load())
}

func TestStatsMarshal(t *testing.T) {
	f := MustNew(1000, 0.01, WithKey(testKey), WithStrategy(Blocked2))
	f.AddString("x")
	got, err := json.Marshal(f.Stats())
	require.NoError(t, err)
	require.JSONEq(t, fmt.Sprintf(`{"n":1000,"p":0.01,"m":%d,"k":%d,"strategy":"blocked-2","hash":"siphash","size_bytes":%d,
		"ones":%d,"fill_ratio":%v,"estimated_count":1,"estimated_false_positive_rate":%v}`,
		f.Params().M, f.Params().K, f.SizeBytes(), f.bits.count(), f.Stats().FillRatio, f.Stats().EstimatedFalsePositiveRate), string(got))
	var back Stats
	require.NoError(t, json.Unmarshal(got, &back))
	require.Equal(t, f.Stats(), back)

	for i := range f.Params().M { // full: nothing in it may be unfit for JSON
		f.bits.set(i)
	}
	got, err = json.Marshal(f.Stats())
	require.NoError(t, err)
	require.Contains(t, string(got), `"estimated_count":18446744073709551615`)
}

// BenchmarkStats is the one pass, beside that for the fill alone.
func BenchmarkStats(b *testing.B) {
	for _, s := range []Strategy{DoubleHashing, Blocked} {
		for _, n := range []uint64{1_000_000, 40_000_000} {
			b.Run(fmt.Sprintf("strategy=%s/n=%d/op=stats", s, n), func(b *testing.B) {
				f := full(s, n)
				b.SetBytes(int64(f.SizeBytes()))
				for b.Loop() {
					f.Stats()
				}
			})
		}
	}
}
