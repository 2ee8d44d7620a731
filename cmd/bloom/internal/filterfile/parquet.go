package filterfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/parquet"
)

var (
	parquetFile = Format{
		Name:  "parquet-file",
		About: "a Parquet file, with filters of columns; only read",
		is:    beginsWith("PAR1", "PARE"),
		read:  readColumns,
	}
	parquetFilter = Format{
		Name:   "parquet",
		About:  "the filter of a Parquet column, with its header",
		is:     isParquetFilter,
		read:   reading(parquet.Read),
		write:  parquet.Write,
		Create: creating(parquet.New),
		hash:   func(name string) (*bloom.Hash, bool) { return parquet.Hash, name == parquet.Hash.Name() },
	}
)

// isParquetFilter checks for the beginning of a filter's header: Thrift's encoding of a number of bytes and a union.
func isParquetFilter(head []byte, _ int64) bool {
	if len(head) < 2 || head[0] != 0x15 {
		return false
	}
	_, n := binary.Uvarint(head[1:])
	return n > 0 && len(head) >= 3+n && head[1+n] == 0x1c && head[2+n] == 0x1c
}

// Columns lists the columns of a Parquet file that have a filter, or only the columns that --column names.
type Columns struct {
	List []parquet.Column
	name string   // --column, or ""
	file *os.File // open until the process ends
}

// maxColumns limits the memory for the list of columns. A forged footer may have one per 5 bytes.
const maxColumns = 1 << 16

// readColumns reads the list of columns from the footer of a Parquet file.
func readColumns(in *input, opts []bloom.Option) (any, error) {
	switch {
	case in.file.Whole == nil:
		return nil, errors.New("a Parquet file in a stream, want its name: its end is read first")
	case len(opts) > 0:
		return nil, errors.New("a Parquet file's filters have no secret, want none")
	}
	file, err := os.Open(in.file.Path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	all := Columns{name: in.file.Column, file: file}
	for c, err := range parquet.Columns(file, info.Size()) {
		if err != nil {
			return nil, err
		}
		if all.name == "" || all.name == c.Path || all.name == nameOf(c) {
			all.List = append(all.List, c)
		}
		if len(all.List) > maxColumns {
			return nil, fmt.Errorf("more than %d filters, want one of them by --column NAME:ROWGROUP", maxColumns)
		}
	}
	if len(all.List) == 0 && all.name != "" {
		return nil, fmt.Errorf("--column %q: no filter, want one that bloom info lists", all.name)
	}
	return all, nil
}

// nameOf returns the value of --column for one filter: column, colon, row group.
func nameOf(c parquet.Column) string { return fmt.Sprintf("%s:%d", c.Path, c.RowGroup) }

// Filter reads the filter of a column.
func (c Columns) Filter(of parquet.Column) (*bloom.BloomFilter, error) { return of.Filter(c.file) }

// Only returns the filter of the only column. It returns an error if there is not exactly one column.
func (c Columns) Only() (*bloom.BloomFilter, error) {
	if len(c.List) != 1 {
		return nil, fmt.Errorf("%d filters in this Parquet file, want one of them by --column NAME:ROWGROUP (bloom info lists them)", len(c.List))
	}
	return c.Filter(c.List[0])
}

// Whole returns the only column, with its filters in all row groups, or in the one that --column names.
func (c Columns) Whole() (Column, error) {
	if len(c.List) == 0 {
		return Column{}, errors.New("no column of this Parquet file has a filter")
	}
	first := c.List[0]
	column := Column{Column: first}
	for _, next := range c.List {
		if next.Path != first.Path {
			return Column{}, errors.New("filters of several columns in this Parquet file, want one of them by --column (bloom info lists them)")
		}
		f, err := c.Filter(next)
		if err != nil {
			return Column{}, err
		}
		column.filters = append(column.filters, rowGroup{f, next.RowGroup})
	}
	if len(c.List) < first.RowGroups && c.name != nameOf(first) {
		return Column{}, fmt.Errorf("only %d of the file's %d row groups have a filter of column %q, want one of these by --column NAME:ROWGROUP",
			len(c.List), first.RowGroups, first.Path)
	}
	return column, nil
}

// A Column is a column of a Parquet file with its filters.
type Column struct {
	parquet.Column
	filters []rowGroup
}

type rowGroup struct {
	*bloom.BloomFilter
	number int
}

// Encode returns the keys of values given as text. At the first invalid value, it returns the keys before it and an
// error.
func (c Column) Encode(values [][]byte) (keys [][]byte, err error) {
	for _, value := range values {
		key, err := c.Key(string(value))
		if err != nil {
			return keys, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// ContainsMany looks up encoded keys: a key is found if one of the filters contains it.
func (c Column) ContainsMany(keys [][]byte, found []bool) (n int) {
	clear(found)
	some := make([]bool, len(keys))
	for _, f := range c.filters {
		f.ContainsMany(keys, some)
		for i, yes := range some {
			if yes && !found[i] {
				found[i] = true
				n++
			}
		}
	}
	return n
}

// RowGroups returns the numbers of the row groups whose filters contain a value, such as "0,3".
func (c Column) RowGroups(value []byte) string {
	var numbers []string
	if key, err := c.Key(string(value)); err == nil {
		for _, f := range c.filters {
			if f.Contains(key) {
				numbers = append(numbers, fmt.Sprint(f.number))
			}
		}
	}
	return strings.Join(numbers, ",")
}
