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

// addDamaged seeds a fuzzer with the golden files, whole and damaged.
func addDamaged(f *testing.F, add func(data []byte)) {
	i := 0
	for name, p := range portables(f) {
		data := golden(f, name, p.f)
		add(data)
		add(append(bytes.Clone(data), data...))
		add(data[:len(data)/2])
		for _, at := range []int{7, 12, 13, 14, 15, 16, 23, 24, 39, 40, 48, 64, len(data) - 1} {
			damaged := bytes.Clone(data)
			damaged[at] ^= 1 << (i % 8)
			add(damaged)
			i++
		}
	}
}

// optionsOf are those that a fuzzer's byte stands for.
func optionsOf(which byte) (opts []Option) {
	for i, opt := range []Option{WithKey(testKey), WithStrategy(triple), WithStrategy(Blocked), WithSeed(1<<63 + 42)} {
		if which>>i&1 == 1 {
			opts = append(opts, opt)
		}
	}
	return opts
}

// receivers returns a filter with a key in it for each set of options, nil where there
// is none. To size one takes longer than to decode.
func receivers() (all [16]*BloomFilter) {
	for which := range all {
		if f, err := New(10, 0.1, optionsOf(byte(which))...); err == nil {
			f.AddString("old")
			all[which] = f
		}
	}
	return all
}

// decoded checks what a decoder answered to data. n is how many bytes it read.
func decoded(t *testing.T, data []byte, f *BloomFilter, n int, err error) {
	if err != nil {
		known := errors.Is(err, ErrCorrupt) || errors.Is(err, ErrIncompatible) || errors.Is(err, ErrTooLarge)
		if !known && err != io.EOF {
			t.Fatalf("no sentinel: %v", err)
		}
		return
	}
	again, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data[:n], again) {
		t.Fatalf("read   %x\nwrites %x", data[:n], again)
	}
	f.Add([]byte("it works"))
	if !f.Contains([]byte("it works")) {
		t.Fatal("a miss")
	}
}

// FuzzRead: any bytes are an error that is known, or a filter that writes the same
// bytes again; and again with checksums that are right.
func FuzzRead(f *testing.F) {
	addDamaged(f, func(data []byte) {
		for which := range byte(4) {
			f.Add(data, which)
		}
	})
	f.Fuzz(func(t *testing.T, data []byte, which byte) {
		opts := append(optionsOf(which), WithMaxBytes(1<<20))
		for range 2 {
			r := bytes.NewReader(data)
			g, err := Read(r, opts...)
			decoded(t, data, g, len(data)-r.Len(), err)

			slow, slowErr := Read(iotest.OneByteReader(bytes.NewReader(data)), opts...)
			if (err == nil) != (slowErr == nil) || err != nil && err.Error() != slowErr.Error() {
				t.Fatalf("at once: %v\nslowly: %v", err, slowErr)
			}
			if err == nil && !slow.Compatible(g) {
				t.Fatal("another filter when read slowly")
			}
			if len(data) < 16 {
				return
			}
			data = forge(bytes.Clone(data))
		}
	})
}

// FuzzUnmarshalBinary is FuzzRead for all of the bytes, into a filter that must stay
// as it was if there is an error.
func FuzzUnmarshalBinary(f *testing.F) {
	addDamaged(f, func(data []byte) { f.Add(data, byte(3)) })
	olds := receivers()
	f.Fuzz(func(t *testing.T, data []byte, which byte) {
		old := olds[which%16]
		if old == nil {
			return
		}
		for range 2 {
			g := old.Clone()
			err := g.UnmarshalBinary(data)
			if err == io.EOF || err != nil && !g.Equal(old) {
				t.Fatalf("%v, and it has changed", err)
			}
			decoded(t, data, g, len(data), err)
			if len(data) < 16 {
				return
			}
			data = forge(bytes.Clone(data))
		}
	})
}

// FuzzUnmarshalText: the same for text.
func FuzzUnmarshalText(f *testing.F) {
	f.Add([]byte("AAAA\n"), byte(0))
	addDamaged(f, func(data []byte) { f.Add(base64.StdEncoding.AppendEncode(nil, data), byte(3)) })
	olds := receivers()
	f.Fuzz(func(t *testing.T, text []byte, which byte) {
		old := olds[which%16]
		if old == nil {
			return
		}
		g := old.Clone()
		if err := g.UnmarshalText(text); err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrIncompatible) && !errors.Is(err, ErrTooLarge) || !g.Equal(old) {
				t.Fatalf("%v, and it has changed: %v", err, !g.Equal(old))
			}
			return
		}
		again, err := g.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.NewReplacer("\r", "", "\n", "").Replace(string(text)); lines != string(again) {
			t.Fatalf("read   %s\nwrites %s", lines, again)
		}
	})
}
