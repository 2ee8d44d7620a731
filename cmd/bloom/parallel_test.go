package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
)

// TestParallelAdderIsSequential: the answers and the bits are those of one key after the
// other, in filters so full that many keys are dropped, for chunks of every size.
func TestParallelAdderIsSequential(t *testing.T) {
	for _, s := range append(slices.Clone(strategies), bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8) {
		for _, n := range []uint64{1, 10, 3000, 100_000} {
			for _, workers := range []int{1, 2, 5} {
				want, err := bloom.New(n, 0.01, bloom.WithStrategy(s))
				if err != nil {
					t.Fatal(err)
				}
				got, err := want.Scheme().Filter()
				if err != nil {
					t.Fatal(err)
				}
				a := newParallelAdder(got)
				a.workers = workers
				rng := rand.New(rand.NewPCG(1, 2))
				for round := range 12 {
					keys := make([][]byte, []int{1, 2, pieceKeys, pieceKeys + 1, maxChunk}[round%5])
					for i := range keys {
						keys[i] = fmt.Append(nil, rng.IntN(20_000))
					}
					added, should := make([]bool, len(keys)), make([]bool, len(keys))
					count, countShould := a.add(keys, added), 0
					for i, key := range keys {
						if should[i] = want.Add(key); should[i] {
							countShould++
						}
					}
					if count != countShould || !slices.Equal(added, should) {
						t.Fatalf("%v, n = %d, %d workers, round %d: %d new, want %d", s, n, workers, round, count, countShould)
					}
				}
				if !got.Equal(want) {
					t.Fatalf("%v, n = %d, %d workers: other bits", s, n, workers)
				}
			}
		}
	}
}

func BenchmarkParallelAdd(b *testing.B) {
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked} {
		for _, how := range []string{"AddMany", "parallel"} {
			b.Run(fmt.Sprintf("strategy=%v/%s", s, how), func(b *testing.B) {
				f := bloom.MustNew(10_000_000, 1e-6, bloom.WithStrategy(s))
				a := newParallelAdder(f)
				keys, added := make([][]byte, maxChunk), make([]bool, maxChunk)
				n := 0
				var cpu time.Duration
				for b.Loop() {
					b.StopTimer()
					for i := range keys {
						n++
						keys[i] = fmt.Appendf(keys[i][:0], "%d", uint64(n)*2654435761%6_000_000)
					}
					b.StartTimer()
					c := cpuTime()
					if how == "parallel" {
						a.add(keys, added)
					} else {
						f.AddMany(keys, added)
					}
					cpu += cpuTime() - c
				}
				b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N)/maxChunk, "cpu-ns/key")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/maxChunk, "ns/key")
			})
		}
	}
}

func cpuTime() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano())
}
