package filterfile

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

// The formats of this library, see docs/spec.md. dedup writes Rotating and Scalable.
var (
	Native = Format{
		Name:   "bloom",
		About:  "this program's own; Go: BloomFilter.WriteTo",
		is:     beginsWith(magic),
		header: at(0),
		read:   reading(bloom.Read),
		write:  func(w io.Writer, f *bloom.BloomFilter) error { _, err := f.WriteTo(w); return err },
	}
	text = Format{
		Name:   "text",
		About:  "the same in base64",
		is:     func(head []byte, _ int64) bool { return bytes.HasPrefix(decoded(head), []byte(magic)) },
		header: decoded,
		read:   readText,
		write:  writeText,
	}
	mapped = Format{
		Name:   "mapped",
		About:  "memory-mapped; Go: persist.Open; only read",
		is:     beginsWith("\x89blmap\n"),
		header: at(64),
		read:   readMapped,
	}
	count = Format{
		Name:   "counting",
		About:  "removes keys; Go: counting; only read",
		is:     beginsWith("\x89bloomc"),
		header: at(8),
		read:   reading(counting.Read),
	}
	Scalable = Format{
		Name:   "scalable",
		About:  "grows; made by dedup --grow; Go: scalable",
		is:     beginsWith("\x89blooms"),
		header: at(8 + 3*8 + 8),
		read:   reading(scalable.Read),
		itself: writesItself[*scalable.Filter],
	}
	Rotating = Format{
		Name:   "rotating",
		About:  "forgets; made by dedup --window; Go: rotating",
		is:     beginsWith("\x89bloomr"),
		header: at(8 + 9*8 + 8),
		read: reading(func(r io.Reader, opts ...bloom.Option) (*rotating.Filter, error) {
			return rotating.Read(r, rotating.WithBloom(opts...))
		}),
		itself: writesItself[*rotating.Filter],
	}
	exact = Format{
		Name:   "cascade",
		About:  "exact for two lists of keys; Go: cascade; only read",
		is:     beginsWith("\x89bloome"),
		header: at(8 + 8 + 8),
		read:   reading(cascade.Read),
	}
)

const magic = "\x89bloom\n"

// at returns a header function for formats whose header begins at the given offset.
func at(offset int) func([]byte) []byte {
	return func(head []byte) []byte { return head[min(offset, len(head)):] }
}

// decoded decodes the beginning of a base64 text, up to the first error.
func decoded(text []byte) []byte {
	raw, _ := io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(text)))
	return raw
}

// A textReader decodes base64.
type textReader struct {
	io.Reader
	in *input
}

// Len returns an upper bound of the bytes that are left: it adds the size of the decoder's buffer, and counts newlines.
func (t textReader) Len() int { return (t.in.Len() + 2048) / 4 * 3 }

func readText(in *input, opts []bloom.Option) (any, error) {
	decoded := textReader{base64.NewDecoder(base64.StdEncoding.Strict(), in), in} // NewDecoder ignores newlines
	f, err := bloom.Read(decoded, opts...)
	if err != nil {
		return nil, err
	}
	if n, err := io.Copy(io.Discard, decoded); err != nil {
		return nil, fmt.Errorf("reading the end: %w", err)
	} else if n > 0 {
		return nil, fmt.Errorf("%w: %d more bytes after the filter's end, want none", bloom.ErrCorrupt, n)
	}
	return f, nil
}

func writeText(w io.Writer, f *bloom.BloomFilter) error {
	encoded := base64.NewEncoder(base64.StdEncoding, w)
	_, err := f.WriteTo(encoded)
	if err = cmp.Or(err, encoded.Close()); err == nil {
		_, err = io.WriteString(w, "\n")
	}
	return err
}

// readMapped opens a mapped filter, which other programs may have open, too. It stays open until the process ends.
func readMapped(in *input, opts []bloom.Option) (any, error) {
	if in.file.Path == "-" {
		return nil, errors.New("a memory-mapped filter on standard input, want its file's name")
	}
	return persist.OpenReadOnly(in.file.Path, opts...)
}
