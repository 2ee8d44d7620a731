package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

const secretHex = "000102030405060708090a0b0c0d0e0f"

// TestFormatsAreToldApart: no file of one format is taken for another.
func TestFormatsAreToldApart(t *testing.T) {
	for _, n := range []string{"1", "10", "1000", "70_000"} {
		for _, name := range filterfile.Names() {
			path := filepath.Join(t.TempDir(), name)
			expectRun(t, statusFound, "build", "-n", n, "--format", name, "-o", path, "-k", "x")
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			out, _ := expectRun(t, statusFound, "info", path)
			var piped, said bytes.Buffer
			run(t.Context(), []string{"info", "-"}, bytes.NewReader(file), &piped, &said)
			for _, got := range []string{out, piped.String()} { // with and without a known size
				if !strings.Contains(got, "\n  format    "+name+": ") {
					t.Errorf("%s of %s keys is taken for another format: %s%s", name, n, got, &said)
				}
			}
		}
	}
}

// TestHashesArePortable: --hash offers all hashes whose filters can be written.
func TestHashesArePortable(t *testing.T) {
	portable := slices.DeleteFunc(conformance.Hashes(), func(h *bloom.Hash) bool {
		scheme, err := bloom.NewScheme(1, 0.1, bloom.WithHash(h))
		return err != nil || scheme.Portable() != nil
	})
	if !slices.Equal(hashes, portable) {
		t.Errorf("%v, want %v", hashes, portable)
	}
}

// TestSecretIsForFilesThatHaveOne: the environment's secret is not used for other files. A named one is.
func TestSecretIsForFilesThatHaveOne(t *testing.T) {
	dir, keyFile := t.TempDir(), writeFile(t, []byte(secretHex))
	for _, format := range filterfile.Names() {
		path := filepath.Join(dir, format)
		t.Setenv(secretVariable, "")
		expectRun(t, statusFound, "build", "-n", "100", "-o", path, "--format", format, os.DevNull)
		t.Setenv(secretVariable, secretHex)
		expectRun(t, statusFound, "info", path)
		expectRun(t, statusError, "info", "--secret-file", keyFile, path)
	}
	for _, format := range []string{"bloom", "text"} {
		path := filepath.Join(dir, "keyed-"+format)
		expectRun(t, statusFound, "build", "-n", "100", "-o", path, "--format", format, os.DevNull)
		expectRun(t, statusFound, "info", path)
		t.Setenv(secretVariable, "")
		expectRun(t, statusError, "info", path)
		t.Setenv(secretVariable, secretHex)
	}
}

// TestReadsWhatTheLibraryReads: the golden files of the library and of its packages.
func TestReadsWhatTheLibraryReads(t *testing.T) {
	t.Setenv(secretVariable, "")
	var tried int
	for _, pattern := range []string{"testdata/*.bloom", "persist/testdata/*.map", "interop/guava/testdata/*.bloom", "interop/bitsandblooms/testdata/*.bloom", "interop/bitsandblooms/testdata/*.json", "interop/npmbloomfilters/testdata/[os]*e.json", "cascade/testdata/*.golden", "interop/parquet/testdata/*.parquet"} {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range files {
			name, refused := filepath.Base(path), ""
			switch {
			case strings.Contains(name, "-key."):
				refused = "bloom help secrets"
			case strings.Contains(name, "triple") || strings.HasPrefix(name, "custom-"):
				refused = "want one of that name by With" // a strategy or hash of a Go program
			}
			if refused != "" {
				if _, said := expectRun(t, statusError, "info", path); !strings.Contains(said, refused) {
					t.Errorf("%s: %s", path, said)
				}
				continue
			}
			expectRun(t, statusFound, "info", path)
			tried++
		}
	}
	if tried < 30 {
		t.Errorf("%d files, want 30 and more", tried)
	}
}

