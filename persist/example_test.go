package persist_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
)

// A crawler that may be killed at any time finds its filter as it was.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "seen.map")

	for range 2 { // the program runs twice
		seen, err := persist.Open(path, 1_000_000, 1e-6)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, url := range []string{"https://go.dev/", "https://go.dev/doc/"} {
			if seen.AddString(url) {
				fmt.Println("fetch", url)
			}
		}
		fmt.Println("about", seen.Stats().EstimatedCount, "URLs seen")
		if err := seen.Close(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// fetch https://go.dev/
	// fetch https://go.dev/doc/
	// about 2 URLs seen
	// about 2 URLs seen
}

// A file belongs to the parameters that it was made with.
func ExampleOpen_otherParameters() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "seen.map")

	f, err := persist.Open(path, 1000, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	_, err = persist.Open(path, 2000, 0.01)
	fmt.Println(errors.Is(err, bloom.ErrIncompatible))
	_, err = persist.Open(path, 1000, 0.01, bloom.WithKey([16]byte{1}))
	fmt.Println(errors.Is(err, bloom.ErrIncompatible))
	// Output:
	// true
	// true
}

// One process adds, another one looks.
func ExampleOpenReadOnly() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "blocked.map")

	list, err := persist.Open(path, 1000, 0.001)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer list.Close()
	guard, err := persist.OpenReadOnly(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer guard.Close()

	list.AddString("spam@example.com")
	fmt.Println(guard.ContainsString("spam@example.com"), guard.Params().N)
	// Output:
	// true 1000
}

// A filter in memory that is saved now and then, and loaded when the program
// starts.
func ExampleSave() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "seen.bloom")

	f, err := persist.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Println("the first time")
		f, err = bloom.New(1000, 0.001)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	f.AddString("key")
	if err := persist.Save(path, f); err != nil {
		fmt.Println(err)
		return
	}

	f, err = persist.Load(path)
	fmt.Println(f.ContainsString("key"), err)
	// Output:
	// the first time
	// true <nil>
}

// The day's mapped filter is put away as a snapshot, in a format that every machine
// reads.
func ExampleFile_Snapshot() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	today, err := persist.Open(filepath.Join(dir, "today.map"), 1000, 0.001)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer today.Close()
	today.AddString("key")

	week := bloom.MustNew(1000, 0.001)
	fmt.Println(week.Union(today.Snapshot()))
	fmt.Println(week.ContainsString("key"))
	fmt.Println(persist.Save(filepath.Join(dir, "today.bloom"), today)) // needs no copy
	// Output:
	// <nil>
	// true
	// <nil>
}

// The filter is made anew every day and replaced while goroutines look keys up. Nobody closes the
// old file: the garbage collector does, when no lookup uses it.
func ExampleFile_replace() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	var current atomic.Pointer[persist.File]
	for _, day := range []string{"monday", "tuesday"} {
		next, err := persist.Open(filepath.Join(dir, day+".map"), 1000, 0.001) // a path of its own
		if err != nil {
			fmt.Println(err)
			return
		}
		next.AddString(day)
		current.Store(next) // not: old.Close()
	}
	fmt.Println(current.Load().ContainsString("monday"), current.Load().ContainsString("tuesday"))
	// Output: false true
}
