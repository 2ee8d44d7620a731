package guard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/frame"
)

// sample returns the file of a guard with two keys.
func sample(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "guard")
	m := newMemStore("a", "b")
	g := must(New(path, 10, 0.01, m))
	require.NoError(t, g.Open(t.Context()))
	require.NoError(t, save(g))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return raw
}

// The header is in the frozen format, and the filter is as package bloom writes it.
func TestGoldenFile(t *testing.T) {
	raw := sample(t)
	const numbers = "\x89bloomg\x01" + "\x02\x00\x00\x00\x00\x00\x00\x00" + "\x08\x00\x00\x00\x00\x00\x00\x00" // keys, bytes of the position
	const position = "\x00\x00\x00\x00\x00\x00\x00\x02"
	require.Equal(t, numbers, string(raw[:24]))
	require.Equal(t, position, string(raw[32:40]))
	f := bloom.MustNew(10, 0.01)
	f.AddString("a")
	f.AddString("b")
	want, err := f.MarshalBinary()
	require.NoError(t, err)
	require.Equal(t, want, raw[48:len(raw)-8])
	require.Equal(t, "672ee03aa9da4d3b044cc12d2246e02fceb57d50931e53cb30a58b7e8b2e8ae3", fmt.Sprintf("%x", sha256.Sum256(raw)))
}

// Each flipped bit, each truncation and more bytes are errors.
func TestDamage(t *testing.T) {
	raw := sample(t)
	for i := range raw {
		_, err := read(bytes.NewReader(raw[:i]), nil)
		require.ErrorIs(t, err, bloom.ErrCorrupt, i)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, i)
		for bit := range 8 {
			raw[i] ^= 1 << bit
			_, err := read(bytes.NewReader(raw), nil)
			if err == nil {
				t.Fatalf("byte %d, bit %d: no error", i, bit)
			}
			raw[i] ^= 1 << bit
		}
	}
	_, err := read(bytes.NewReader(append(bytes.Clone(raw), 0)), nil)
	require.ErrorIs(t, err, bloom.ErrCorrupt)
	_, err = read(io.MultiReader(bytes.NewReader(raw), iotest.ErrReader(fs.ErrClosed)), nil)
	require.ErrorIs(t, err, fs.ErrClosed)
	whole, err := read(bytes.NewReader(raw), nil)
	require.NoError(t, err)
	require.Len(t, whole.position, 8)

	for want, numbers := range map[string][]uint64{
		"a position of 0 bytes":     {1, 0},
		"a position of 65536 bytes": {1, 1 << 16},
		"byte 0x1 after":            {1, 7, 1 << 56},
	} {
		var forged bytes.Buffer
		out := frame.NewWriter(&forged)
		out.Magic(magic)
		out.Numbers(numbers[:2]...)
		out.Numbers(numbers[2:]...)
		_, err := out.Result()
		require.NoError(t, err)
		_, err = read(&forged, nil)
		require.ErrorIs(t, err, bloom.ErrCorrupt)
		require.ErrorContains(t, err, want)
	}
}

func FuzzRead(f *testing.F) {
	for _, position := range []string{"p", "position", "position 2"} {
		var file bytes.Buffer
		_, err := snapshot{newLayer(bloom.MustNew(10, 0.01), 1), []byte(position)}.WriteTo(&file)
		require.NoError(f, err)
		f.Add(file.Bytes())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := read(bytes.NewReader(raw), []bloom.Option{bloom.WithMaxBytes(1 << 20)})
		if err != nil {
			return
		}
		var again bytes.Buffer
		n, err := s.WriteTo(&again)
		require.NoError(t, err)
		require.EqualValues(t, len(raw), n)
		require.Equal(t, raw, again.Bytes())
	})
}

// For a bad file Open returns an error that names it. The guard says "maybe" until it is rebuilt; then
// Save replaces the file.
func TestBadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guard")
	m := newMemStore("a")
	g := must(New(path, 10, 0.01, m))
	require.NoError(t, os.WriteFile(path, []byte("something of somebody else"), 0o600))
	err := g.Open(t.Context())
	require.ErrorIs(t, err, bloom.ErrCorrupt)
	require.ErrorContains(t, err, strconv.Quote(path))
	require.True(t, g.Contains([]byte("x")))
	require.NoError(t, g.Rebuild(t.Context(), 10, 0.01))
	require.NoError(t, save(g))
	require.NoError(t, must(New(path, 10, 0.01, m)).Open(t.Context()))

	secret := bloom.WithKey([16]byte{1})
	require.ErrorIs(t, must(New(path, 10, 0.01, m, secret)).Open(t.Context()), bloom.ErrIncompatible)
	require.Error(t, must(New(filepath.Dir(path), 10, 0.01, m)).Open(t.Context()), "a folder")
}

