package lines

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"unicode/utf8"
)

// A Form defines where lines end, and which part of a line is its key.
type Form struct {
	End       byte   // ends a line
	Field     uint64 // the field that is the key, from 1; 0 for the whole line
	ToEnd     bool   // the key extends to the end of the line
	Delimiter string // between fields; empty for blanks, as in awk
	CRLF      bool   // remove a carriage return at the end of a line, and a UTF-8 mark at its start, from the keys
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

// keys appends the key of each line to keys, and nil for a line without a key. If every key is a whole line, keys
// returns lines itself.
func (f Form) keys(keys, lines [][]byte) [][]byte {
	if f.Field == 0 && !f.CRLF {
		return lines
	}
	for _, line := range lines {
		if f.CRLF {
			line = bytes.TrimPrefix(bytes.TrimSuffix(line, []byte{'\r'}), []byte(utf8Mark))
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
		case end < 0 && (n > 1 || f.Delimiter != "" && f.Field == 1):
			return nil
		case n == 1 && (f.ToEnd || end < 0):
			return line
		case n == 1:
			return line[:end]
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

// cpio matches the beginning of a cpio archive: a header of digits, and a name that ends in NUL.
var cpio = regexp.MustCompile(`^0707(?:0[12][[:xdigit:]]{104}|07[0-7]{70})[^\x00]+\x00`)

// noText returns an error if the lines of a file up to this chunk show that the file is no text. It looks at the lines
// that begin in the first 4 KiB.
func (s *stream) noText(c *Chunk) error {
	const tarAt = 257 // offset of the magic; tar from before 1988 wrote none
	line, end := c.Lines[0], len(c.block)-1
	magic := line[min(tarAt, len(line)):]
	switch {
	case c.first > 1:
	case bytes.HasPrefix(magic, []byte("ustar\x00")), bytes.HasPrefix(magic, []byte("ustar  \x00")):
		return refused("a tar archive", tarTool)
	case cpio.Match(line):
		return refused("a cpio archive", "unpack it with cpio -i --to-stdout and a pipe")
	case c.block[end] != '\n' && len(c.Lines) == 1 && bytes.IndexByte(c.block[:end], '\r') >= 0:
		return refused("text whose lines end in CR alone", `convert it with tr '\r' '\n' and a pipe`)
	}
	for i := 0; i < len(c.Lines) && s.passed < 4096; i++ {
		s.nul = s.nul || bytes.IndexByte(c.Lines[i], 0) >= 0
		s.foreign = s.foreign || !utf8.Valid(c.Lines[i])
		s.passed += len(c.Lines[i]) + 1
	}
	if s.nul && s.foreign {
		return refused("no text (it has NUL bytes, and bytes that are not UTF-8)", "convert it, or give -0 for keys that end in NUL")
	}
	return nil
}

// doubts returns warnings about the lines and keys in a chunk.
func (f Form) doubts(c *Chunk) (all []string) {
	stay := "which is a part of the key; --crlf leaves it out"
	if f.End == 0 {
		stay = "which is a part of the key"
	}
	begins := func(key []byte) bool { return bytes.HasPrefix(key, []byte(utf8Mark)) }
	ends := func(key []byte) bool { return bytes.HasSuffix(key, []byte{'\r'}) }
	if !f.CRLF && slices.ContainsFunc(c.Keys, begins) {
		all = append(all, "keys begin with a UTF-8 mark (EF BB BF), "+stay)
	}
	if f.End != 0 && bytes.IndexByte(c.block, 0) >= 0 {
		all = append(all, "NUL bytes, which text does not have; -0 reads lines that end in NUL")
	}
	if f.End != 0 && !f.CRLF && slices.ContainsFunc(c.Keys, ends) {
		all = append(all, "lines end in a carriage return, "+stay)
	}
	return all
}
