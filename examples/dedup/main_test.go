package main

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

func TestDedup(t *testing.T) {
	long := strings.Repeat("long ", 1<<16)
	in := "b\na\nb\n\n" + long + "\na\n\n" + long + "\nlast"
	var out strings.Builder
	require.NoError(t, dedup(bloom.MustNew(1000, 1e-9), iotest.HalfReader(strings.NewReader(in)), &out))
	require.Equal(t, "b\na\n\n"+long+"\nlast\n", out.String())
}

// TestStreams: a complete line is printed before the next one is complete.
func TestStreams(t *testing.T) {
	inRead, in := io.Pipe()
	out, outWrite := io.Pipe()
	ended := make(chan error)
	go func() { ended <- dedup(bloom.MustNew(1000, 1e-9), inRead, outWrite) }()
	for _, piece := range []string{"a\nb", "\nc"} {
		io.WriteString(in, piece)
		got := make([]byte, 2)
		_, err := io.ReadFull(out, got)
		require.NoError(t, err)
		require.Contains(t, "a\nb\n", string(got))
	}
	in.CloseWithError(errors.New("closed"))
	require.ErrorContains(t, <-ended, "closed")
}

// TestErrors: the lines before a read error are printed, and a write error is reported.
func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	var out strings.Builder
	in := io.MultiReader(strings.NewReader("a\nb\na\ncut"), iotest.ErrReader(broken))
	require.ErrorIs(t, dedup(bloom.MustNew(10, 0.001), in, &out), broken)
	require.Equal(t, "a\nb\n", out.String())
	_, closed := io.Pipe()
	closed.CloseWithError(broken)
	require.Error(t, dedup(bloom.MustNew(10, 0.1), strings.NewReader("a\n"), closed))
}
