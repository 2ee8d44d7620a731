package conformance

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/format"
)

// numbers writes large numbers at every offset of a value, and instead of every number in JSON, with right checksums.
// The reader's arithmetic must not overflow: see Check.
func (f Format) numbers(t *testing.T, data []byte) {
	seal := sealer(data)
	if f.Sealed && seal == nil {
		return // text that contains bytes of a format with a test of its own
	}
	if same := bytes.Clone(data); seal != nil {
		if seal(same); !bytes.Equal(same, data) {
			t.Fatalf("the checksums of %x are not corrected: %x", data, same)
		}
	}
	end := len(data) - 7
	if f.Every > 1 {
		end = min(end, 256) // after that, such a format has only bits
	}
	for _, number := range []uint64{math.MaxUint64, 1 << 63, 1<<63 - 1, 1 << 32, 1 << 31} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			for at := range end {
				forged := bytes.Clone(data)
				if order.PutUint64(forged[at:], number); seal != nil {
					seal(forged)
				}
				f.Check(t, forged)
			}
		}
		for _, at := range digits.FindAllIndex(data, -1) {
			f.Check(t, fmt.Appendf(nil, "%s:%d%s", data[:at[0]], number, data[at[1]:]))
		}
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var digits = regexp.MustCompile(`:[0-9]+`)

// layouts describes each kind of file: the parts after its magic, and the parts that are then repeated to the end of
// the file, or - if none are. A digit stands for that many numbers and their checksum, f for a filter.
var layouts = map[string][2]string{
	format.Filter: {"", "f"}, format.Scalable: {"3", "f2"}, format.Rotating: {"9", "f3"}, format.Counting: {"ffff0", "-"},
	format.Cascade: {"1", "f"}, format.Guard: {"31f0", "-"},
}

// sealer takes the bytes of a file of this module. It returns a function that corrects all checksums of a changed copy
// of them. For other data, it returns nil.
func sealer(data []byte) func(forged []byte) {
	if strings.HasPrefix(string(data), format.Mapped) {
		return func(forged []byte) {
			sealFilter(data[64:64+headerBytes(data[64:])], forged[64:64+headerBytes(data[64:])])
			sum := crc32.Update(crc32.Checksum(forged[:8], castagnoli), castagnoli, forged[12:4096])
			binary.LittleEndian.PutUint32(forged[8:], sum)
		}
	}
	layout, ok := layouts[string(data[:min(7, len(data))])]
	if !ok {
		return nil
	}
	start := 8
	if strings.HasPrefix(string(data), format.Filter) {
		start = 0
	}
	var parts []func(forged []byte, sum *format.Checksum)
	at := start
	add := func(kinds string) {
		for _, kind := range kinds {
			from, to := at, at+int(kind-'0')*8
			if at = to + 8; kind == 'f' {
				to = from + filterBytes(data[from:])
				at = to
				parts = append(parts, func(forged []byte, sum *format.Checksum) {
					sealFilter(data[from:to], forged[from:to])
					sum.Add(forged[to-8 : to])
				})
				continue
			}
			parts = append(parts, func(forged []byte, sum *format.Checksum) {
				sum.Add(forged[from:to])
				binary.LittleEndian.PutUint32(forged[to:], sum.IEEE)
				binary.LittleEndian.PutUint32(forged[to+4:], sum.Castagnoli)
			})
		}
	}
	for add(layout[0]); at+8 < len(data); {
		add(layout[1])
	}
	if at < len(data) {
		add("0") // the end of a cascade
	}
	return func(forged []byte) {
		var sum format.Checksum
		sum.Add(forged[:start])
		for _, seal := range parts {
			seal(forged, &sum)
		}
	}
}

// headerBytes returns the size of the header of a filter.
func headerBytes(filter []byte) int { return (48 + int(filter[13]) + int(filter[14]) + 63) / 64 * 64 }

// filterBytes returns the size of a filter, or of a scheme if there is no more.
func filterBytes(data []byte) int {
	header := headerBytes(data)
	if len(data) == header {
		return header
	}
	return header + int((binary.LittleEndian.Uint64(data[16:])+63)/64*8) + format.TrailerBytes
}

// sealFilter corrects the checksums of a changed filter. It takes the size of the header from the original.
func sealFilter(original, forged []byte) {
	header, end := headerBytes(original), len(forged)-format.TrailerBytes
	format.SetSum(forged[:header])
	if end > header {
		var sum format.Checksum
		sum.Add(forged[:end])
		sum.AppendTrailer(forged[:end])
	}
}
