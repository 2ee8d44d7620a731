package persist

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A failingDisk fails at one of its steps.
type failingDisk struct {
	osFiles
	countdown int
}

var errDisk = errors.New("disk on fire")

func (d *failingDisk) step() error {
	if d.countdown--; d.countdown == 0 {
		return errDisk
	}
	return nil
}

func (d *failingDisk) create(path string) (tempFile, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f, err := d.osFiles.create(path)
	return failingFile{f, d}, err
}

func (d *failingDisk) publish(f tempFile, path string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.osFiles.publish(f.(failingFile).tempFile, path)
}

func (d *failingDisk) discard(f tempFile) error { return d.osFiles.discard(f.(failingFile).tempFile) }

func (d *failingDisk) syncDir(dir string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.osFiles.syncDir(dir)
}

type failingFile struct {
	tempFile
	disk *failingDisk
}

func (f failingFile) Write(p []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		n, _ := f.tempFile.Write(p[:len(p)/2])
		return n, err
	}
	return f.tempFile.Write(p)
}

func (f failingFile) inherit() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	return f.tempFile.inherit()
}

func (f failingFile) Sync() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	return f.tempFile.Sync()
}

func (f failingFile) allocate(offset, size int64) error {
	if err := f.disk.step(); err != nil {
		return err
	}
	return f.tempFile.allocate(offset, size)
}

// Whichever step fails, Save says so, and leaves the old file and no other.
func TestSaveOnAFailingDisk(t *testing.T) {
	for step := 1; ; step++ {
		path := filepath.Join(tempDir(t), "f")
		require.NoError(t, Save(path, filterWith("old")))
		disk := &failingDisk{countdown: step}
		err := save(disk, path, filterWith("new"))
		got, loadErr := Load(path)
		require.NoError(t, loadErr)
		requireNoLeftover(t, path)
		if err == nil {
			require.True(t, got.ContainsString("new"))
			require.Equal(t, 7, step, "create, write, inherit, sync, rename, syncDir")
			return
		}
		require.ErrorIs(t, err, errDisk)
		if renamed := step == 6; renamed {
			require.True(t, got.ContainsString("new"))
		} else {
			require.True(t, got.Equal(filterWith("old")), "step %d", step)
		}
	}
}

// The same for a file that is being made for Open.
func TestCreateOnAFailingDisk(t *testing.T) {
	scheme := filterWith().Scheme()
	page, err := encodeHeader(scheme)
	require.NoError(t, err)
	for step := 1; ; step++ {
		path := filepath.Join(tempDir(t), "f")
		err := create(&failingDisk{countdown: step}, path, page, scheme)
		requireNoLeftover(t, path)
		if err == nil {
			require.Equal(t, 7, step, "create, write, allocate, sync, publish, syncDir")
			return
		}
		require.ErrorIs(t, err, errDisk)
		if step < 6 {
			require.NoFileExists(t, path)
		}
	}
}

// A closedDisk has closed the file before its name is given: closing it again fails.
type closedDisk struct{ osFiles }

func (d closedDisk) publish(f tempFile, path string) error {
	if err := f.(osFile).Close(); err != nil {
		return err
	}
	return d.osFiles.publish(f, path)
}

// The data is on the disk before the file is closed, so an error then loses nothing.
func TestSaveWhoseCloseFails(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	for range 2 {
		require.NoError(t, save(closedDisk{}, path, filterWith("a")))
		requireNoLeftover(t, path)
	}
	_, err := Load(path)
	require.NoError(t, err)
}

// What cannot write a whole filter leaves the old one.
func TestSaveOfAFailingWriter(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	require.NoError(t, Save(path, filterWith("old")))
	require.ErrorIs(t, Save(path, brokenFilter{}), errDisk)
	got, err := Load(path)
	require.NoError(t, err)
	require.True(t, got.Equal(filterWith("old")))
	requireNoLeftover(t, path)
}

type brokenFilter struct{}

func (brokenFilter) WriteTo(w io.Writer) (int64, error) {
	n, _ := w.Write([]byte("half of"))
	return int64(n), errDisk
}
