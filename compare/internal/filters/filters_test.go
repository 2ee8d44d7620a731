package filters

import (
	"encoding/binary"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/zeebo/xxh3"
)

// keys returns count keys, numbered from first.
func keys(first, count uint64) (k Keys) {
	for i := range count {
		key := binary.LittleEndian.AppendUint64(nil, first+i)
		h := xxh3.Hash128(key)
		k.Bytes, k.Digests, k.Hashes = append(k.Bytes, key), append(k.Digests, [2]uint64{h.Hi, h.Lo}), append(k.Hashes, h.Hi)
	}
	k.Answers = make([]bool, count)
	return k
}

func filled(t *testing.T, p *Peer, n uint64, rate float64) Filter {
	t.Helper()
	f, err := p.Make(n, rate)
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	f.Add(keys(0, n))
	if b, ok := f.(Builder); ok {
		b.Build()
	}
	return f
}

// TestPeers checks every adapter: no key is missed, the size and the rate are near the ones that
// were asked for, and no name is used twice.
func TestPeers(t *testing.T) {
	const n, misses = 10_000, 100_000
	names := map[string]bool{}
	for _, p := range append(Ours(), Others()...) {
		if names[p.Name] {
			t.Errorf("two filters are called %q", p.Name)
		}
		names[p.Name] = true
		for _, rate := range []float64{0.01, 0.001} {
			f := filled(t, p, n, rate)
			discards := strings.HasSuffix(p.Name, "discarded")
			if found := f.Contains(keys(0, n)); found != n && !discards {
				t.Fatalf("%s: only %d of %d keys found", p.Name, found, n)
			}
			least := -math.Log2(rate)
			if perKey := float64(f.Bits()) / n; !(perKey > least && perKey < 5*least) {
				t.Errorf("%s: %.2f bits per key for p = %g, want %.2f to %.2f", p.Name, perKey, rate, least, 5*least)
			}
			if got := float64(f.Contains(keys(n, misses))) / misses; got > 20*rate {
				t.Errorf("%s: a rate of %g, promised %g", p.Name, got, rate)
			}
			if added := f.Add(keys(2*n, n)); strings.HasPrefix(p.Name, "ours") && added < n*9/10 && !discards {
				t.Errorf("%s: only %d of %d other keys were new", p.Name, added, n)
			}
		}
	}
}

// TestPeersConcurrently shares each filter among goroutines as its entry allows. The race detector
// finds entries that allow too much.
func TestPeersConcurrently(t *testing.T) {
	const n = 10_000
	for _, p := range append(Ours(), Others()...) {
		if p.Safe == None || strings.HasSuffix(p.Name, "discarded") {
			continue
		}
		f := filled(t, p, n, 0.01)
		var wg sync.WaitGroup
		for w := range uint64(4) {
			wg.Go(func() {
				if other := keys((w+1)*n, 500); p.Safe == Full {
					f.Add(other)
					if found := f.Contains(other); found != 500 {
						t.Errorf("%s: only %d of 500 keys found", p.Name, found)
					}
				}
				if found := f.Contains(keys(w*500, 500)); found != 500 {
					t.Errorf("%s: only %d of 500 keys found", p.Name, found)
				}
			})
		}
		wg.Wait()
	}
}
