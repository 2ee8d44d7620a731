package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUsageErrors(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-n", "-7"}, `"-7"`},
		{[]string{"-p", "1.5"}, "1.5"},
		{[]string{"-p", "NaN"}, "NaN"},
		{[]string{"-n", "18446744073709551615"}, "18446744073709551615"},
		{[]string{"-workers", "0"}, "-workers 0"},
		{[]string{"-rate", "-1"}, "-rate -1"},
		{[]string{"-rate", "NaN"}, "-rate NaN"},
		{[]string{"-depth", "-2"}, "-depth -2"},
		{[]string{"-max", "-3"}, "-max -3"},
		{[]string{"-speed", "1"}, "-speed"},
		{[]string{"example.org"}, `"example.org"`},
		{[]string{"ftp://example.org/"}, `"ftp://example.org/"`},
		{[]string{"http://[::1"}, `"http://[::1"`},
	} {
		status, out, errOut := runCrawler(t, test.args...)
		assert.Equal(t, 2, status, test.args)
		assert.Contains(t, errOut, test.want)
		assert.Empty(t, out)
	}
	status, _, errOut := runCrawler(t, "-h")
	assert.Equal(t, 0, status)
	assert.Contains(t, errOut, "-exact")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestBrokenOutput(t *testing.T) {
	var errOut bytes.Buffer
	assert.Equal(t, 1, run(t.Context(), []string{"-max", "1"}, brokenWriter{}, &errOut))
	assert.Contains(t, errOut.String(), "disk full")
}
