package persist_test

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

// The error for a file of another kind names the kind and the function that reads it.
func TestOtherKinds(t *testing.T) {
	dir := t.TempDir()
	save := func(name string) func(w io.WriterTo, err error) {
		return func(w io.WriterTo, err error) {
			require.NoError(t, err)
			require.NoError(t, persist.Save(filepath.Join(dir, name), w))
		}
	}
	none := func(func([]byte, error) bool) {}
	save("a scalable filter, for scalable.Read")(scalable.New(10, 0.1))
	save("a rotating filter, for rotating.Read")(rotating.New(10, 0.1, time.Hour))
	save("a counting filter, for counting.Read")(counting.New(10, 0.1))
	save("a cascade, for cascade.Read")(cascade.New(t.Context(), 0.5, none, none))
	save("the filter of a guard, for guard.New and Open")(bytes.NewBufferString("\x89bloomg\x01"), nil)

	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, files, 5)
	for _, path := range files {
		_, loadErr := persist.Load(path)
		_, openErr := persist.Open(path, 10, 0.1)
		for _, err := range []error{loadErr, openErr} {
			require.ErrorIs(t, err, bloom.ErrCorrupt)
			require.ErrorContains(t, err, "it holds "+filepath.Base(path))
		}
	}
}
