package lines

import (
	"bytes"
	"fmt"
	"math"
)

// A Form defines where lines end, and which part of a line is its key.
type Form struct {
	End       byte   // ends a line
	Field     uint64 // the field that is the key, from 1; 0 for the whole line
	ToEnd     bool   // the key extends to the end of the line
	Delimiter string // between fields; empty for blanks, as in awk
	CRLF      bool   // remove a carriage return at the end of a line, and the UTF-8 mark of a file, from the keys
	MaxLine   uint64 // bytes; 0 for any number
}

const (
	utf8Mark = "\xef\xbb\xbf" // as some editors on Windows write it
	blanks   = " \t"
)

// limit returns the greatest length of a line.
func (f Form) limit() int {
	if f.MaxLine == 0 || f.MaxLine > math.MaxInt-1 {
		return math.MaxInt - 1
	}
	return int(f.MaxLine)
}

// keys returns the keys of lines, nil for a line without one. It appends to keys, or returns lines if each line is its
// key. atStart reports whether the first line begins a file.
func (f Form) keys(keys, lines [][]byte, atStart bool) [][]byte {
	if f.Field == 0 && !f.CRLF {
		return lines
	}
	for _, line := range lines {
		if f.CRLF {
			line = bytes.TrimSuffix(line, []byte{'\r'})
			if atStart {
				line = bytes.TrimPrefix(line, []byte(utf8Mark))
			}
			atStart = false
		}
		keys = append(keys, f.key(line))
	}
	return keys
}

// key returns the key of a line, or nil if the line does not have the field.
func (f Form) key(line []byte) []byte {
	if f.Field == 0 {
		return line
	}
	for n := f.Field; ; n-- {
		end := bytes.Index(line, []byte(f.Delimiter))
		if f.Delimiter == "" {
			if line = bytes.TrimLeft(line, blanks); len(line) == 0 {
				return nil
			}
			end = bytes.IndexAny(line, blanks)
		}
		switch {
		case n == 1 && (f.ToEnd || end < 0):
			return line
		case n == 1:
			return line[:end]
		case end < 0:
			return nil
		}
		line = line[end+len(f.Delimiter):]
	}
}

// field describes the field of a key for messages.
func (f Form) field() string {
	if f.Delimiter == "" {
		return fmt.Sprintf("field %d", f.Field)
	}
	return fmt.Sprintf("field %d with -d %q", f.Field, f.Delimiter)
}

// isTar reports whether a line begins a tar archive, by the magic in its first block of 512 bytes. Versions of tar from
// before 1988 wrote none.
func isTar(line []byte) bool {
	const at = 257
	return len(line) > at && (bytes.HasPrefix(line[at:], []byte("ustar\x00")) || bytes.HasPrefix(line[at:], []byte("ustar  \x00")))
}

// doubts returns warnings about the lines and keys in a chunk.
func (f Form) doubts(c *Chunk) (all []string) {
	const stay = "which is a part of the key; --crlf leaves it out"
	if c.first == 1 && !f.CRLF && bytes.HasPrefix(c.block, []byte(utf8Mark)) {
		all = append(all, "the file begins with a UTF-8 mark (EF BB BF), "+stay)
	}
	if f.End == 0 {
		return all
	}
	if bytes.IndexByte(c.block, 0) >= 0 {
		all = append(all, "NUL bytes, which text does not have; -0 reads lines that end in NUL")
	}
	if !f.CRLF {
		for _, key := range c.Keys {
			if len(key) > 0 && key[len(key)-1] == '\r' {
				return append(all, "lines end in a carriage return, "+stay)
			}
		}
	}
	return all
}
