package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/parquet"
	"github.com/spf13/cobra"
)

// isParquetFilter: Thrift's byte count, then a union, as the header of a filter begins.
func isParquetFilter(head []byte, _ int64) bool {
	if len(head) < 2 || head[0] != 0x15 {
		return false
	}
	_, n := binary.Uvarint(head[1:])
	return n > 0 && bytes.HasPrefix(head[1+n:], []byte{0x1c, 0x1c})
}

func isParquetFile(head []byte, _ int64) bool {
	return bytes.HasPrefix(head, []byte("PAR1")) || bytes.HasPrefix(head, []byte("PARE"))
}

// A parquetFile has a filter for each of some columns.
type parquetFile struct {
	path    string
	columns []parquet.Column
}

func openParquet(path string) (*parquetFile, error) {
	if path == "-" {
		return nil, fmt.Errorf("a Parquet file on standard input, want its name: its end is read first")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	columns, err := parquet.Columns(file, info.Size())
	if err != nil {
		return nil, errorIn{shown(path), err}
	}
	return &parquetFile{path, columns}, nil
}

const columnHelp = `Of a Parquet file --column takes the filter of one column: its name as bloom info lists it,
and, if several row groups have it, a colon and the number of the row group, such as
user.id:0.`

func columnFlag(cmd *cobra.Command, column *string) {
	cmd.Flags().StringVar(column, "column", "", "`NAME[:ROWGROUP]` of the filter in a Parquet file")
}

// columnName is what --column calls one.
func columnName(c parquet.Column) string { return c.Path + ":" + strconv.Itoa(c.RowGroup) }

// pick returns the column of that name, or the only one if the name is empty.
func (p *parquetFile) pick(name string) (parquet.Column, error) {
	var found []parquet.Column
	for _, c := range p.columns {
		if name == "" || name == c.Path || name == columnName(c) {
			found = append(found, c)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(p.columns) == 0:
		return parquet.Column{}, fmt.Errorf("%s: no column of this Parquet file has a filter", shown(p.path))
	case len(found) == 0:
		return parquet.Column{}, fmt.Errorf("%s: no filter of a column %q, want one that bloom info lists", shown(p.path), name)
	}
	return parquet.Column{}, fmt.Errorf("%s: %d filters, want one of them by --column, such as %q (bloom info lists them)", shown(p.path), len(found), columnName(found[0]))
}

func (p *parquetFile) filter(c parquet.Column) (*bloom.BloomFilter, error) {
	file, err := os.Open(p.path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	f, err := c.Filter(file)
	if err != nil {
		return nil, errorIn{fmt.Sprintf("%s, column %q", shown(p.path), columnName(c)), err}
	}
	return f, nil
}

// A column is what info says of one.
type column struct {
	Name     string `json:"name"`
	RowGroup int    `json:"row_group"`
	Type     string `json:"type"`
	Offset   int64  `json:"offset"`
	Length   int64  `json:"length"`
}

func (p *parquetFile) list() []column {
	list := []column{}
	for _, c := range p.columns {
		list = append(list, column{c.Path, c.RowGroup, c.Type.String(), c.Offset, c.Length})
	}
	return list
}

func (c column) String() string {
	text := fmt.Sprintf("%s:%d, %s", c.Name, c.RowGroup, c.Type)
	if c.Length > 0 {
		text += ", " + size(uint64(c.Length))
	}
	return harmless(text)
}

// errColumn is that a column is asked for where there are none.
func errColumn(path string, column string, from *format) error {
	if column == "" {
		return nil
	}
	return fmt.Errorf("%s: --column %q of a %s filter, want it for Parquet files only", shown(path), strings.TrimSpace(column), from.name)
}
