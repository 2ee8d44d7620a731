package main

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
)

func TestGrouped(t *testing.T) {
	for n, want := range map[uint64]string{
		0:              "0",
		999:            "999",
		1_234_567:      "1,234,567",
		1 << 63:        "9,223,372,036,854,775,808",
		math.MaxUint64: "18,446,744,073,709,551,615",
	} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// TestInfoOfTheLargestN: a file's n is whatever its maker said.
func TestInfoOfTheLargestN(t *testing.T) {
	f, err := bloom.NewWithParams(bloom.Params{M: 64, K: 1, N: math.MaxUint64, P: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.bloom")
	if err := persist.Save(path, f); err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	if status := run(t.Context(), []string{"info", path}, nil, &out, &errOut); status != statusFound {
		t.Fatalf("status %d, %s", status, &errOut)
	}
	if want := "made for  18,446,744,073,709,551,615 keys at a rate of 0.5\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, &out)
	}
}
