package persist

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/child"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

const (
	killKeys = 1_000_000
	saveRate = 0.01
	saveStep = 100 // keys between two generations: generation g has keys 0 to g·saveStep-1
	addRate  = 1e-9
)

// begin returns the number args[1].
func begin(args []string) (uint64, error) {
	child.EndWithTest()
	return strconv.ParseUint(args[1], 10, 64)
}

// childSave saves one generation after another to the path args[0], from args[1] on, and
// acknowledges each that Save has returned from.
func childSave(args []string) error {
	first, err := begin(args)
	if err != nil {
		return err
	}
	f := bloom.MustNew(killKeys, saveRate)
	for i := range first * saveStep {
		f.Add(key(i))
	}
	fmt.Println("ready")
	for g := first; ; g++ {
		if err := Save(args[0], f); err != nil {
			return err
		}
		fmt.Println(g)
		for i := range uint64(saveStep) {
			f.Add(key(g*saveStep + i))
		}
	}
}

// A process that saves in a loop is killed at any moment. The file is that of the last Save that
// returned, or of the next one. The next Save removes the leftover, so there is at most one.
func TestKilledWhileSaving(t *testing.T) {
	kills := testkit.Times(5, 10, 1000)
	path := filepath.Join(testkit.TempDir(t), "f")
	rnd := rand.New(rand.NewPCG(1, 2))
	want := bloom.MustNew(killKeys, saveRate)
	known := uint64(0) // the generation of want
	next := func() {
		for i := range uint64(saveStep) {
			want.Add(key(known*saveStep + i))
		}
		known++
	}
	require.NoError(t, Save(path, want))
	saved, leftovers, newer := 0, 0, 0
	for range kills {
		p := child.Start(t, "save", path, strconv.FormatUint(known, 10))
		line, _ := p.Line()
		require.Equal(t, "ready", line, p.Errors())
		time.Sleep(time.Duration(rnd.Int64N(int64(30 * time.Millisecond))))
		require.NoError(t, p.Process.Kill())
		for line, ok := p.Line(); ok; line, ok = p.Line() {
			g, err := strconv.ParseUint(line, 10, 64)
			require.NoError(t, err)
			for known < g {
				next()
			}
			saved++
		}
		p.Wait()

		got := loaded(t, path)
		if !got.Equal(want) {
			next()
			newer++
			require.True(t, got.Equal(want), "the file is neither generation %d nor %d", known-1, known)
		}
		files, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		leftovers += len(files) - 1
		require.LessOrEqual(t, len(files), 2)
	}
	require.NoError(t, Save(path, want))
	requireNoLeftover(t, path)
	t.Logf("%d kills, %d saves acknowledged, %d files newer than the last acknowledged, %d leftovers", kills, saved, newer, leftovers)
}

// childAdd adds the keys from args[1] on to the file args[0] and acknowledges each.
func childAdd(args []string) error {
	first, err := begin(args)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	f, err := Open(args[0], killKeys, addRate)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for i := first; ; i++ {
		f.Add(key(i))
		fmt.Fprintln(&out, i)
		if i%16 == 0 { // the pipe is slow
			if _, err := out.WriteTo(os.Stdout); err != nil {
				return err
			}
		}
	}
}

// A process that adds to a mapped file is killed at any moment, also while it makes the file. No
// acknowledged key is lost.
func TestKilledWhileAdding(t *testing.T) {
	kills := testkit.Times(5, 10, 1000)
	path := filepath.Join(testkit.TempDir(t), "f")
	rnd := rand.New(rand.NewPCG(3, 4))
	next, made, early := uint64(0), 0, 0
	for kill := range kills {
		if kill%20 == 19 { // another file, to disturb its making
			require.NoError(t, os.RemoveAll(path)) // no child may have made it
			next = 0
		}
		p := child.Start(t, "add", path, strconv.FormatUint(next, 10))
		line, _ := p.Line()
		require.Equal(t, "ready", line, p.Errors())
		// The other lines are read while the child runs, or it would wait for the pipe.
		timer := time.AfterFunc(time.Duration(rnd.Int64N(int64(30*time.Millisecond))), func() { p.Process.Kill() })
		first := next
		for line, ok := p.Line(); ok; line, ok = p.Line() {
			i, err := strconv.ParseUint(line, 10, 64)
			require.NoError(t, err)
			require.Equal(t, next, i)
			next = i + 1
		}
		p.Wait()
		require.False(t, timer.Stop(), "the child ended by itself: %s", p.Errors())

		if _, err := os.Stat(path); err != nil {
			early++ // before the file had its name
			require.Equal(t, first, next)
			continue
		}
		f, err := Open(path, killKeys, addRate)
		require.NoError(t, err)
		// All since the last kill, and enough others to find a lost page.
		for i := range next {
			if (i >= first || i%64 == uint64(kill)%64) && !f.Contains(key(i)) {
				t.Fatalf("kill %d: key %d of %d acknowledged ones is lost", kill, i, next)
			}
		}
		require.NoError(t, f.Close())
		made += int(next - first)
	}
	require.NoError(t, Save(path+".other", filterWith("a"))) // an Open that finds its file looks for none
	requireNoLeftover(t, path)
	t.Logf("%d kills, %d of them before the file was made; %d keys acknowledged", kills, early, made)
}
