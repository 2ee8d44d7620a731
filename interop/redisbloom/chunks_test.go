package redisbloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

var fileFormat = conformance.Foreign[*Filter]{
	New:   func(n uint64, p float64, opts ...bloom.Option) (*Filter, error) { return New(Plan{n, p, 2}, opts...) },
	Read:  Read,
	Exact: true,
	Write: func(w io.Writer, f *Filter) error {
		_, err := f.WriteTo(w)
		return err
	},
}

// TestFormat, with filters of one layer, of five, and of two chunks.
func TestFormat(t *testing.T) {
	small, large := newFilter(t, Plan{1, 0.5, 2}), newFilter(t, Plan{13_000_000, 0.01, 2})
	for _, f := range []*Filter{small, large} {
		_, err := f.Add([]byte("key"))
		require.NoError(t, err)
	}
	fileFormat.Test(t, small, recordings(t)[2].filter(t), large)
	_, err := Read(bytes.NewReader(nil))
	require.Equal(t, io.EOF, err)
	data := fileFormat.Bytes(t, small)
	for _, more := range [][]byte{{0}, data} {
		_, err := Read(bytes.NewReader(slices.Concat(data, more)))
		require.ErrorIs(t, err, bloom.ErrCorrupt)
	}
	n, err := small.WriteTo(io.Discard)
	require.NoError(t, err)
	require.EqualValues(t, len(data), n)
}

func FuzzRead(f *testing.F) {
	for _, r := range recordings(f) {
		f.Add(r.file(f))
	}
	fileFormat.Fuzz(f)
}

// TestLargeLayersAreCut into chunks, which are read with memory for one copy.
func TestLargeLayersAreCut(t *testing.T) {
	f := newFilter(t, Plan{13_000_000, 0.01, 2}) // 18 MB
	var sizes []int
	chunks := collect(f)
	for _, c := range chunks {
		sizes = append(sizes, len(c.data))
	}
	size := int(f.Stats().SizeBytes)
	require.Equal(t, []int{headerBytes + layerBytes, maxChunk, size - maxChunk}, sizes)
	again, err := FromDump(feed(chunks))
	require.NoError(t, err)
	require.Equal(t, chunks, collect(again))
	chunks[2].iterator++
	_, err = FromDump(feed(chunks))
	require.ErrorIs(t, err, bloom.ErrCorrupt)
	require.Regexp(t, "^bloom: corrupt data: a chunk of ", err)

	f = newFilter(t, Plan{10_000_000, 0.01, 2}) // 14 MB
	chunks, size = collect(f), int(f.Stats().SizeBytes)
	require.LessOrEqual(t, testkit.Allocated(func() { _, err = FromDump(feed(chunks)) }), uint64(size+size/10))
	require.NoError(t, err)
	most := uint64(size + size/10)
	if testkit.RaceDetector { // the compiler then makes the slice that append only measures
		most += uint64(size)
	}
	require.LessOrEqual(t, testkit.Allocated(func() {
		for range f.Chunks() {
		}
	}), most)
}

// TestLongChunk: a chunk is as long as the server makes them.
func TestLongChunk(t *testing.T) {
	le := binary.LittleEndian
	header := collect(newFilter(t, Plan{1, 0.01, 2}))[0].data
	le.PutUint64(header[headerBytes:], 1<<30)
	le.PutUint64(header[headerBytes+8:], 1<<33)
	head := append(appendHead(1, len(header)), header...)
	head = append(head, appendHead(1+maxChunk, maxChunk)...)
	_, err := Read(bytes.NewReader(append(head[:len(head)-8], le.AppendUint64(nil, 1<<62)...)))
	require.ErrorIs(t, err, bloom.ErrCorrupt)
	require.ErrorContains(t, err, "a chunk of 4611686018427387904 bytes")
}

// TestDamagedChunks: lost, doubled, swapped and cut chunks, and one too many.
func TestDamagedChunks(t *testing.T) {
	for _, r := range recordings(t) {
		for i, chunk := range r.chunks(t) {
			cut, swapped := r.chunks(t), r.chunks(t)
			cut[i].data = cut[i].data[:len(chunk.data)-1]
			other := (i + 1) % len(swapped)
			swapped[i], swapped[other] = swapped[other], swapped[i]
			more := append(r.chunks(t), reply{r.chunks(t)[len(cut)-1].iterator + 1, []byte{0}})
			for _, damaged := range [][]reply{cut, swapped, more, slices.Delete(r.chunks(t), i, i+1), slices.Insert(r.chunks(t), i, chunk)} {
				_, err := FromDump(feed(damaged))
				require.ErrorIs(t, err, bloom.ErrCorrupt, "%s, chunk %d", r.Name, i)
			}
		}
	}
	_, err := FromDump(feed(nil))
	require.ErrorIs(t, err, bloom.ErrCorrupt)
}

// TestErrorsOfScan are returned as they are, also if a lost connection is an end for package io.
func TestErrorsOfScan(t *testing.T) {
	for _, gone := range []error{errors.New("connection lost"), io.EOF, io.ErrUnexpectedEOF} {
		for after := range 7 {
			scan := feed(recordings(t)[2].chunks(t)[:min(after, 6)])
			_, err := FromDump(func(iterator int64) (int64, []byte, error) {
				if after--; after < 0 {
					return 0, nil, gone
				}
				return scan(iterator)
			})
			require.Equal(t, gone, err)
		}
	}
}
