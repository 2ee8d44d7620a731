package persist

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestConformance of a mapped file, whose words have no checksum.
func TestConformance(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	openFile(t, path, 1, 0.1)
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	conformance.Format{
		Values: []io.WriterTo{conformance.Bytes(file)},
		Every:  testkit.Times(61, 61, 1), // of 4 kB
		Read: conformance.Whole(func(data []byte) (io.WriterTo, error) {
			if err := os.WriteFile(path+".read", data, 0o600); err != nil {
				return nil, err
			}
			f, err := OpenReadOnly(path + ".read")
			switch {
			case err == nil:
				err = f.Close()
			case errors.Is(err, errors.ErrUnsupported): // the other byte order
				err = failure.As(bloom.ErrIncompatible, err)
			}
			return conformance.Bytes(data), err
		}),
	}.Test(t)
}
