//go:build go1.25

package cascade

import (
	"context"
	"encoding/binary"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestForeignPanics: a list, a hash or a strategy that panics, or ends its goroutine, ends the caller of New in the
// same way, at any key, and leaves no goroutine behind. synctest waits for all.
func TestForeignPanics(t *testing.T) {
	const keys = 3 * batchKeys
	for name, ends := range map[string]func(){"panic": func() { panic("broken") }, "Goexit": runtime.Goexit} {
		for _, last := range []int64{0, 1, batchKeys, keys - 1, keys, 2*keys - 1} { // of the second list, too
			for who, try := range map[string]func(ctx context.Context, step func()) error{
				"a list": func(ctx context.Context, step func()) error {
					stepping := func(list iter.Seq2[[]byte, error]) iter.Seq2[[]byte, error] {
						return func(yield func([]byte, error) bool) {
							list(func(key []byte, err error) bool { step(); return yield(key, err) })
						}
					}
					_, err := New(ctx, 0, stepping(numbered("k", 0, keys)), stepping(numbered("k", keys, keys)))
					return err
				},
				"a hash": func(ctx context.Context, step func()) error {
					hash := bloom.NewHash("", func(key []byte) (h1, h2 uint64) {
						step()
						return bloom.Digest64(binary.BigEndian.Uint64(key[1:]))
					})
					_, err := New(ctx, 0, numbered("k", 0, keys), numbered("k", keys, keys), bloom.WithHash(hash))
					return err
				},
				"a strategy": func(ctx context.Context, step func()) error {
					s := bloom.NewStrategy("", bloom.Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 {
						step()
						return (h1 + uint64(i)*h2) % m
					})})
					_, err := New(ctx, 0, numbered("k", 0, keys), numbered("k", keys, keys), bloom.WithStrategy(s))
					return err
				},
			} {
				synctest.Test(t, func(t *testing.T) {
					var steps atomic.Int64
					var panicked any
					returned := false
					var caller sync.WaitGroup
					caller.Add(1)
					go func() {
						defer caller.Done()
						defer func() { panicked = recover() }()
						_ = try(t.Context(), func() {
							if steps.Add(1) > last { // and at each later one, on other goroutines
								ends()
							}
						})
						returned = true
					}()
					caller.Wait()
					want := any("broken")
					if name == "Goexit" {
						want = nil
					}
					require.False(t, returned, "%s: %s at step %d", who, name, last)
					require.Equal(t, want, panicked, "%s: %s at step %d", who, name, last)
				})
			}
		}
	}
}
