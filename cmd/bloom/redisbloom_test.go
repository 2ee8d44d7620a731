package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeFile(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRedisBloom: what a server has dumped is asked as the server answered; a dump that is cut
// anywhere, or in disorder, is refused.
func TestRedisBloom(t *testing.T) {
	files, err := filepath.Glob("../../interop/rebloom/testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	built := 0
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var dump struct {
			Reserve []any `json:"reserve"` // rate, n, options
			N       int   `json:"n"`
			Asked   int   `json:"absent_asked"`
			True    []int `json:"absent_answered_true"`
			Chunks  []struct {
				Iter uint64 `json:"iter"`
				Hex  string `json:"hex"`
			} `json:"chunks"`
		}
		if err := json.Unmarshal(raw, &dump); err != nil {
			t.Fatal(err)
		}
		var whole []byte
		ends := map[int]bool{0: true} // of chunks
		for _, c := range dump.Chunks {
			data, err := hex.DecodeString(c.Hex)
			if err != nil {
				t.Fatal(err)
			}
			whole = binary.LittleEndian.AppendUint64(whole, c.Iter)
			whole = binary.LittleEndian.AppendUint64(whole, uint64(len(data)))
			whole = append(whole, data...)
			ends[len(whole)] = true
		}
		path := writeFile(t, whole)
		var keys, absent, want strings.Builder
		for i := range dump.N {
			fmt.Fprintf(&keys, "key-%d\n", i)
		}
		for i := range dump.Asked {
			fmt.Fprintf(&absent, "absent-%d\n", i)
		}
		for _, i := range dump.True {
			fmt.Fprintf(&want, "absent-%d\n", i)
		}
		status := statusFound
		if dump.N == 0 {
			status = statusNotFound
		}
		keysFile := writeFile(t, []byte(keys.String()))
		if got, _ := expectRun(t, status, "check", path, keysFile); got != keys.String() {
			t.Errorf("%s: keys are missing", name)
		}
		status = statusFound
		if len(dump.True) == 0 {
			status = statusNotFound
		}
		if got, _ := expectRun(t, status, "check", path, writeFile(t, []byte(absent.String()))); got != want.String() {
			t.Errorf("%s: %q, the server said %q", name, got, want.String())
		}
		info, _ := expectRun(t, statusFound, "info", path)
		if !strings.Contains(info, "redisbloom: ") || !strings.Contains(info, "grows") {
			t.Errorf("%s: %s", name, info)
		}
		// Written again, and with no key more, byte for byte.
		expectRun(t, statusFound, "convert", "--format", "redisbloom", "-o", path+".same", path)
		expectBytes(t, path+".same", whole)
		expectRun(t, statusFound, "add", path+".same", os.DevNull)
		expectBytes(t, path+".same", whole)
		if len(dump.Chunks) > 2 {
			if _, said := expectRun(t, statusError, "convert", "--format", "bloom", "-o", path+".bloom", path); !strings.Contains(said, "layers, want one for a plain filter") {
				t.Errorf("%s: %s", name, said)
			}
		} else if _, said := expectRun(t, statusFound, "convert", "--format", "bloom", "-o", path+".bloom", path); !strings.Contains(said, fmt.Sprintf("the exact number of keys (%d), and its growth", dump.N)) {
			t.Errorf("%s: %s", name, said)
		} else {
			if got, _ := expectRun(t, status, "check", path+".bloom", writeFile(t, []byte(absent.String()))); got != want.String() {
				t.Errorf("%s as a plain filter: %q, the server said %q", name, got, want.String())
			}
			expectRun(t, statusFound, "convert", "--format", "redisbloom", "-o", path+".back", path+".bloom")
			back, err := os.ReadFile(path + ".back")
			if err != nil || len(back) != len(whole) || !bytes.Equal(back[len(back)-len(dump.Chunks[1].Hex)/2:], whole[len(whole)-len(dump.Chunks[1].Hex)/2:]) {
				t.Errorf("%s: not the same bits after a conversion and back: %v", name, err)
			}
		}
		if len(dump.Reserve) == 2 { // built of the keys that the server had, it is the server's file
			flags := []string{"-p", dump.Reserve[0].(string), "-n", fmt.Sprint(dump.Reserve[1])}
			expectRun(t, statusFound, append(flags, "build", "--format", "redisbloom", "-o", path+".built", keysFile)...)
			expectBytes(t, path+".built", whole)
			built++
		}
		for cut := 0; cut < len(whole); cut += 1 + len(whole)/40 {
			expectRun(t, statusError, "info", writeFile(t, whole[:cut]))
		}
		for end := range ends {
			if end < len(whole) {
				expectRun(t, statusError, "info", writeFile(t, whole[:end]))
			}
		}
		expectRun(t, statusError, "info", writeFile(t, append(whole[:len(whole):len(whole)], whole...)))
		lying := append([]byte{}, whole...)
		binary.LittleEndian.PutUint64(lying[16+len(dump.Chunks[0].Hex)/2+8:], 1<<62)
		if _, said := expectRun(t, statusError, "info", writeFile(t, lying)); !strings.Contains(said, "a chunk of 4611686018427387904 bytes") {
			t.Errorf("%s: %s", name, said)
		}
	}
	if built < 3 {
		t.Errorf("%d built, want 3", built)
	}
}

func expectBytes(t *testing.T, path string, want []byte) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, want other %d (%v)", path, len(got), len(want), err)
	}
}
