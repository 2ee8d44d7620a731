package foreign

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/memory"
)

// Bits has the bytes of a filter's bits, stored in words in the same order. The rest of the last word is 0.
type Bits struct {
	Words []atomic.Uint64
	Bytes uint64
}

// ReadJSON decodes the one JSON value in r into value, except the string that the object keys in path lead to. This
// string has the bits of a filter in base64, with either alphabet. ReadJSON returns the bits, and value gets an empty
// string instead. It allocates memory for the bits as they arrive, up to the limit of opts and 16 bytes.
func ReadJSON(r io.Reader, value any, path []string, opts []bloom.Option) (Bits, error) {
	s := &splitter{Reader: bufio.NewReader(r), path: path, left: format.Remaining(r) / 4 * 3, most: bloom.MaxBytes(opts...)}
	text, err := io.ReadAll(s)
	if err != nil {
		return Bits{}, err
	}
	if err := json.Unmarshal(text, value); err != nil {
		return Bits{}, failure.Errorf(bloom.ErrCorrupt, "%w", err)
	}
	return s.bits, nil
}

// A splitter is a reader of JSON text that replaces the string at path by an empty one. It decodes the replaced string
// into bits.
type splitter struct {
	*bufio.Reader
	path []string
	left uint64 // estimated bytes of bits to come; 0 if unknown
	most uint64
	bits Bits

	depth             int // number of open objects and arrays
	on                int // how many of these, from the outermost, are on the path
	inString, escaped bool
	last              []byte // last string, with its escapes
	colon             bool   // whether a colon came after last
}

func (s *splitter) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c, err := s.ReadByte()
		if err == io.EOF {
			return n, err
		} else if err != nil {
			return n, failure.Reading("JSON", err)
		}
		p[n] = c
		n++
		switch {
		case s.inString && (c != '"' || s.escaped):
			s.escaped = c == '\\' && !s.escaped
			if len(s.last) <= maxKey {
				s.last = append(s.last, c)
			}
		case s.inString:
			s.inString = false
		case c == '"':
			if s.follows() && s.depth == len(s.path) {
				if err := s.readBits(); err != nil {
					return n, err
				}
			}
			s.inString, s.colon, s.last = true, false, s.last[:0]
		case c > ' ': // not white space
			if c == '{' && (s.depth == 0 || s.follows()) {
				s.on++
			}
			s.colon = c == ':'
			if c == '{' || c == '[' {
				s.depth++
			} else if c == '}' || c == ']' {
				s.depth--
				s.on = min(s.on, s.depth)
			}
		}
	}
	return n, nil
}

// maxKey is more than the length of the longest key of a path.
const maxKey = 16

// follows reports whether the next value is on the path.
func (s *splitter) follows() bool {
	return s.colon && 0 < s.depth && s.depth <= len(s.path) && s.on == s.depth && string(s.last) == s.path[s.depth-1]
}

// readBits decodes a string up to its closing quote into s.bits.
func (s *splitter) readBits() error {
	if s.bits.Words != nil {
		return failure.Errorf(bloom.ErrCorrupt, "field %s twice", s.path[s.depth-1])
	}
	err := s.bits.readAll(base64.NewDecoder(base64.StdEncoding.Strict(), &text{Reader: s.Reader}), s.left/8+2, s.most/8+2)
	if err == io.ErrUnexpectedEOF || errors.As(err, new(base64.CorruptInputError)) {
		return failure.Errorf(bloom.ErrCorrupt, "field %s is not base64", s.path[s.depth-1])
	}
	return err
}

// readAll reads r to its end, and refuses more than most words. It reads into pieces of at least 1024 words: the first
// has room words, each further one a quarter of the words before it.
func (b *Bits) readAll(r io.Reader, room, most uint64) (err error) {
	var pieces [][]atomic.Uint64
	words := uint64(0) // in the pieces
	for room = max(room, 1<<10); err == nil; room = max(words/4, 1<<10) {
		if room = min(room, most-words); room == 0 {
			return failure.Errorf(bloom.ErrTooLarge, "the bits are more than %d bytes", b.Bytes)
		}
		piece, failed := newWords(room)
		if failed != nil {
			return failed
		}
		pieces = append(pieces, piece)
		words += room
		for buf := memory.BytesOfWords(piece); err == nil && len(buf) > 0; {
			var n int
			n, err = r.Read(buf)
			b.Bytes += uint64(n)
			buf = buf[n:]
		}
	}
	if err != io.EOF {
		return err
	}
	need := (b.Bytes + 7) / 8
	if b.Words = pieces[0]; len(pieces) > 1 || need < words-words/8 {
		if b.Words, err = newWords(need); err != nil {
			return err
		}
		rest := memory.BytesOfWords(b.Words)
		for _, piece := range pieces {
			rest = rest[copy(rest, memory.BytesOfWords(piece)):]
		}
	}
	b.Words = b.Words[:need]
	return nil
}

func newWords(n uint64) ([]atomic.Uint64, error) {
	words, err := memory.NewWords(n)
	if err != nil {
		return nil, failure.Errorf(bloom.ErrTooLarge, "the bits are %w", err)
	}
	return words, nil
}

// A text reads a JSON string up to its closing quote. It translates base64's URL alphabet to the standard one.
type text struct {
	*bufio.Reader
	padded bool
}

func (t *text) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c, err := t.ReadByte()
		switch {
		case err != nil:
		case c == '"' && n > 0:
			return n, t.UnreadByte()
		case c == '"':
			return 0, cmp.Or(t.UnreadByte(), io.EOF)
		case c == '\\':
			c, err = t.escaped()
		case c < ' ':
			return n, failure.Errorf(bloom.ErrCorrupt, "%q in a JSON string", c)
		}
		if err == io.EOF {
			return n, format.Truncated("the bits")
		} else if err != nil {
			return n, failure.Reading("JSON", err)
		}
		switch c {
		case '\r', '\n': // base64 ignores them
			continue
		case '-':
			c = '+'
		case '_':
			c = '/'
		case '=':
			t.padded = true
		}
		if t.padded && c != '=' {
			return n, base64.CorruptInputError(0) // base64.NewDecoder does not always refuse text after the padding
		}
		p[n] = c
		n++
	}
	return n, nil
}

// escaped returns the first byte of the character whose escape follows a backslash, or 0 for a bad one.
func (t *text) escaped() (byte, error) {
	sequence, err := t.Peek(1)
	if err == nil && sequence[0] == 'u' {
		sequence, err = t.Peek(5)
	}
	if err != nil {
		return 0, err
	}
	var character string
	if json.Unmarshal(fmt.Appendf(nil, `"\%s"`, sequence), &character) != nil {
		return 0, nil // not a base64 character
	}
	_, err = t.Discard(len(sequence))
	return character[0], err
}
