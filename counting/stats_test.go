package counting

import (
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
)

// TestSameAsPlain: after keys were added and removed, the filter has the bits and the numbers of a
// plain filter with the keys that are left. Removing absent keys changes nothing. When all keys are
// removed, all counters are 0.
func TestSameAsPlain(t *testing.T) {
	const p = 1e-6
	for _, s := range strategies {
		for _, n := range []uint64{0, 10, 1000, uint64(testkit.Times(3000, 30_000, 30_000))} {
			opts := []bloom.Option{bloom.WithStrategy(s), bloom.WithSeed(7)}
			if s == bitsandblooms.Strategy {
				opts = opts[:1] // it takes no seed
			}
			f, plain := fill(must(max(n, 1), p, opts...), 0, 2*n), bloom.MustNew(max(n, 1), p, opts...)
			drain(t, f, 0, n)
			var b [16]byte
			for i := range n {
				plain.Add(key(&b, i+n))
			}
			for i := range uint64(2000) {
				if n >= 1000 && f.Remove(key(&b, 1<<40+i)) { // small filters of 32 bits err more
					t.Fatalf("%v: Remove of an absent key = true", f)
				}
			}
			if !f.BloomFilter().Equal(plain) {
				t.Errorf("%v: differs from %v", f, plain)
			}
			got, want := f.Stats(), plain.Stats()
			if bytes := got.SizeBytes; bytes > 4*want.SizeBytes || bytes+24 < 4*want.SizeBytes {
				t.Errorf("%v: %d bytes, want about %d", f, bytes, 4*want.SizeBytes)
			}
			want.SizeBytes = got.SizeBytes
			if got != want {
				t.Errorf("%v: %+v, want %+v", f, got, want)
			}
			drain(t, f, n, n)
			empty(t, f)
		}
	}
	if f := fill(must(0, 0.01), 0, 100); layeredtest.Absent(f, 0, 100) != 100 {
		t.Errorf("%v misses a key", f)
	}
}
