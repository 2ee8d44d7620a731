package bloom

import (
	"strconv"
	"sync/atomic"
)

// A label identifies a strategy or a hash by its name, also in files. Without a name, it has a number
// that is unique in this process.
type label struct {
	name   string
	serial uint64
}

// nameless counts the strategies and hashes without a name.
var nameless atomic.Uint64

func newLabel(name string) label {
	if name != "" {
		return label{name: name}
	}
	return label{serial: nameless.Add(1)}
}

// String returns the name or the number, for logs and errors.
func (l label) String() string {
	switch {
	case l.name != "":
		return l.name
	case l.serial > 0:
		return "unnamed#" + strconv.FormatUint(l.serial, 10)
	}
	return "none"
}

// unique returns a text that no other label of this process has, whatever characters are in a name.
func (l label) unique() string {
	if l.serial > 0 {
		return `""#` + strconv.FormatUint(l.serial, 10)
	}
	return strconv.Quote(l.name)
}
