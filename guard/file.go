package guard

import (
	"context"
	"encoding/binary"
	"io"
	"slices"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/persist"
)

// The format of a guard's file, version 1, a frame of package format: the magic, the number of new keys that were
// added, the number of keys in the last list of all keys, the length of the position in bytes, the position as numbers
// of eight bytes, padded with zeros, and the filter.
const (
	magic     = format.Guard + "\x01"
	maxLength = 1<<16 - 1
)

// A snapshot is the content of a Guard's file.
type snapshot struct {
	*layer
	position []byte
}

// WriteTo writes the file. It reads the number of keys before the bits, so that the file contains every key that it
// counts.
func (s snapshot) WriteTo(w io.Writer) (int64, error) {
	out := format.NewFrameWriter(w, magic)
	out.Numbers(s.keys.Load(), s.listed, uint64(len(s.position)))
	numbers := make([]uint64, (len(s.position)+7)/8)
	padded := append(slices.Clip(s.position), make([]byte, 7)...)
	for i := range numbers {
		numbers[i] = binary.LittleEndian.Uint64(padded[8*i:])
	}
	out.Numbers(numbers...)
	out.Filter(s.BloomFilter)
	out.Numbers()
	return out.Result()
}

// Save writes the filter and the store's position to the Guard's file, as [persist.Save] does: after a crash at any
// moment, the file is the complete old one or the complete new one. Puts continue during the save. The shorter the
// interval between saves, the fewer keys Open must list. Save returns the position. If the store keeps a log only for
// the Guard, the log can be deleted up to this position.
//
// The error wraps [ErrNotReady] if there is no filter yet, and [bloom.ErrInvalid] if there is no
// path or the position is too short or too long. Save also returns any error from ctx, the store or
// persist.Save.
func (g *Guard) Save(ctx context.Context) (position []byte, err error) {
	if g.path == "" {
		return nil, failure.Errorf(bloom.ErrInvalid, "path \"\" of a Guard, want the path of a file")
	}
	if err := take(ctx, g.saving); err != nil {
		return nil, err
	}
	defer give(g.saving)
	s, err := g.snapshot(ctx)
	if err == nil {
		err = persist.Save(g.path, s)
	}
	if err != nil {
		return nil, err
	}
	return s.position, nil
}

// snapshot returns a filter, and a position that the store gave while the filter was current. An earlier position might
// lack deletes that the filter's build has seen; a crash of the machine could undo such a delete, and the filter would
// lack the key. A later position would include puts that were not added to the filter. The bits are read after the
// position, because each put was added to the filter before it was visible.
func (g *Guard) snapshot(ctx context.Context) (snapshot, error) {
	for {
		l := g.state.Load().current
		if l == nil {
			return snapshot{}, ErrNotReady
		}
		position, err := g.store.Position(ctx)
		if err != nil {
			return snapshot{}, err
		}
		if len(position) < 1 || len(position) > maxLength {
			return snapshot{}, failure.Errorf(bloom.ErrInvalid, "Position of the store returned %d bytes, want 1 to %d",
				len(position), maxLength)
		}
		if g.state.Load().current == l {
			return snapshot{l, position}, nil
		}
	}
}

// read reads what WriteTo has written.
func read(r io.Reader, opts ...bloom.Option) (s snapshot, err error) {
	in, err := format.NewFrameReader(r, magic)
	if err != nil {
		return s, err
	}
	var keys, listed, length uint64
	if err := in.Numbers("the header", &keys, &listed, &length); err != nil {
		return s, err
	}
	const most = 1 << 53 // no filter has more bits
	if keys > most || listed > most {
		return s, failure.Errorf(bloom.ErrCorrupt, "%d keys, %d listed, want at most 2^53", keys, listed)
	}
	if length < 1 || length > maxLength {
		return s, failure.Errorf(bloom.ErrCorrupt, "a position of %d bytes, want 1 to %d", length, maxLength)
	}
	numbers := make([]uint64, (length+7)/8)
	pointers := make([]*uint64, len(numbers))
	for i := range numbers {
		pointers[i] = &numbers[i]
	}
	if err := in.Numbers("the position", pointers...); err != nil {
		return s, err
	}
	var position []byte
	for _, x := range numbers {
		position = binary.LittleEndian.AppendUint64(position, x)
	}
	for _, b := range position[length:] {
		if b != 0 {
			return s, failure.Errorf(bloom.ErrCorrupt, "byte %#x after the position, want 0", b)
		}
	}
	f, err := format.ReadFilter(in, "the filter", bloom.Read, opts)
	if err == nil {
		err = in.Numbers("the end")
	}
	if err != nil {
		return s, err
	}
	l := newLayer(f, keys)
	l.listed = listed
	return snapshot{l, position[:length:length]}, nil
}
