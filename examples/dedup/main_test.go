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
	var out strings.Builder
	in := "b\na\nb\n\n" + long + "\na\n\n" + long + "\nlast"
	require.NoError(t, dedup(bloom.MustNew(1000, 1e-9), iotest.HalfReader(strings.NewReader(in)), &out))
	require.Equal(t, "b\na\n\n"+long+"\nlast\n", out.String())
}

// TestStreams: a line is out before the next one is in.
func TestStreams(t *testing.T) {
	inRead, in := io.Pipe()
	out, outWrite := io.Pipe()
	ended := make(chan error)
	go func() { ended <- dedup(bloom.MustNew(1000, 1e-9), inRead, outWrite) }()
	for _, line := range []string{"a\n", "b\n"} {
		io.WriteString(in, line+line)
		got := make([]byte, len(line))
		_, err := io.ReadFull(out, got)
		require.NoError(t, err)
		require.Equal(t, line, string(got))
	}
	in.Close()
	require.NoError(t, <-ended)
}

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	require.ErrorIs(t, dedup(bloom.MustNew(10, 0.1), iotest.ErrReader(broken), io.Discard), broken)
	_, closed := io.Pipe()
	closed.CloseWithError(broken)
	require.Error(t, dedup(bloom.MustNew(10, 0.1), strings.NewReader("a\n"), closed))
}
