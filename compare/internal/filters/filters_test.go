package filters

import (
	"encoding/binary"
	"math"
	"sync"
	"testing"

	"github.com/ipfs/bbloom"
	"github.com/zeebo/xxh3"
)

// keys are those that are numbered from first on.
func keys(first, count uint64) (k Keys) {
	for i := range count {
		key := binary.LittleEndian.AppendUint64(nil, first+i)
		h := xxh3.Hash128(key)
		k.Bytes, k.Digests = append(k.Bytes, key), append(k.Digests, [2]uint64{h.Hi, h.Lo})
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

// TestPeers holds every adapter to what a filter is: it misses nothing, is about as large as
// it must be and about as often wrong as it says, and its name is its own.
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
			if found := f.Contains(keys(0, n)); found != n {
				t.Fatalf("%s: only %d of %d keys found", p.Name, found, n)
			}
			least := -math.Log2(rate)
			if perKey := float64(f.Bits()) / n; !(perKey > least && perKey < 5*least) {
				t.Errorf("%s: %.2f bits a key for p = %g, want %.2f to %.2f", p.Name, perKey, rate, least, 5*least)
			}
			if got := float64(f.Contains(keys(n, misses))) / misses; got > 20*rate {
				t.Errorf("%s: a rate of %g, promised %g", p.Name, got, rate)
			}
			if added := f.Add(keys(2*n, n)); p.Ours && added < n*9/10 {
				t.Errorf("%s: only %d of %d other keys were new", p.Name, added, n)
			}
		}
	}
	if !names[Reference] {
		t.Error("the row that others are divided by is missing")
	}
}

// TestPeersConcurrently uses each filter as its entry says one may; the race detector tells
// whether that is so.
func TestPeersConcurrently(t *testing.T) {
	const n = 10_000
	for _, p := range append(Ours(), Others()...) {
		if p.Safe == None {
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

// TestBbloomBits compares the size that the adapter works out with the bytes of the filter's
// own JSON, four base64 characters to three of them.
func TestBbloomBits(t *testing.T) {
	for _, n := range []uint64{1, 1000, 12_345} {
		f, err := bbloom.New(float64(n), 0.01)
		if err != nil {
			t.Fatal(err)
		}
		got, want := float64(len(f.JSONMarshal()))*0.75, float64(bbloomBits(n, 0.01))/8
		if got < want || got > want+200 {
			t.Errorf("n = %d: %v bytes marshalled, worked out %v", n, got, want)
		}
	}
}
