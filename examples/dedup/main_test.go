package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestDedup(t *testing.T) {
	long := strings.Repeat("long ", 1<<16)
	in := "b\na\nb\n\n" + long + "\na\n\n" + long + "\nlast"
	var out, warnings strings.Builder
	require.NoError(t, run(1000, iotest.HalfReader(strings.NewReader(in)), &out, &warnings))
	require.Equal(t, "b\na\n\n"+long+"\nlast\n", out.String())
	require.Empty(t, warnings.String())
	require.NoError(t, run(2, strings.NewReader(in), &out, &warnings))
	require.Contains(t, warnings.String(), "planned for 2")
}

// TestHostileLines: lines that a stranger made to have one Murmur3 digest are printed like any others.
func TestHostileLines(t *testing.T) {
	file, err := os.ReadFile("../../testdata/murmur3-collisions.hex")
	require.NoError(t, err)
	var in, out strings.Builder
	for line := range strings.Lines(string(file)) {
		key, err := hex.DecodeString(strings.TrimSpace(line))
		require.NoError(t, err)
		if !bytes.Contains(key, []byte("\n")) {
			fmt.Fprintf(&in, "%s\n", key)
		}
	}
	require.NoError(t, run(1_000_000, strings.NewReader(in.String()), &out, io.Discard))
	require.Equal(t, strings.Count(in.String(), "\n"), strings.Count(out.String(), "\n"))
}

// TestStreams: a complete line is printed before the next one is complete.
func TestStreams(t *testing.T) {
	inRead, in := io.Pipe()
	out, outWrite := io.Pipe()
	ended := make(chan error)
	go func() { ended <- run(1000, inRead, outWrite, io.Discard) }()
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
	require.ErrorIs(t, run(10, in, &out, io.Discard), broken)
	require.Equal(t, "a\nb\n", out.String())
	_, closed := io.Pipe()
	closed.CloseWithError(broken)
	require.Error(t, run(10, strings.NewReader("a\n"), closed, io.Discard))
}
