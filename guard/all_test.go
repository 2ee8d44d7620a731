package guard

import (
	"context"
	"iter"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A guard whose store lists all keys each time, with and without a file.
func TestAll(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "guard")} {
		keys := []string{"a"}
		store := All(func(context.Context) iter.Seq2[[]byte, error] {
			return func(yield func([]byte, error) bool) {
				for _, key := range keys {
					if !yield([]byte(key), nil) {
						return
					}
				}
			}
		})
		g := opened(t, path, 10, 1e-6, store)
		require.True(t, g.ContainsString("a"))
		if path != "" {
			require.NoError(t, save(g))
		}
		keys = append(keys, "b")
		require.False(t, g.ContainsString("b"))
		require.True(t, opened(t, path, 10, 1e-6, store).ContainsString("b"))
	}
}