// Keep opens, saves at every interval, replaces a bad file, retries a failed step, and saves at the
// end.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "guard")
		require.NoError(t, os.WriteFile(path, []byte("something else"), 0o600))
		m := newMemStore("a")
		broken := errors.New("broken")
		var failing atomic.Bool
		failing.Store(true)
		m.fail = func() error {
			if failing.Load() {
				return broken
			}
			return nil
		}
		g := must(New(path, 10, 1e-6, m))
		require.ErrorIs(t, g.Keep(t.Context(), 0, nil), bloom.ErrInvalid)
		type report struct {
			position []byte
			err      error
		}
		reports := make(chan report, 10)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- g.Keep(ctx, time.Minute, func(position []byte, err error) {
				reports <- report{position, err}
			})
		}()
		require.ErrorIs(t, (<-reports).err, bloom.ErrCorrupt, "the bad file")
		require.ErrorIs(t, (<-reports).err, broken, "the store")
		synctest.Wait()
		require.Empty(t, reports)
		require.True(t, g.ContainsString("x"), "not ready")
		failing.Store(false)
		require.ErrorIs(t, (<-reports).err, bloom.ErrCorrupt, "still the bad file")
		require.NoError(t, (<-reports).err)
		require.False(t, g.ContainsString("x"))
		require.True(t, g.ContainsString("a"))
		put(t, g, m, "b")
		position, err := m.Position(ctx)
		require.NoError(t, err)
		require.Equal(t, report{position, nil}, <-reports)
		put(t, g, m, "c")
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		last := <-reports
		require.NoError(t, last.err)
		require.NotEqual(t, position, last.position, "saved at the end")

		g = must(New(path, 10, 1e-6, m))
		require.NoError(t, g.Open(t.Context()))
		require.Zero(t, g.Counts().Scanned)
		require.True(t, g.ContainsString("c"))
	})
}

// Keep rebuilds a full filter: for more keys, or without the deleted keys if they have filled it. An
// error leaves the old filter, and Keep goes on saving.
func TestKeepGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemStore(names(60)...)
		g := must(New(filepath.Join(t.TempDir(), "guard"), 100, 1e-6, m, bloom.WithMaxBytes(2000)))
		var errs []error
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- g.Keep(ctx, time.Minute, func(position []byte, err error) {
				if err != nil {
					errs = append(errs, err)
				}
			})
		}()
		minute := func() Counts {
			time.Sleep(time.Minute)
			synctest.Wait()
			return g.Counts()
		}
		synctest.Wait()
		churn := func(n int) {
			for i := range n {
				key := fmt.Sprint("new ", g.Counts().Keys, i)
				put(t, g, m, key)
				m.delete(key)
			}
		}
		churn(40)
		require.Equal(t, Counts{Scanned: 60, N: 100, Keys: 100}, minute(), "not full")
		churn(1)
		require.Equal(t, Counts{Scanned: 60, N: 120, Keys: 60}, minute())
		churn(61)
		require.Equal(t, Counts{Scanned: 60, N: 120, Keys: 60}, minute(), "full of deleted keys")
		for i := range 100 {
			put(t, g, m, fmt.Sprint("stays ", i))
		}
		require.Equal(t, Counts{Scanned: 160, N: 120, Keys: 160}, minute())
		require.Equal(t, Counts{Scanned: 160, N: 320, Keys: 160}, minute())
		require.Empty(t, errs)
		for i := range 161 {
			put(t, g, m, fmt.Sprint("many ", i))
		}
		minute()
		require.Equal(t, Counts{Scanned: 321, N: 320, Keys: 321}, minute(), "642 keys take more than 2000 bytes")
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		require.Len(t, errs, 1)
		require.ErrorIs(t, errs[0], bloom.ErrTooLarge)
	})
}

// An error has one prefix, and a name in it is quoted.
func TestNotOpened(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a folder")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for path, want := range map[string]string{
		dir:                 "bloom: corrupt data: " + strconv.Quote(dir) + " is no regular file but d---------",
		dir + "/\x1b[31m/x": "guard: open " + strconv.Quote(dir+"/\x1b[31m/x") + ": ",
	} {
		_, err := OpenList(path)
		require.ErrorContains(t, err, want)
		require.False(t, strings.HasPrefix(err.Error(), "guard: bloom:"), err)
		_, again := load(path, nil)
		require.EqualError(t, again, err.Error())
	}
}

type waiting struct {
	*memStore
	answer chan bool
}

func (w waiting) Position(ctx context.Context) ([]byte, error) {
	<-w.answer
	return w.memStore.Position(ctx)
}

// A Save that waits for another Save ends when it is cancelled.
func TestSaveGivesUpWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := waiting{newMemStore("a"), make(chan bool)}
		g := must(New(filepath.Join(t.TempDir(), "guard"), 10, 0.01, w))
		require.NoError(t, g.Open(t.Context()))
		saved, gaveUp := make(chan error), make(chan error)
		go func() { saved <- save(g) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, err := g.Save(ctx); gaveUp <- err }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-gaveUp, context.Canceled)
		close(w.answer)
		require.NoError(t, <-saved)
	})
}

type badPosition struct {
	*memStore
	position []byte
	err      error
}

func (b badPosition) Position(context.Context) ([]byte, error) { return b.position, b.err }

func TestBadPosition(t *testing.T) {
	for _, c := range []struct {
		store badPosition
		want  error
	}{
		{badPosition{newMemStore(), nil, nil}, bloom.ErrInvalid},
		{badPosition{newMemStore(), make([]byte, 1<<16), nil}, bloom.ErrInvalid},
		{badPosition{newMemStore(), nil, fs.ErrClosed}, fs.ErrClosed},
		{badPosition{newMemStore(), make([]byte, 1<<16-1), nil}, nil},
		{badPosition{newMemStore(), []byte{0}, nil}, nil},
	} {
		path := filepath.Join(t.TempDir(), "guard")
		g := must(New(path, 10, 0.01, c.store))
		require.NoError(t, g.Open(t.Context()))
		require.ErrorIs(t, save(g), c.want)
		if c.want == nil {
			s, err := load(path, nil)
			require.NoError(t, err)
			require.Equal(t, c.store.position, s.position)
		} else {
			require.NoFileExists(t, path)
		}
	}
}
