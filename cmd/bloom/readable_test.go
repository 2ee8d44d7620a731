package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

// expectRun runs the program and returns what it prints and what it says.
func expectRun(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	if got := run(t.Context(), args, strings.NewReader(""), &out, &errOut); got != want {
		t.Errorf("%q: status %d, want %d: %s", args, got, want, errOut.String())
	}
	return out.String(), errOut.String()
}

const secretHex = "000102030405060708090a0b0c0d0e0f"

// mappedDir is t.TempDir for mapped files. Windows removes one only when the garbage
// collector has unmapped it.
func mappedDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if runtime.GOOS == "windows" {
		t.Cleanup(func() {
			for range 1000 {
				runtime.GC()
				if os.RemoveAll(dir) == nil {
					return
				}
				time.Sleep(10 * time.Millisecond) // for the cleanups
			}
		})
	}
	return dir
}

// TestMappedAsItsHeaderSays: a mapped file of any strategy, hash and seed is read without
// being told what its header says, and a key is asked for where there is one.
func TestMappedAsItsHeaderSays(t *testing.T) {
	t.Setenv(keyVariable, "")
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(secretHex), 0o600); err != nil {
		t.Fatal(err)
	}
	var key [16]byte
	for i := range key {
		key[i] = byte(i)
	}
	for _, s := range strategies {
		for name, opts := range map[string][]bloom.Option{
			"plain":  nil,
			"seeded": {bloom.WithSeed(0xfedcba9876543210)},
			"rapid":  {bloom.WithHash(bloom.RapidHash), bloom.WithSeed(7)},
			"keyed":  {bloom.WithKey(key)},
		} {
			path := filepath.Join(mappedDir(t), "seen.map")
			file, err := persist.Open(path, 1000, 0.001, append(opts, bloom.WithStrategy(s))...)
			if name != "plain" && err != nil {
				continue // not every strategy can have a seed or a key
			}
			if err != nil {
				t.Fatal(s, name, err)
			}
			file.AddString("apple")
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
			var flags []string
			if name == "keyed" {
				_, said := expectRun(t, statusError, "check", path, "-k", "apple")
				if !strings.Contains(said, "bloom help secrets") {
					t.Errorf("%v %s without its key: %q", s, name, said)
				}
				flags = []string{"--key-file", keyFile}
			}
			expectRun(t, statusFound, append(flags, "check", "-q", path, "-k", "apple")...)
			expectRun(t, statusNotFound, append(flags, "check", "-q", path, "-k", "pear")...)
			if out, _ := expectRun(t, statusFound, append(flags, "info", path)...); !strings.Contains(out, s.Name()) {
				t.Errorf("%v %s: %s", s, name, out)
			}
			expectRun(t, statusFound, append(flags, "convert", "--format", "bloom", "-o", path+".bloom", path)...)
			expectRun(t, statusFound, append(flags, "check", "-q", path+".bloom", "-k", "apple")...)
		}
	}
}

// TestKeyIsForFilesThatHaveOne: the environment's key is not in the way of other files. One
// that is named for a file must be its own.
func TestKeyIsForFilesThatHaveOne(t *testing.T) {
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "key")
	if err := os.WriteFile(keyFile, []byte(secretHex), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range formatNames() {
		path := filepath.Join(dir, format)
		t.Setenv(keyVariable, "")
		expectRun(t, statusFound, "build", "-n", "100", "-o", path, "--format", format, os.DevNull)
		t.Setenv(keyVariable, secretHex)
		expectRun(t, statusFound, "info", path)
		expectRun(t, statusError, "info", "--key-file", keyFile, path)
	}
	for _, format := range []string{"bloom", "text"} {
		path := filepath.Join(dir, "keyed-"+format)
		expectRun(t, statusFound, "build", "-n", "100", "-o", path, "--format", format, os.DevNull)
		expectRun(t, statusFound, "info", path)
		t.Setenv(keyVariable, "")
		expectRun(t, statusError, "info", path)
		t.Setenv(keyVariable, secretHex)
	}
}

