package bloom

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzRead: any bytes are an error of a known kind, or a filter that writes the same bytes again,
// also with checksums that are right. A receiver is unchanged by an error. The same holds for
// the bytes as text.
func FuzzRead(f *testing.F) {
	f.Add([]byte{}, byte(0))
	i := 0
	for name, p := range portables(f) {
		data := golden(f, name, p.f)
		seeds := [][]byte{data, append(bytes.Clone(data), data...), data[:len(data)/2], base64.StdEncoding.AppendEncode(nil, data)}
		for _, at := range []int{7, 12, 13, 14, 15, 16, 23, 24, 39, 40, 48, 64, len(data) - 1} {
			damaged := bytes.Clone(data)
			damaged[at] ^= 1 << (i % 8)
			seeds = append(seeds, damaged)
			i++
		}
		for i, seed := range seeds {
			f.Add(seed, byte(3))
			f.Add(seed, byte(i))
		}
	}
	options := [][]Option{nil, {WithSecret(testKey)}, {WithStrategy(triple)}, {WithSecret(testKey), WithStrategy(triple)}, {WithStrategy(Blocked)}, {WithSeed(1<<63 + 42)}}
	var olds []*BloomFilter // to size one takes longer than to decode
	for _, opts := range options {
		old := MustNew(10, 0.1, opts...)
		old.AddString("old")
		olds = append(olds, old)
	}
	f.Fuzz(func(t *testing.T, data []byte, which byte) {
		old, opts := olds[int(which)%len(olds)], append(options[int(which)%len(olds)], WithMaxBytes(1<<20))
		g := old.Clone()
		checkDecoded(t, old, g, g.UnmarshalText(data))
		for range 2 {
			r := bytes.NewReader(data)
			g, err := Read(r, opts...)
			slow, slowErr := Read(iotest.OneByteReader(bytes.NewReader(data)), opts...)
			if (err == nil) != (slowErr == nil) || err != nil && err.Error() != slowErr.Error() || err == nil && !slow.Equal(g) {
				t.Fatalf("at once: %v\nslowly: %v", err, slowErr)
			}
			if err == nil && !bytes.Equal(marshal(t, g), data[:len(data)-r.Len()]) {
				t.Fatalf("read   %x\nwrites %x", data[:len(data)-r.Len()], marshal(t, g))
			}
			checkDecoded(t, nil, g, err)

			into := old.Clone()
			err = into.UnmarshalBinary(data)
			if err == nil && !bytes.Equal(marshal(t, into), data) {
				t.Fatalf("read   %x\nwrites %x", data, marshal(t, into))
			}
			if err == nil {
				text := base64.StdEncoding.EncodeToString(data)
				again := old.Clone()
				if err := again.UnmarshalText([]byte(text[:len(text)/2] + "\r\n" + text[len(text)/2:])); err != nil || !again.Equal(into) {
					t.Fatalf("as text: %v", err)
				}
				if got, err := into.MarshalText(); string(got) != text {
					t.Fatalf("text %s, %v, want %s", got, err, text)
				}
			}
			checkDecoded(t, old, into, err)
			if len(data) < 16 {
				return
			}
			data = forge(bytes.Clone(data))
		}
	})
}

// checkDecoded checks the error of a decoder, and that the receiver is then the old one.
func checkDecoded(t *testing.T, old, f *BloomFilter, err error) {
	switch {
	case err == nil:
		if f.AddString("it works"); !f.ContainsString("it works") {
			t.Fatal("a miss")
		}
	case !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrIncompatible) && !errors.Is(err, ErrTooLarge) && (err != io.EOF || old != nil):
		t.Fatalf("no sentinel: %v", err)
	case strings.Count(err.Error(), "bloom: ") != 1 && err != io.EOF:
		t.Fatalf("not one prefix: %v", err)
	case old != nil && !f.Equal(old):
		t.Fatalf("%v, and the receiver has changed", err)
	}
}
