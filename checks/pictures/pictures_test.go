package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPictures: the pictures in docs, and the times in README.md, are what the program writes now.
func TestPictures(t *testing.T) {
	for name, draw := range pictures {
		text, err := draw("../../docs")
		require.NoError(t, err)
		is, err := os.ReadFile(filepath.Join("../../docs", name))
		require.NoError(t, err)
		require.Equal(t, text, string(is), "%s: go run ./pictures ../docs, in checks", name)
	}
}
