package dedup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
)

// A Partition is a partition of a message broker. Messages have the offsets 0, 1, 2, …
type Partition interface {
	Read(offset uint64) (id, body []byte, err error) // waits for the message
	Committed() (next uint64, err error)             // argument of the last Commit; 0 if none
	Commit(next uint64) error                        // all messages before next are processed
}

const (
	commitEvery = 1_000   // messages between two commits: so many may be processed twice after a kill
	saveEvery   = 100_000 // messages between two saves; the broker must keep so many for a restart
)

// Consume processes the messages of a partition, each ID once, until there is an error. path is the file of the filter,
// and n its number of different IDs.
func Consume(path string, n uint64, secret [16]byte, p Partition, process func(id, body []byte) error) error {
	s, err := load(path, n, secret)
	if err != nil {
		return err
	}
	committed, err := p.Committed()
	if err != nil {
		return err
	}
	for {
		id, body, err := p.Read(s.next)
		if err != nil {
			return err
		}
		isNew := s.seen.Add(id)
		if isNew && s.next >= committed { // before committed, this loop only fills the filter
			if err := process(id, body); err != nil {
				return err // without a Commit: after a restart, the message comes again
			}
		}
		s.next++
		if s.next > committed && s.next%commitEvery == 0 {
			if err := p.Commit(s.next); err != nil {
				return err
			}
		}
		if s.next%saveEvery == 0 {
			if err := persist.Save(path, s); err != nil {
				return err
			}
			if s.seen.Stats().OverP() {
				log.Printf("%s has more IDs than planned: new messages are dropped as old. Start a larger filter", path)
			}
		}
	}
}

// A snapshot is a filter and the offset of the first message that it does not contain.
type snapshot struct {
	next uint64
	seen *bloom.BloomFilter
}

func load(path string, n uint64, secret [16]byte) (*snapshot, error) {
	s, err := persist.LoadWith(path, readSnapshot, bloom.WithSecret(secret))
	if errors.Is(err, fs.ErrNotExist) {
		seen, err := bloom.New(n, 1e-9, bloom.WithSecret(secret))
		return &snapshot{0, seen}, err
	}
	return s, err
}

// WriteTo writes the offset, its complement as a check, and the filter. persist.Save calls it.
func (s *snapshot) WriteTo(w io.Writer) (int64, error) {
	offset := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, s.next), ^s.next)
	n, err := w.Write(offset)
	if err != nil {
		return int64(n), err
	}
	rest, err := s.seen.WriteTo(w)
	return int64(n) + rest, err
}

func readSnapshot(r io.Reader, opts ...bloom.Option) (*snapshot, error) {
	var offset [16]byte
	if _, err := io.ReadFull(r, offset[:]); err != nil {
		return nil, err
	}
	next := binary.BigEndian.Uint64(offset[:8])
	if binary.BigEndian.Uint64(offset[8:]) != ^next {
		return nil, fmt.Errorf("%w: the offset is damaged", bloom.ErrCorrupt)
	}
	seen, err := bloom.Read(r, opts...)
	return &snapshot{next, seen}, err
}
