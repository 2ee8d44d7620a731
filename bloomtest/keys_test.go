package bloomtest

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBrokenAppendFunctions: each mistake is found, for the right reason.
func TestBrokenAppendFunctions(t *testing.T) {
	values := []uint64{1, 2, 3, 1 << 40}
	require.NoError(t, TestKeys(binary.LittleEndian.AppendUint64, values...))
	shared, kept, calls := make([]byte, 8), []byte(nil), byte(0)
	for text, broken := range map[string]func(dst []byte, v uint64) []byte{
		"nil for 1":               func([]byte, uint64) []byte { return nil },
		"the same bytes 01000000": func(dst []byte, v uint64) []byte { return binary.LittleEndian.AppendUint32(dst, uint32(v%2)) },
		"the same bytes 03":       func(dst []byte, v uint64) []byte { return append(dst, byte(v|1)) },
		"the memory is shared":    func(_ []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(shared[:0], v) },
		"and then":                func(dst []byte, v uint64) []byte { calls++; return fmt.Append(dst, v, calls) },
		"with room for":           func(dst []byte, v uint64) []byte { return fmt.Append(dst, v, cap(dst) < 100) },
		"panic: ":                 func(dst []byte, v uint64) []byte { return append(dst[:1], byte(v)) },
		"became ": func(dst []byte, v uint64) []byte {
			defer func() { kept = dst[:cap(dst)] }()
			clear(kept)
			return fmt.Append(dst, v)
		},
		"fewer than two values": nil,
	} {
		some := values
		if broken == nil {
			some = nil
		}
		require.ErrorContains(t, TestKeys(broken, some...), text)
	}
	require.EqualError(t, TestKeys(binary.LittleEndian.AppendUint64, 1, 1), "bloomtest: append function: the same bytes 0100000000000000 for 1 and 1")
}