// TestVariants: files that no command writes are queried and described, with and without a secret
// key. A mapped and a counting one become plain filters.
func TestVariants(t *testing.T) {
	t.Setenv(secretVariable, "")
	for _, keyed := range []bool{false, true} {
		var opts []bloom.Option
		var flags []string
		if keyed {
			opts, flags = []bloom.Option{bloom.WithSecret([16]byte{1, 2, 3})}, []string{"--secret-file", writeFile(t, []byte{0: 1, 1: 2, 2: 3, 15: 0})}
		}
		dir := testkit.TempDir(t)
		mapped, err1 := persist.Open(filepath.Join(dir, "mapped"), 1000, 0.001, append(opts, bloom.WithStrategy(bloom.Blocked))...)
		grows, err2 := scalable.New(10, 0.001, opts...)
		forgets, err3 := rotating.New(1000, 0.001, 1<<62, rotating.WithBloom(opts...))
		removes, err4 := counting.New(1000, 0.001, opts...)
		levels, err5 := cascade.New(t.Context(), 0.3, list(0, 100), list(100, 200), opts...)
		if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			mapped.AddString(strconv.Itoa(i))
			grows.AddString(strconv.Itoa(i))
			forgets.AddString(strconv.Itoa(i))
			removes.AddString(strconv.Itoa(i))
		}
		removes.AddString("106")
		removes.RemoveString("106")
		if err := errors.Join(mapped.Close(), persist.Save(filepath.Join(dir, "scalable"), grows), persist.Save(filepath.Join(dir, "rotating"), forgets),
			persist.Save(filepath.Join(dir, "counting"), removes), persist.Save(filepath.Join(dir, "cascade"), levels)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"mapped", "scalable", "rotating", "counting", "cascade"} {
			path := filepath.Join(dir, name)
			if keyed {
				if _, said := expectRun(t, statusError, "info", path); !strings.Contains(said, "bloom help secrets") {
					t.Errorf("%s without its key: %s", name, said)
				}
			}
			if out, _ := expectRun(t, statusFound, append(flags, "info", path)...); !strings.Contains(out, "format    "+name) || !strings.Contains(out, "holds     about ") {
				t.Errorf("%s: %s", name, out)
			}
			query := append(flags, "check", path, "-k", "99", "-k", "106", "-k", "0")
			if out, _ := expectRun(t, statusFound, query...); out != "99\n0\n" {
				t.Errorf("%s: %q", name, out)
			}
			for _, args := range [][]string{{"add", path, os.DevNull}, {"dedup", "--filter", path, os.DevNull}} {
				if name == "scalable" || name == "rotating" {
					expectRun(t, statusFound, append(flags, args...)...)
				} else if _, said := expectRun(t, statusError, append(flags, args...)...); !strings.Contains(said, "only") {
					t.Errorf("%q: %s", args, said)
				}
			}
			plain := path + ".bloom"
			if name != "mapped" && name != "counting" {
				expectRun(t, statusError, append(flags, "convert", "--format", "bloom", "-o", plain, path)...)
				continue
			}
			expectRun(t, statusFound, append(flags, "convert", "--format", "bloom", "-o", plain, path)...)
			query[len(flags)+1] = plain
			if out, _ := expectRun(t, statusFound, query...); out != "99\n0\n" {
				t.Errorf("%s: %q", plain, out)
			}
		}
		expectRun(t, statusError, append(flags, "build", "--force", "-n", "10", "-o", filepath.Join(dir, "mapped"), "-k", "x")...)
	}
}

// list returns the numbers from first to last-1 as keys.
func list(first, last int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for i := first; i < last && yield(strconv.AppendInt(nil, int64(i), 10), nil); i++ {
		}
	}
}

// TestBitsAndBloomsWithMoreBitsThanM: bits-and-blooms' FromWithM([]uint64{1, 2}, 100, 3) has
// a bit set of 128 bits, that of its words.
func TestBitsAndBloomsWithMoreBitsThanM(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
		file := binary.BigEndian.AppendUint64(nil, 100)
		file = binary.BigEndian.AppendUint64(file, 3)
		for _, word := range []uint64{128, 1, 2} {
			file = order.AppendUint64(file, word)
		}
		if out, _ := expectRun(t, statusFound, "info", writeFile(t, file)); !strings.Contains(out, "100 bits") {
			t.Errorf("%v: %s", order, out)
		}
	}
}

// TestWrappedText: base64 may have its newlines anywhere, and nothing may follow it.
func TestWrappedText(t *testing.T) {
	data, err := bloom.MustNew(10, 0.01).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	text := "\r\n"
	for line := base64.StdEncoding.EncodeToString(data); line != ""; {
		n := min(4, len(line))
		text, line = text+line[:n]+"\r\n", line[n:]
	}
	expectRun(t, statusFound, "info", writeFile(t, []byte(text)))
	expectRun(t, statusError, "info", writeFile(t, []byte(text+"AAAA")))
	expectRun(t, statusError, "info", writeFile(t, append(data, 0)))
}
