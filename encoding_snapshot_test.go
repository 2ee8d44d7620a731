package bloom

import (
	"bytes"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/format"

	"github.com/stretchr/testify/require"
)

// busy is a filter to which several goroutines add keys.
type busy struct {
	f    *BloomFilter
	keys uint64                    // of each adder
	done [busyAdders]atomic.Uint64 // keys i·busyAdders+a with i < done[a] are in
	wg   sync.WaitGroup
}

const busyAdders = 3

func (b *busy) start() {
	for a := range uint64(busyAdders) {
		b.wg.Go(func() {
			var buf [40]byte
			for i := range b.keys {
				b.f.Add(key40(&buf, i*busyAdders+a))
				b.done[a].Store(i + 1)
				if i%64 == 0 { // for the snapshots' turn on few processors
					runtime.Gosched()
				}
			}
		})
	}
}

// progress waits until each adder has added another key, or all of its.
func (b *busy) progress() {
	for a := range b.done {
		for before := b.done[a].Load(); b.done[a].Load() == before && before < b.keys; {
			runtime.Gosched()
		}
	}
}

// Write is where a snapshot of the filter goes to that takes so long that keys are
// added between any two of its chunks.
func (b *busy) Write(p []byte) (int, error) {
	b.progress()
	return len(p), nil
}

// TestSnapshotWhileAdding: what is written contains every key whose Add had
// returned before.
func TestSnapshotWhileAdding(t *testing.T) {
	keys, rounds := uint64(effort.Times(10_000, 60_000, 60_000)), effort.Times(2, 5, 50)
	for _, s := range []Strategy{DoubleHashing, Blocked2} {
		snapshots, during, checked := 0, 0, 0
		for range rounds {
			f, err := NewWithParams(Params{M: 5 * format.ChunkBytes * 8, K: 6}, WithStrategy(s))
			require.NoError(t, err)
			b := &busy{f: f, keys: keys}
			b.start()
			for last := false; !last; snapshots++ {
				b.progress()
				var in [busyAdders]uint64
				last = true
				for a := range in {
					in[a] = b.done[a].Load()
					last = last && in[a] == keys
				}
				var out bytes.Buffer
				to := io.Writer(&out)
				if snapshots%4 == 0 {
					to = io.MultiWriter(&out, b)
				}
				if _, err := f.WriteTo(to); err != nil {
					t.Fatal(err)
				}
				if b.done[0].Load() > in[0] {
					during++
				}
				g, err := Read(&out)
				if err != nil {
					t.Fatal(err)
				}
				var buf [40]byte
				for a, n := range in {
					for i := n; i > 0; i -= min(i, 1+(n-i)/64) { // the latest, and some of the others
						checked++
						if !g.Contains(key40(&buf, (i-1)*busyAdders+uint64(a))) {
							t.Fatalf("%s: key %d of adder %d is not in the snapshot", s, i-1, a)
						}
					}
				}
			}
			b.wg.Wait()
			var buf [40]byte
			for i := range keys * busyAdders { // writing takes nothing away
				if !f.Contains(key40(&buf, i)) {
					t.Fatalf("%s: key %d is lost", s, i)
				}
			}
		}
		t.Logf("%s: %d snapshots, in %d of them keys were added; %d keys looked for", s, snapshots, during, checked)
	}
}
