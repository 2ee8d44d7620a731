package rebloom

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/formattest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestFilesOfRecordings: the server's chunks in a file are read and written again byte for
// byte. A file that is cut, has more bytes, or a false length is refused.
func TestFilesOfRecordings(t *testing.T) {
	for _, r := range recordings(t) {
		file := r.file(t)
		f, err := Read(bytes.NewReader(file))
		require.NoError(t, err, r.Name)
		require.Equal(t, collect(r.filter(t)), collect(f), r.Name)
		var again bytes.Buffer
		n, err := f.WriteTo(&again)
		require.NoError(t, err)
		require.EqualValues(t, len(file), n)
		require.Equal(t, file, again.Bytes(), r.Name)

		for cut := 1; cut < len(file); cut += 1 + len(file)/200 {
			_, err := Read(bytes.NewReader(file[:cut]))
			require.ErrorIs(t, err, bloom.ErrCorrupt, "%s, cut after %d", r.Name, cut)
		}
		_, err = Read(bytes.NewReader(append(file, file...)))
		require.ErrorIs(t, err, bloom.ErrCorrupt)
		_, err = Read(bytes.NewReader(append(file, 0)))
		require.ErrorIs(t, err, bloom.ErrCorrupt)
		lying := bytes.Clone(file)
		binary.LittleEndian.PutUint64(lying[chunkHead+len(r.chunks(t)[0].data)+8:], 1<<62)
		_, err = Read(bytes.NewReader(lying))
		require.ErrorIs(t, err, bloom.ErrCorrupt)
		require.ErrorContains(t, err, "a chunk of 4611686018427387904 bytes")
	}
	_, err := Read(bytes.NewReader(nil))
	require.Equal(t, io.EOF, err)
}

// TestMemory: writing takes little memory, reading takes the filter's once.
func TestMemory(t *testing.T) {
	f := newFilter(t, Plan{10_000_000, 0.01, 2}) // 14 MB
	size := f.Stats().SizeBytes
	var file bytes.Buffer
	_, err := f.WriteTo(&file)
	require.NoError(t, err)
	require.Less(t, testkit.Allocated(func() { _, err = f.WriteTo(io.Discard) }), uint64(200_000))
	require.NoError(t, err)
	require.LessOrEqual(t, testkit.Allocated(func() { _, err = Read(bytes.NewReader(file.Bytes())) }), size+size/10)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "dump")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o600))
	opened, err := os.Open(path)
	require.NoError(t, err)
	defer opened.Close()
	require.LessOrEqual(t, testkit.Allocated(func() { _, err = Read(opened) }), size+size/10)
	require.NoError(t, err)
	chunks := collect(f)
	require.LessOrEqual(t, testkit.Allocated(func() { _, err = FromDump(feed(chunks)) }), size+size/10)
	require.NoError(t, err)
	most := size + size/10
	if testkit.RaceDetector { // the compiler then makes the slice that append only measures
		most += size
	}
	require.LessOrEqual(t, testkit.Allocated(func() {
		for range f.Chunks() {
		}
	}), most)
}

// TestLyingHeader: a layer of 1 GiB gets memory as its bytes arrive.
func TestLyingHeader(t *testing.T) {
	le := binary.LittleEndian
	header := collect(newFilter(t, Plan{1, 0.01, 2}))[0].data
	le.PutUint64(header[headerBytes:], 1<<30)
	le.PutUint64(header[headerBytes+8:], 1<<33)
	head := append(le.AppendUint64(le.AppendUint64(nil, 1), uint64(len(header))), header...)
	head = le.AppendUint64(le.AppendUint64(head, 1+maxChunk), maxChunk)
	formattest.LyingHead(t, string(head), 0, func(r io.Reader) error { _, err := Read(r); return err })
}
