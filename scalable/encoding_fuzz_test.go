package scalable

import (
	"bytes"
	"testing"

	"github.com/seed3447c163/bloom"
)

func FuzzRead(f *testing.F) {
	golden := written(f, small(f))
	f.Add(golden)
	for i := 0; i < len(golden); i += 37 {
		damaged := bytes.Clone(golden)
		damaged[i] ^= 0x11
		f.Add(damaged)
		f.Add(golden[:i])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := Read(bytes.NewReader(data), WithBloom(bloom.WithMaxBytes(1<<20)))
		if err != nil {
			return
		}
		if again := written(t, g); !bytes.HasPrefix(data, again) {
			t.Fatalf("%x was read and written as %x", data, again)
		}
		g.AddString("one more")
	})
}

// FuzzAgainstMap reads its input as keys and runs them on a filter that grows with nearly
// each of them, and on a map.
func FuzzAgainstMap(f *testing.F) {
	f.Add([]byte("abcabc\x00d\x00e"))
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 9, 8, 7})
	f.Fuzz(func(t *testing.T, program []byte) {
		s := must(1, 1e-12)
		there := map[byte]bool{}
		for _, x := range program {
			if x == 0 {
				var err error
				if s, err = Read(bytes.NewReader(written(t, s))); err != nil {
					t.Fatal(err)
				}
				continue
			}
			added, err := s.Add([]byte{x})
			if err != nil || added == there[x] {
				t.Fatalf("%v: Add(%d) = %v, %v; it was there: %v", s, x, added, err, there[x])
			}
			there[x] = true
		}
		for x := range 256 {
			if got := s.Contains([]byte{byte(x)}); got != there[byte(x)] {
				t.Fatalf("%v: Contains(%d) = %v", s, x, got)
			}
		}
		if got := s.EstimatedCount(); got != uint64(len(there)) {
			t.Fatalf("%v: EstimatedCount = %d, want %d", s, got, len(there))
		}
	})
}
