package guard

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/regular"
	"github.com/seed3447c163/bloom/persist"
)

// The format of a guard's file, version 1. Numbers are little-endian.
//
//	offset  bytes  field
//	0       7      magic: 89 62 6c 67 72 64 0a ("blgrd" between a byte that is no text and a newline)
//	7       1      version: 1
//	8       2      L, the length of the position: at least 1
//	10      8      keys that were added and new
//	18      L      the position
//	18+L    4      CRC-32C of the bytes before
//	22+L           the filter, as bloom.BloomFilter.WriteTo writes it; the file ends with it
const (
	magic      = "\x89blgrd\n"
	version    = 1
	headerSize = 18
	maxLength  = 1<<16 - 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A snapshot is what is in a file.
type snapshot struct {
	*layer
	position []byte
}

// WriteTo writes the file. Its keys are counted before its bits are written, so that
// there are not fewer bits than keys.
func (s snapshot) WriteTo(w io.Writer) (int64, error) {
	head := append([]byte(magic), version)
	head = binary.LittleEndian.AppendUint16(head, uint16(len(s.position)))
	head = binary.LittleEndian.AppendUint64(head, s.keys.Load())
	head = append(head, s.position...)
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))
	n, err := w.Write(head)
	if err != nil {
		return int64(n), err
	}
	m, err := s.BloomFilter.WriteTo(w)
	return int64(n) + m, err
}

// Save writes the filter to the Guard's file, together with the store's position, as
// [persist.Save] does: after a crash at any moment it is the old file or the new one.
// Keys may be put meanwhile. How often it is called decides only how many keys Open
// has to catch up with. It returns the position: of a log that the store keeps for the
// Guard only, what is at or before it can be deleted.
//
// The error wraps [ErrNotReady] if there is no filter yet, [bloom.ErrInvalid] if there
// is no path or the position is too short or too long, or is that of ctx, of the store or
// of persist.Save.
func (g *Guard) Save(ctx context.Context) (position []byte, err error) {
	if g.path == "" {
		return nil, fmt.Errorf("%w: path \"\", want that of a file", bloom.ErrInvalid)
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

// snapshot returns a filter and a position that was asked for while that filter was
// current. Not before: the filter lacks keys whose deletes its build has seen, and the
// position must count these in, or a failed machine could bring such a key back. Not
// after: puts no longer add to it. What is at or before the position was added to the
// filter before it was visible; so its bits are looked at last.
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
			return snapshot{}, fmt.Errorf("%w: Position of the store returned %d bytes, want 1 to %d", bloom.ErrInvalid, len(position), maxLength)
		}
		if g.state.Load().current == l {
			return snapshot{l, position}, nil
		}
	}
}

func load(path string, opts []bloom.Option) (*layer, []byte, error) {
	file, _, err := regular.Open(path, os.O_RDONLY, bloom.ErrCorrupt)
	if err != nil {
		return nil, nil, notOpened(err)
	}
	defer file.Close()
	l, position, err := read(bufio.NewReaderSize(file, 1<<16), opts)
	if err != nil {
		return nil, nil, fmt.Errorf("%w (in %q)", err, path)
	}
	return l, position, nil
}

// notOpened is the error of a file that cannot be opened, with one prefix and its name quoted.
func notOpened(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return fmt.Errorf("guard: %s %q: %w", of.Op, of.Path, of.Err)
	}
	return err // bloom's, for what is no regular file
}

func read(r io.Reader, opts []bloom.Option) (*layer, []byte, error) {
	head := make([]byte, headerSize)
	if err := full(r, head); err != nil {
		return nil, nil, err
	}
	if string(head[:len(magic)]) != magic {
		return nil, nil, fmt.Errorf("%w: it begins with %q, want %q", bloom.ErrCorrupt, head[:len(magic)], magic)
	}
	if head[len(magic)] != version {
		return nil, nil, fmt.Errorf("%w: format version %d, want %d", bloom.ErrIncompatible, head[len(magic)], version)
	}
	length := int(binary.LittleEndian.Uint16(head[8:]))
	rest := make([]byte, length+4)
	if err := full(r, rest); err != nil {
		return nil, nil, err
	}
	position := rest[:length:length]
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, position)
	if got := binary.LittleEndian.Uint32(rest[length:]); got != sum {
		return nil, nil, fmt.Errorf("%w: checksum of the header is %08x, want %08x", bloom.ErrCorrupt, got, sum)
	}
	if length == 0 {
		return nil, nil, fmt.Errorf("%w: a position of 0 bytes, want at least 1", bloom.ErrCorrupt)
	}
	f, err := bloom.Read(r, opts...)
	if err == io.EOF {
		err = short()
	}
	if err != nil {
		return nil, nil, err
	}
	if err := ends(r); err != nil {
		return nil, nil, err
	}
	return newLayer(f, binary.LittleEndian.Uint64(head[10:])), position, nil
}

// ends returns an error if there are more bytes.
func ends(r io.Reader) error {
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case n > 0:
		return fmt.Errorf("%w: bytes after the end of the filter", bloom.ErrCorrupt)
	case err != io.EOF:
		return err
	}
	return nil
}

func full(r io.Reader, p []byte) error {
	_, err := io.ReadFull(r, p)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return short()
	}
	return err
}

func short() error {
	return fmt.Errorf("%w: it ends too early: %w", bloom.ErrCorrupt, io.ErrUnexpectedEOF)
}
