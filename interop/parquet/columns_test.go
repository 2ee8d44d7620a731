package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/internal/testing/zero"
	"github.com/stretchr/testify/require"
)

// golden returns a file that parquet-go or, for encrypted and metadata, Arrow has written.
func golden(t testing.TB, name string) []byte {
	data, err := os.ReadFile("testdata/" + name + ".parquet")
	require.NoError(t, err)
	return data
}

func columnsOf(t testing.TB, data []byte) []Column {
	columns, err := allColumns(data)
	require.NoError(t, err)
	return columns
}

// allColumns returns the columns of a file, also those before an error.
func allColumns(data []byte) (columns []Column, err error) {
	for c, err := range Columns(bytes.NewReader(data), int64(len(data))) {
		if err != nil {
			return columns, err
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// TestSmallFile reads a file of parquet-go with two row groups and filters for two columns.
func TestSmallFile(t *testing.T) {
	data := golden(t, "small")
	columns := columnsOf(t, data)
	require.Len(t, columns, 4)
	for i, c := range columns {
		require.Equal(t, []int{i / 2, 2}, []int{c.RowGroup, c.RowGroups})
		f, err := c.Filter(bytes.NewReader(data))
		require.NoError(t, err)
		made := sized(t, f.SizeBytes())
		for row := range 40 {
			row += c.RowGroup * 40
			key := Append(nil, int64(row)*1_000_003)
			if c.Type == "BYTE_ARRAY" {
				key = fmt.Appendf(nil, "name %d", row)
			}
			require.True(t, f.Contains(key))
			made.Add(key)
		}
		require.Equal(t, []string{"i64", "text"}[i%2], c.Path)
		require.Equal(t, []string{"INT64", "BYTE_ARRAY"}[i%2], c.Type)
		require.True(t, made.Equal(f))
		require.Equal(t, data[c.offset:][:len(parquetFormat.Bytes(t, f))], parquetFormat.Bytes(t, f))
	}
}

// TestUnsupported: undamaged filters of kinds that cannot be read are not called corrupt, and the
// other columns of their file can be read.
func TestUnsupported(t *testing.T) {
	for name, want := range map[string][]string{ // per column; "" can be read
		"gzip":      slices.Repeat([]string{"compression 2, want 1, UNCOMPRESSED"}, 4),
		"encrypted": {"", "", "", "", "is encrypted, in column text:0 BYTE_ARRAY", ""},
		"metadata":  slices.Repeat([]string{`in the file "part-0.parquet"`}, 6),
	} {
		data := golden(t, name)
		columns := columnsOf(t, data)
		require.Len(t, columns, len(want), name)
		if name == "encrypted" {
			require.Equal(t, []any{"FIXED_LEN_BYTE_ARRAY", 16}, []any{columns[5].Type, columns[5].typeLength})
			require.Zero(t, columns[4].typeLength)
		}
		for i, c := range columns {
			_, err := c.Filter(bytes.NewReader(data))
			if want[i] == "" {
				require.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, bloom.ErrIncompatible)
			require.NotErrorIs(t, err, bloom.ErrCorrupt)
			require.ErrorContains(t, err, want[i])
			_, err = c.Contains(bytes.NewReader(data), []byte("key"))
			require.ErrorIs(t, err, bloom.ErrIncompatible)
		}
	}
}

// TestPathsDiffer: the paths of different columns differ, whatever is in their names.
func TestPathsDiffer(t *testing.T) {
	columns := columnsOf(t, golden(t, "points")) // "a.b", and b of group a
	require.Equal(t, "`a.b` a.b", columns[0].Path+" "+columns[1].Path)

	seen := map[string]string{}
	names := []string{"", "a", "b", ".", "`", "a.b", "a`", "``"}
	for i := range len(names) * len(names) {
		for path, list := range map[string]string{
			quoted(names[i%8]): fmt.Sprintf("%q", names[i%8]),
			quoted(names[i%8]) + "." + quoted(names[i/8]): fmt.Sprintf("%q", []string{names[i%8], names[i/8]}),
		} {
			require.Contains(t, []string{"", list}, seen[path])
			seen[path] = list
		}
	}
}

// counted counts the calls and bytes of ReadAt.
type counted struct {
	io.ReaderAt
	calls, bytes int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.calls++
	c.bytes += n
	return n, err
}

// TestFewReads: a filter takes few calls, memory for one copy, and a lookup takes 32 bytes.
func TestFewReads(t *testing.T) {
	const size, first = 2_500_000 / 32 * 32, 1000
	f := sized(t, size)
	for i := range 100_000 {
		f.Add(Append(nil, int64(i)))
	}
	data := append(make([]byte, first), parquetFormat.Bytes(t, f)...)
	for _, length := range []int64{0, int64(len(data) - first)} {
		c := Column{offset: first, length: length}
		r := &counted{ReaderAt: bytes.NewReader(data)}
		var got *bloom.BloomFilter
		var err error
		allocated := testkit.Allocated(func() { got, err = c.Filter(r) })
		require.NoError(t, err)
		require.True(t, got.Equal(f))
		require.LessOrEqual(t, r.calls, 3)
		require.LessOrEqual(t, allocated, uint64(size+size/10))

		yes := 0
		for i := range 2000 {
			*r = counted{ReaderAt: r.ReaderAt}
			key := Append(nil, int64(99_000+i))
			found, err := c.Contains(r, key)
			require.NoError(t, err)
			require.Equal(t, f.Contains(key), found)
			require.LessOrEqual(t, r.calls, 3)
			require.LessOrEqual(t, r.bytes, maxHeader+33)
			if found {
				yes++
			}
		}
		require.InDelta(t, 1000, yes, 20)

		for _, cut := range []int{first, first + 5, first + 100, len(data) - 1} {
			short := bytes.NewReader(data[:cut])
			allocated := testkit.Allocated(func() { _, err = c.Filter(short) })
			require.ErrorIs(t, err, bloom.ErrCorrupt)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			if length == 0 {
				require.Less(t, allocated, uint64(100_000), "no byte is there")
			}
		}
	}
}

// TestLengthsAgree: a filter whose header and footer have different lengths is refused. A reader that takes the
// smaller one looks for the keys in other blocks than the writer.
func TestLengthsAgree(t *testing.T) {
	key := Append(nil, int64(1))
	for _, size := range []uint64{32, 64, 1024, 32 << 10} {
		f := sized(t, size)
		f.Add(key)
		whole := parquetFormat.Bytes(t, f)
		data := append(append([]byte(fileMagic), whole...), make([]byte, 64<<10)...)
		for _, more := range []int64{-int64(len(whole)) + 1, -int64(size) / 2, -32, -1, 0, 1, 32, int64(size)} {
			c := Column{offset: 4, length: int64(len(whole)) + more}
			_, err1 := c.Filter(bytes.NewReader(data))
			found, err2 := c.Contains(bytes.NewReader(data), key)
			require.Equal(t, more == 0, found)
			for _, err := range []error{err1, err2} {
				if more == 0 {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, bloom.ErrCorrupt, "%d bytes of %d", c.length, len(whole))
				}
			}
		}
	}
}

// TestZeros: in a column of floating-point numbers, a key that is 0 is found if the writer has put 0 or -0.
func TestZeros(t *testing.T) {
	negative := math.Copysign(0, -1)
	for _, c := range []Column{{Type: "FLOAT"}, {Type: "DOUBLE"}, {Type: "FIXED_LEN_BYTE_ARRAY", typeLength: 2, logical: "FLOAT16"}} {
		bits := map[string][2][]byte{
			"FLOAT": {Append(nil, float32(0)), Append(nil, float32(negative))}, "DOUBLE": {Append(nil, 0.0), Append(nil, negative)},
			"FIXED_LEN_BYTE_ARRAY": {half(0), half(negative)},
		}[c.Type]
		for _, put := range [][][]byte{nil, bits[:1], bits[1:]} {
			f := sized(t, 1024)
			f.AddMany(put, nil)
			c.offset = 4
			data := bytes.NewReader(append([]byte(fileMagic), parquetFormat.Bytes(t, f)...))
			for _, text := range []string{"0", "-0", "0.0"} {
				key, err := c.Key(text)
				require.NoError(t, err)
				found, err := c.Contains(data, key)
				require.NoError(t, err)
				read, err := c.Filter(data)
				require.NoError(t, err)
				require.Equal(t, []bool{put != nil, put != nil}, []bool{found, read.Contains(key)}, "%v %s", c, text)
			}
			whole := Column{Type: "INT64", offset: 4}
			read, err := whole.Filter(data)
			require.NoError(t, err)
			require.True(t, read.Equal(f), "other columns have one zero")
		}
	}
}

// A chunk says where the filter of a column in a row group is.
type chunk struct{ offset, length int64 }

// fileOf returns a file with a filter at offset 4 that has the key 1, and with row groups of columns "a", "b" and so
// on.
func fileOf(t testing.TB, rowGroups ...[]chunk) []byte {
	list := func(field byte, elements []string) string { // field: number of the field, minus the last one
		return string([]byte{field<<4 | typeList, byte(len(elements))<<4 | typeStruct}) + strings.Join(elements, "\x00") + "\x00"
	}
	var groups, schema []string
	for _, columns := range rowGroups {
		var chunks []string
		for i, c := range columns {
			meta := []byte{0x3c, 0x15, 4, 0x29, 0x18, 1, 'a' + byte(i), 0xb6} // type 2, path, offset
			meta = binary.AppendVarint(meta, c.offset)
			meta = binary.AppendVarint(append(meta, 0x16), c.length)
			chunks = append(chunks, string(append(meta, 0)))
		}
		schema = slices.Repeat([]string{"\x15\x04"}, len(chunks)) // type 2, INT64
		groups = append(groups, list(1, chunks))
	}
	end := list(2, schema) + list(2, groups) + "\x00"
	f := sized(t, 32)
	f.Add(Append(nil, int64(1)))
	data := append([]byte(fileMagic), parquetFormat.Bytes(t, f)...)
	data = binary.LittleEndian.AppendUint32(append(data, end...), uint32(len(end)))
	return append(data, fileMagic...)
}

// TestBadColumnsHideNoOthers: a column whose filter cannot be where the footer says is refused, and the others
// are read. The files are also used by the command's tests.
func TestBadColumnsHideNoOthers(t *testing.T) {
	const whole = 15 + 32
	good, none := chunk{4, whole}, chunk{}
	data := fileOf(t, []chunk{good, {-4, whole}, {4, -1}, {3, whole}, {math.MaxInt64, whole},
		{4, math.MaxInt64}, {4, whole + 1}, {20, whole}, {4, 0}})
	columns := columnsOf(t, data)
	require.Len(t, columns, 9)
	for i, c := range columns {
		require.Equal(t, Column{Path: string(rune('a' + i)), RowGroups: 1, Type: "INT64", offset: c.offset, length: c.length, refused: c.refused}, c)
		_, err := c.Filter(bytes.NewReader(data))
		if i == 0 || i == 8 {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, bloom.ErrCorrupt)
		require.ErrorContains(t, err, "in column "+c.String())
	}
	testkit.Golden(t, "testdata/damaged.parquet", data)
	testkit.Golden(t, "testdata/none.parquet", fileOf(t, []chunk{none, none}))
	testkit.Golden(t, "testdata/one.parquet", fileOf(t, []chunk{none, good}))
	testkit.Golden(t, "testdata/some.parquet", fileOf(t, []chunk{good, none}, []chunk{good, good}, []chunk{good, none}))
}

// sparse is a file of zeros that ends with the given bytes.
type sparse struct {
	size int64
	end  []byte
}

func (s sparse) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	for i := range p {
		if at := off + int64(i) - (s.size - int64(len(s.end))); at >= 0 && at < int64(len(s.end)) {
			p[i] = s.end[at]
		}
	}
	return len(p), nil
}

// TestFooterMemory: a footer gets no memory because of the length that it claims.
func TestFooterMemory(t *testing.T) {
	end := append(binary.LittleEndian.AppendUint32(nil, 1<<30), fileMagic...)
	file := sparse{5 << 30, end}
	allocated := testkit.Allocated(func() {
		for range Columns(file, file.size) {
			t.Error("a column of an empty struct")
		}
	})
	require.Less(t, allocated, uint64(4<<20))
}

// TestHostileFooters: a footer of many columns, elements or names takes memory for few.
func TestHostileFooters(t *testing.T) {
	const n, leaf, column = 1_000_000, "\x15\x02\x00", "\x3c\xe6\x08\x00\x00" // leaf: type 1; column: offset 4
	list := func(field byte, element byte, n int, elements string) string {
		return string(binary.AppendUvarint([]byte{field<<4 | typeList, 0xf0 | element}, uint64(n))) + elements
	}
	schema := func(n int) string { return list(2, typeStruct, n, strings.Repeat(leaf, n)) }
	group := func(columns int, each string) string {
		return list(2, typeStruct, 1, list(1, typeStruct, columns, strings.Repeat(each, columns))+"\x00") // field 4
	}
	for name, test := range map[string]struct {
		footer string
		want   error
		yields int
	}{
		"columns":         {schema(maxLeaves) + group(n, column), bloom.ErrCorrupt, maxLeaves}, // more than the schema has
		"leaves":          {schema(n), bloom.ErrTooLarge, 0},
		"names":           {schema(1) + group(1, "\x3c"+list(3, typeBinary, n, strings.Repeat("\x00", n))+"\xb6\x08\x00\x00"), bloom.ErrCorrupt, 0},
		"other members":   {list(2, typeStruct, 1, "\x15\x02"+strings.Repeat("\x13\x01", n)+"\x00"), nil, 0},
		"no schema":       {list(4, typeStruct, 1, list(1, typeStruct, 1, column)+"\x00"), bloom.ErrCorrupt, 0},
		"many row groups": {schema(1) + list(2, typeStruct, n/4, strings.Repeat(list(1, typeStruct, 1, column)+"\x00", n/4)), nil, n / 4},
	} {
		data := []byte(fileMagic + test.footer + "\x00")
		data = append(binary.LittleEndian.AppendUint32(data, uint32(len(data)-len(fileMagic))), fileMagic...)
		yields, failed := 0, error(nil)
		allocated := testkit.Allocated(func() {
			for _, err := range Columns(bytes.NewReader(data), int64(len(data))) {
				if err == nil {
					yields++
				} else {
					failed = err
				}
			}
		})
		require.Less(t, allocated, uint64(50<<20), name)
		require.ErrorIs(t, failed, test.want, name)
		require.Equal(t, test.yields, yields, name)
	}
}

// TestEveryDamageOfAFooter: cut files and flipped bits, with -long all eight of a byte.
func TestEveryDamageOfAFooter(t *testing.T) {
	data := golden(t, "small")
	for i := range data {
		lookAt(t, data[:i])
		lookAt(t, data[i:])
	}
	for i := max(0, len(data)-2000); i < len(data); i++ {
		step := testkit.Times(3, 3, 1)
		for bit := i % step; bit < 8; bit += step {
			data[i] ^= 1 << bit
			lookAt(t, data)
			data[i] ^= 1 << bit
		}
	}
	encrypted := append(bytes.Clone(data[:len(data)-4]), encryptedMagic...)
	_, err := allColumns(encrypted)
	require.ErrorIs(t, err, bloom.ErrIncompatible)
}

// lookAt reads any bytes: they give an error or columns, and no filter outside of the file.
func lookAt(t *testing.T, data []byte) {
	columns, err := allColumns(data)
	if err != nil && !strings.Contains(err.Error(), "bloom: ") {
		t.Fatal(err)
	}
	for _, c := range columns {
		if c.refused == nil && c.offset+c.length > int64(len(data)) {
			t.Fatalf("%+v in a file of %d bytes", c, len(data))
		}
		_, _ = c.Filter(bytes.NewReader(data), bloom.WithMaxBytes(1<<20))
		for _, text := range []string{"1", "15:04:05", "2024-05-17"} {
			if key, err := c.Key(text); err == nil {
				_, _ = c.Contains(bytes.NewReader(data), key)
			}
		}
	}
}

func FuzzColumns(f *testing.F) {
	for _, name := range []string{"small", "logical", "converted"} {
		f.Add(golden(f, name))
	}
	f.Fuzz(lookAt)
}

func TestZeroValues(t *testing.T) { zero.Values(t, Column{}) }
