package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/seed3447c163/bloom/persist"
)

// TestFormatsAreToldApart: no file of one format is taken for another.
func TestFormatsAreToldApart(t *testing.T) {
	for _, n := range []uint64{1, 10, 1000, 70_000} {
		for i := range formats {
			from := &formats[i]
			if from.write == nil {
				continue
			}
			pl := plan{n: count(n), p: 0.01, strategy: choice[bloom.Strategy]{value: strategies[0]}}
			f, err := any(nil), error(nil)
			if from.make != nil {
				f, err = from.make(n, 0.01, nil)
			} else {
				f, err = pl.filter(nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := keeperOf(f).AddMany([][]byte{{'x'}}, nil); err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if err := from.writeAny(&file, f); err != nil {
				t.Fatal(err)
			}
			for _, size := range []int64{int64(file.Len()), -1} {
				var got string
				for _, to := range formats {
					if to.is(file.Bytes()[:min(file.Len(), 4096)], size) {
						got = to.name
						break
					}
				}
				if got != from.name {
					t.Errorf("%s of %d keys, size %d, is taken for %q", from.name, n, size, got)
				}
			}
		}
	}
}

// TestFilesOfOthers: what bits-and-blooms itself has written is known for what it is.
func TestFilesOfOthers(t *testing.T) {
	for pattern, want := range map[string]string{"*.bloom": "bits-and-blooms", "*.json": "bits-and-blooms-json"} {
		files, err := filepath.Glob("../../interop/bitsandblooms/testdata/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no files", err)
		}
		for _, name := range files {
			if _, format, err := load(&env{ctx: t.Context()}, name, &secret{}); err != nil || format.name != want {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
	}
}

// TestMapped: a filter that a program has mapped can be asked, explained and saved, and is
// not written to.
func TestMapped(t *testing.T) {
	path := filepath.Join(mappedDir(t), "seen.map")
	file, err := persist.Open(path, 1000, 0.001)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	file.AddString("apple")

	var out, errs bytes.Buffer
	expect := func(want int, args ...string) {
		t.Helper()
		out.Reset()
		errs.Reset()
		if got := run(t.Context(), args, nil, &out, &errs); got != want {
			t.Errorf("%q: status %d, want %d: %s", args, got, want, errs.String())
		}
	}
	expect(0, "check", "-q", path, "-k", "apple")
	expect(1, "check", "-q", path, "-k", "pear")
	expect(0, "info", path)
	if !bytes.Contains(out.Bytes(), []byte("about 1 keys")) {
		t.Errorf("info: %s", out.String())
	}
	expect(2, "add", path, "-k", "pear")
	if !bytes.Contains(errs.Bytes(), []byte("bloom convert makes a file of it")) {
		t.Errorf("add: %s", errs.String())
	}
	// Before the keys are read, or printed.
	for _, args := range [][]string{
		{"add", path, "missing"},
		{"build", "--force", "-n", "10", "-o", path, "missing"},
		{"build", "--force", "-o", path, "missing"},
		{"union", "--force", "-o", path, "missing"},
		{"dedup", "--filter", path, "missing"},
	} {
		expect(2, args...)
		if !bytes.Contains(errs.Bytes(), []byte("is only written by the programs that have it open")) {
			t.Errorf("%q: %s", args, errs.String())
		}
	}
	expect(0, "convert", "--format", "bloom", "-o", path+".bloom", path)
	expect(0, "check", "-q", path+".bloom", "-k", "apple")
	expect(0, "union", "-o", path+".united", path, path)
	if f, _, err := load(&env{ctx: t.Context()}, path+".united", &secret{}); err != nil || !f.ContainsString("apple") {
		t.Error(err)
	}
}

// TestGuavasSize: what a Java program makes of the same numbers.
func TestGuavasSize(t *testing.T) {
	to, err := formatNamed("guava")
	if err != nil {
		t.Fatal(err)
	}
	f, err := to.make(1_000_000, 0.03, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := guava.New(1_000_000, 0.03, guava.Since33_4)
	if err != nil {
		t.Fatal(err)
	}
	if !f.(*bloom.BloomFilter).Compatible(want) {
		t.Errorf("%v, want %v", f, want)
	}
}
