package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	status := run([]string{"-n", "5000", "-lookups", "2000", "-since", "100", "-dir", t.TempDir()}, &out, &errs)
	require.Zero(t, status, errs.String())
	for _, want := range []string{"bbolt, 5,000 records", "pebble, 5,000 records", "store alone", "with the guard", "the 100 keys since", "all answers"} {
		require.Contains(t, out.String(), want)
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range []string{"-n 0", "-lookups 0", "-since -1", "-p 0", "-p 1", "-p NaN", "more", "-nothing"} {
		var out, errs bytes.Buffer
		require.Equal(t, 2, run(strings.Fields(args), &out, &errs), args)
		require.NotEmpty(t, errs.String())
	}
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bbolt"), 0o700))
	var out, errs bytes.Buffer
	require.Equal(t, 1, run([]string{"-n", "10", "-dir", dir}, &out, &errs), "a store that is there is not overwritten")
}
