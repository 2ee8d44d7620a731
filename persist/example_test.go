package persist_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
)

// folder makes a folder for an example.
func folder() string {
	dir, err := os.MkdirTemp("", "persist")
	if err != nil {
		log.Fatal(err)
	}
	return dir
}

// A crawler that may be killed at any time finds its filter as it was.
func ExampleOpen() {
	dir := folder()
	defer os.RemoveAll(dir)
	for range 2 { // the program runs twice
		seen, err := persist.Open(filepath.Join(dir, "seen.map"), 1_000_000, 1e-6)
		if err != nil {
			log.Fatal(err)
		}
		for _, url := range []string{"https://go.dev/", "https://go.dev/doc/"} {
			if seen.AddString(url) {
				fmt.Println("fetch", url)
			}
		}
		fmt.Println("about", seen.Stats().EstimatedCount, "URLs seen")
		if err := seen.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// fetch https://go.dev/
	// fetch https://go.dev/doc/
	// about 2 URLs seen
	// about 2 URLs seen
}

// One process adds, another one looks up.
func ExampleOpenReadOnly() {
	dir := folder()
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "blocked.map")
	list, err := persist.Open(path, 1000, 0.001)
	if err != nil {
		log.Fatal(err)
	}
	defer list.Close()
	guard, err := persist.OpenReadOnly(path)
	if err != nil {
		log.Fatal(err)
	}
	defer guard.Close()
	list.AddString("spam@example.com")
	fmt.Println(guard.ContainsString("spam@example.com"))
	// Output: true
}

// A filter in memory that is saved now and then, and loaded when the program starts.
func ExampleSave() {
	dir := folder()
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "seen.bloom")
	f, err := persist.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Println("the first time")
		f, err = bloom.New(1000, 0.001)
	}
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("key")
	if err := persist.Save(path, f); err != nil {
		log.Fatal(err)
	}
	f, err = persist.Load(path)
	fmt.Println(f.ContainsString("key"), err)
	// Output:
	// the first time
	// true <nil>
}

// The filter is made anew every day and replaced while goroutines look keys up. The old file is
// not closed: the garbage collector closes it when no lookup uses it.
func ExampleFile_replace() {
	dir := folder()
	defer os.RemoveAll(dir)
	var current atomic.Pointer[persist.File]
	for _, day := range []string{"monday", "tuesday"} {
		next, err := persist.Open(filepath.Join(dir, day+".map"), 1000, 0.001)
		if err != nil {
			log.Fatal(err)
		}
		next.AddString(day)
		current.Store(next) // not: old.Close()
	}
	fmt.Println(current.Load().ContainsString("monday"), current.Load().ContainsString("tuesday"))
	// Output: false true
}
