package wire

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/remaining"
)

// An Object says where the fields of a JSON object go: to a pointer, to another Object or to Bits. Other
// fields are skipped.
type Object map[string]any

// Bits are the bits of a filter, a JSON string in base64 of either alphabet.
type Bits struct {
	Ready func() bool                // reports whether all fields that Read needs have been read
	Read  func(bits io.Reader) error // reads the decoded bytes, all of them
}

// ErrArray is the error for an array in the place of an Object.
var ErrArray = errors.New("an array, want an object")

// ReadJSON reads all of r, one JSON object with each field at most once. Bits are decoded as they arrive. If
// the fields that they need come later, ReadJSON holds the decoded bytes until the end.
func ReadJSON(r io.Reader, fields Object) error {
	in := &object{source: &source{Reader: r, left: remaining.Of(r)}, late: func() error { return nil }}
	in.Decoder = json.NewDecoder(in.source)
	err := in.read("the text", fields)
	if err == nil {
		if _, err = in.Token(); err == io.EOF {
			err = in.late()
		} else if err == nil {
			err = errors.New("more after the object, want none")
		}
	}
	switch {
	case err == nil:
		return nil
	case in.source.err != nil:
		return format.Reading("JSON", in.source.err)
	case errors.As(err, new(*format.Failure)):
		return err
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return format.Truncated("the JSON")
	}
	return format.Errorf(bloom.ErrCorrupt, "%w", err)
}

// A source remembers the error of a reader.
type source struct {
	io.Reader
	left uint64 // about so many bytes, 0 if unknown
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != io.EOF {
		s.err = err
	}
	return n, err
}

func (s *source) Remaining(remaining.Own) uint64 { return s.left }

// An object is read token by token.
type object struct {
	*json.Decoder
	source *source
	depth  int
	late   func() error // reads bits that came before fields that they need
}

func (in *object) read(name string, fields Object) error {
	if token, err := in.Token(); err != nil {
		return err
	} else if token == json.Delim('[') {
		return fmt.Errorf("%s is %w", name, ErrArray)
	} else if token != json.Delim('{') {
		return fmt.Errorf("%s is %.40q, want an object", name, fmt.Sprint(token))
	}
	in.depth++
	for in.More() {
		token, err := in.Token()
		if err != nil {
			return err
		}
		key := token.(string) // Token refuses other keys
		field, known := fields[key]
		switch field := field.(type) {
		case nil:
			if known {
				return fmt.Errorf("field %s twice", key)
			}
			err = in.Decode(new(json.RawMessage))
		case Object:
			err = in.read(key, field)
		case Bits:
			err = in.bits(key, field)
		default:
			err = in.Decode(field)
		}
		if err != nil {
			return err
		}
		if known {
			fields[key] = nil
		}
	}
	in.depth--
	_, err := in.Token()
	return err
}

// bits reads the string of a field. A json.Decoder would hold all of it: it gets an empty one instead.
func (in *object) bits(key string, field Bits) error {
	rest := bufio.NewReader(io.MultiReader(in.Buffered(), in.source))
	for _, want := range []byte{':', '"'} {
		got, err := byte(' '), error(nil)
		for err == nil && strings.IndexByte(" \t\r\n", got) >= 0 {
			got, err = rest.ReadByte()
		}
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("field %s has %q, want %q", key, got, want)
		}
	}
	decoded := &source{Reader: base64.NewDecoder(base64.StdEncoding.Strict(), &text{Reader: rest}), left: in.source.left / 4 * 3}
	var err error
	if field.Ready() {
		err = field.readAll(key, decoded)
	} else {
		held := bytes.NewBuffer(make([]byte, 0, decoded.left+bytes.MinRead))
		_, err = held.ReadFrom(decoded)
		in.late = func() error { return field.readAll(key, held) }
	}
	switch {
	case errors.As(decoded.err, new(base64.CorruptInputError)):
		return fmt.Errorf("field %s is not base64", key)
	case decoded.err != nil && decoded.err != io.ErrUnexpectedEOF:
		return fmt.Errorf("field %s: %w", key, decoded.err)
	case err != nil:
		return err
	}
	in.Decoder = json.NewDecoder(io.MultiReader(strings.NewReader(strings.Repeat(`{"":`, in.depth)+`""`), rest))
	for range 2*in.depth + 1 {
		if _, err := in.Token(); err != nil {
			return err
		}
	}
	return nil
}

// readAll reads decoded bits, which end with what Read reads.
func (field Bits) readAll(key string, decoded io.Reader) error {
	err := field.Read(decoded)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, decoded)
	if n > 0 {
		return fmt.Errorf("field %s has %d bytes after the bits, want none", key, n)
	}
	return err
}

// A text is a JSON string after its opening quote. It returns the characters in the standard alphabet of base64.
type text struct {
	*bufio.Reader
	padded, ended bool
}

func (t *text) Read(p []byte) (n int, err error) {
	for n < len(p) && !t.ended {
		c, err := t.ReadByte()
		switch {
		case err == io.EOF:
			return n, io.ErrUnexpectedEOF
		case err != nil:
			return n, err
		case c == '"':
			t.ended = true
			continue
		case c == '\\':
			if c, err = t.escaped(); err != nil {
				return n, err
			}
		case c < ' ':
			return n, fmt.Errorf("invalid character %q in a string", c)
		}
		switch {
		case c == '\r' || c == '\n': // base64 ignores them
			continue
		case c == '-':
			c = '+'
		case c == '_':
			c = '/'
		case c == '=':
			t.padded = true
		}
		if t.padded && c != '=' {
			return n, base64.CorruptInputError(0) // base64.NewDecoder does not always see it
		}
		p[n] = c
		n++
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// escaped returns the first byte of the character whose escape follows a backslash.
func (t *text) escaped() (byte, error) {
	sequence, err := t.Peek(1)
	if err == nil && sequence[0] == 'u' {
		sequence, err = t.Peek(5)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return 0, err
	}
	var character string
	if err := json.Unmarshal(fmt.Appendf(nil, `"\%s"`, sequence), &character); err != nil {
		return 0, err
	}
	_, err = t.Discard(len(sequence))
	return character[0], err
}