// TestReadsWhatTheLibraryReads: the golden files of the library and of its packages.
func TestReadsWhatTheLibraryReads(t *testing.T) {
	t.Setenv(keyVariable, "")
	var tried int
	for _, pattern := range []string{"testdata/*.bloom", "persist/testdata/*.map", "interop/guava/testdata/*.bloom", "interop/bitsandblooms/testdata/*.bloom", "interop/bitsandblooms/testdata/*.json", "interop/bloomfilters/testdata/[os]*e.json", "cascade/testdata/*.golden", "interop/parquet/testdata/*.parquet"} {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range files {
			if strings.Contains(path, "triple") || strings.Contains(path, "own-") || strings.Contains(path, "custom-") { // a strategy or hash of a Go program
				_, said := expectRun(t, statusError, "info", path)
				if !strings.Contains(said, `, which only the program that defines it can read`) {
					t.Errorf("%s: %s", path, said)
				}
				continue
			}
			if strings.Contains(path, "-key.") { // its key is its test's
				_, said := expectRun(t, statusError, "info", path)
				if !strings.Contains(said, "bloom help secrets") {
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

// TestVariants: filters that grow, forget and remove can be asked and explained, and one that
// removes can be made into a plain one. None is written to.
func TestVariants(t *testing.T) {
	key := [16]byte{1, 2, 3}
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, key[:], 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(keyVariable, "")
	for _, keyed := range []bool{false, true} {
		var opts []bloom.Option
		var flags []string
		if keyed {
			opts, flags = []bloom.Option{bloom.WithKey(key)}, []string{"--key-file", keyFile}
		}
		grows, err1 := scalable.New(10, 0.001, scalable.WithBloom(opts...))
		forgets, err2 := rotating.New(1000, 0.001, 1<<62, rotating.WithBloom(opts...))
		removes, err3 := counting.New(1000, 0.001, opts...)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			grows.AddString(strconv.Itoa(i))
			forgets.AddString(strconv.Itoa(i))
			removes.AddString(strconv.Itoa(i))
		}
		removes.RemoveString("7")
		for name, f := range map[string]io.WriterTo{"scalable": grows, "rotating": forgets, "counting": removes} {
			path := filepath.Join(t.TempDir(), name)
			if err := persist.Save(path, f); err != nil {
				t.Fatal(err)
			}
			if keyed {
				if _, said := expectRun(t, statusError, "info", path); !strings.Contains(said, "bloom help secrets") {
					t.Errorf("%s without its key: %s", name, said)
				}
			}
			out, _ := expectRun(t, statusFound, append(flags, "info", path)...)
			if !strings.Contains(out, "format    "+name) || !strings.Contains(out, "holds     about ") {
				t.Errorf("%s: %s", name, out)
			}
			expectRun(t, statusFound, append(flags, "check", "-q", path, "-k", "99")...)
			expectRun(t, statusNotFound, append(flags, "check", "-q", path, "-k", "pear")...)
			for _, args := range [][]string{{"add", path, "-k", "x"}, {"dedup", "--filter", path, os.DevNull}} {
				if _, said := expectRun(t, statusError, append(flags, args...)...); !strings.Contains(said, name+" filter") {
					t.Errorf("%q: %s", args, said)
				}
			}
			if name != "counting" {
				expectRun(t, statusError, append(flags, "convert", "--format", "bloom", "-o", path+".bloom", path)...)
				continue
			}
			expectRun(t, statusFound, append(flags, "convert", "--format", "bloom", "-o", path+".bloom", path)...)
			expectRun(t, statusFound, append(flags, "check", "-q", path+".bloom", "-k", "8")...)
			expectRun(t, statusNotFound, append(flags, "check", "-q", path+".bloom", "-k", "7")...)
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
		if _, err := bitsandblooms.Read(bytes.NewReader(file)); err != nil {
			t.Fatal("the library does not read it:", err)
		}
		path := filepath.Join(t.TempDir(), "theirs")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := expectRun(t, statusFound, "info", path)
		if !strings.Contains(out, "100 bits") {
			t.Errorf("%v: %s", order, out)
		}
	}
}

// TestWrappedText: base64 may have its newlines anywhere.
func TestWrappedText(t *testing.T) {
	f := bloom.MustNew(10, 0.01)
	f.AddString("apple")
	data, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	text := "\r\n"
	for line := base64.StdEncoding.EncodeToString(data); line != ""; {
		n := min(4, len(line))
		text, line = text+line[:n]+"\r\n", line[n:]
	}
	if err := new(bloom.BloomFilter).UnmarshalText([]byte(text)); err != nil {
		t.Fatal("the library does not read it:", err)
	}
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	expectRun(t, statusFound, "check", "-q", path, "-k", "apple")
}
