package main

import (
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	"github.com/seed3447c163/bloom/persist"
)

// TestCascade: it is exact for its two lists, and damage anywhere is found.
func TestCascade(t *testing.T) {
	list := func(keys ...string) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for _, key := range keys {
				if !yield([]byte(key), nil) {
					return
				}
			}
		}
	}
	for _, keyed := range []bool{false, true} {
		var opts []bloom.Option
		var flags []string
		if keyed {
			key := [16]byte{1, 2, 3}
			opts, flags = []bloom.Option{bloom.WithKey(key)}, []string{"--key-file", writeFile(t, key[:])}
		}
		c, err := cascade.New(t.Context(), 0.3, list("apple", "pear"), list("plum", "cherry", "fig"), opts...)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "fruit")
		if err := persist.Save(path, c); err != nil {
			t.Fatal(err)
		}
		if keyed {
			if _, said := expectRun(t, statusError, "info", path); !strings.Contains(said, "bloom help secrets") {
				t.Errorf("without its key: %s", said)
			}
		}
		got, _ := expectRun(t, statusFound, append(flags, "check", path, "-k", "apple", "-k", "plum", "-k", "pear", "-k", "cherry", "-k", "fig")...)
		if got != "apple\npear\n" {
			t.Errorf("keyed %v: %q", keyed, got)
		}
		if info, _ := expectRun(t, statusFound, append(flags, "info", path)...); !strings.Contains(info, "cascade: ") || !strings.Contains(info, "layers") {
			t.Error(info)
		}
		if info, _ := expectRun(t, statusFound, append(flags, "info", "--json", path)...); !strings.Contains(info, `"format":"cascade"`) || !json.Valid([]byte(info)) {
			t.Error(info)
		}
		expectRun(t, statusError, append(flags, "add", path, "-k", "quince")...)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(whole); at += 7 {
			damaged := append([]byte{}, whole...)
			damaged[at] ^= 4
			expectRun(t, statusError, append(flags, "info", writeFile(t, damaged))...)
			expectRun(t, statusError, append(flags, "info", writeFile(t, whole[:at]))...)
		}
	}
}
