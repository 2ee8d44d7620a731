package filterfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/parquet"
)

var (
	parquetFile = Format{
		Name:  "parquet-file",
		About: "a Parquet file, with filters of columns; only read",
		is:    beginsWith("PAR1", "PARE"),
		read:  readColumn,
	}
	parquetFilter = Format{
		Name:   "parquet",
		About:  "the filter of a Parquet column, with its header",
		is:     isParquetFilter,
		read:   reading(parquet.Read),
		write:  parquet.Write,
		Create: creating(parquet.New),
		hash:   func(name string) (bloom.Hash, bool) { return parquet.Hash, name == parquet.Hash.Name() },
	}
)

// isParquetFilter looks for Thrift's byte count and a union, the beginning of a filter's header.
func isParquetFilter(head []byte, _ int64) bool {
	if len(head) < 2 || head[0] != 0x15 {
		return false
	}
	_, n := binary.Uvarint(head[1:])
	return n > 0 && len(head) >= 3+n && head[1+n] == 0x1c && head[2+n] == 0x1c
}

// A Column is the filter of a column in a Parquet file.
type Column struct {
	*bloom.BloomFilter
	parquet.Column
}

// Encode returns the keys of values that are written as text, up to the first one that has none.
func (f Column) Encode(values [][]byte) (keys [][]byte, err error) {
	for _, value := range values {
		key, err := f.Key(string(value))
		if err != nil {
			return keys, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// maxColumns limits the memory for a list of columns. A hostile footer has one per 5 bytes.
const maxColumns = 1 << 16

// Columns are the columns of a Parquet file that have a filter, if none was chosen.
type Columns []parquet.Column

// Choose is the error for a command that needs one filter.
func (c Columns) Choose() error {
	return fmt.Errorf("%d filters in this Parquet file, want one of them by --column (bloom info lists them)", len(c))
}

// readColumn reads the filter of the column that --column names, or of the only column with one.
func readColumn(in *input, opts []bloom.Option) (any, error) {
	switch {
	case in.file.Whole == nil:
		return nil, errors.New("a Parquet file in a stream, want its name: its end is read first")
	case len(opts) > 0:
		return nil, errors.New("a Parquet file's filters have no secret, want none")
	}
	var found Columns
	for c, err := range parquet.Columns(in.file.Whole, in.file.Size) {
		if err != nil {
			return nil, err
		}
		if in.file.Column == "" || in.file.Column == c.Path || in.file.Column == fmt.Sprintf("%s:%d", c.Path, c.RowGroup) {
			found = append(found, c)
		}
		if len(found) > maxColumns {
			return nil, fmt.Errorf("more than %d filters, want one of them by --column NAME:ROWGROUP", maxColumns)
		}
	}
	switch {
	case len(found) == 1:
		f, err := found[0].Filter(in.file.Whole)
		return Column{f, found[0]}, err
	case in.file.Column == "":
		return found, nil
	}
	return nil, fmt.Errorf("--column %q: %d filters, want one that bloom info lists", in.file.Column, len(found))
}
