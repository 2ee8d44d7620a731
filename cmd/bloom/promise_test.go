package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom"
)

// TestMissing: how many lines are said to be missing, against how many are.
func TestMissing(t *testing.T) {
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked} {
		for _, before := range []int{0, 5000} {
			f := bloom.MustNew(10_000, 0.001, bloom.WithStrategy(s))
			for i := range before {
				f.AddString("before " + strconv.Itoa(i))
			}
			promised := promiseOf(f)
			const lines = 100_000
			for i := range lines {
				if f.AddString(strconv.Itoa(i)) {
					promised.added++
				}
			}
			got, want := promised.missing(f.Stats().EstimatedCount), float64(lines-promised.added)
			if sigma := math.Sqrt(want); math.Abs(got-want) > 0.05*want+5*sigma {
				t.Errorf("%v, %d before: %.0f of %d lines, %.0f are missing", s, before, got, lines, want)
			}
		}
	}
}

// TestMissingWithoutKeys: nothing is missing where nothing was added.
func TestMissingWithoutKeys(t *testing.T) {
	f := bloom.MustNew(10, 0.01)
	promised := promiseOf(f)
	if got := promised.missing(f.Stats().EstimatedCount); got != 0 {
		t.Error(got)
	}
	if promised.broken() || promised.left() != 10 {
		t.Error(promised.broken(), promised.left())
	}
	var err error
	f, err = bloom.NewWithParams(bloom.Params{M: 64, K: 1, N: math.MaxUint64, P: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		f.AddString(strconv.Itoa(i))
	}
	promised = promiseOf(f)
	promised.added = 5
	if got := promised.keys(); got != math.MaxUint64 {
		t.Errorf("%d keys, want as many as can be counted", got)
	}
	if got := showMissing(promised.missing(f.Stats().EstimatedCount)); got != "more than can be told" {
		t.Errorf("%s", got)
	}
}

// TestStopsAtTheSameKey: where dedup stops does not depend on the pieces in which its input
// comes.
func TestStopsAtTheSameKey(t *testing.T) {
	var keys strings.Builder
	for i := range 300 {
		fmt.Fprintf(&keys, "%d\n%d\n", i, i/2)
	}
	var want strings.Builder
	for i := range 100 {
		fmt.Fprintln(&want, i)
	}
	for name, pieces := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader,
	} {
		var out, said bytes.Buffer
		status := run([]string{"dedup", "-n", "100", "-p", "1e-9"}, pieces(strings.NewReader(keys.String())), &out, &said)
		if status != statusOverfull || out.String() != want.String() || !strings.Contains(said.String(), "key 201 is a new one") {
			t.Errorf("%s: status %d, %d lines, %s", name, status, strings.Count(out.String(), "\n"), &said)
		}
	}
}

// TestChoices: the words of a flag are told.
func TestChoices(t *testing.T) {
	c := choice{allowed: []string{"fail", "warn"}}
	if err := c.Set("maybe"); err == nil || !strings.Contains(err.Error(), "fail, warn") {
		t.Error(err)
	}
	if err := c.Set("warn"); err != nil || c.value != "warn" || !slices.Contains(c.allowed, c.String()) {
		t.Error(err, c)
	}
}
