package persist_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/scalable"
)

// folder makes a folder for an example.
func folder() string {
	dir, err := os.MkdirTemp("", "persist")
	if err != nil {
		log.Fatal(err)
	}
	return dir
}

// secret is 16 random bytes that only the program's configuration has. Strangers choose the keys of
// these examples. Without a secret they could choose keys that fill the filter.
var secret = bloom.WithSecret([16]byte{0x5f, 0x1c, 0x99})

// A crawler that may be killed at any time finds its filter as it was.
func ExampleOpen() {
	dir := folder()
	defer os.RemoveAll(dir)
	for range 2 { // the program runs twice
		seen, err := persist.Open(filepath.Join(dir, "seen.map"), 1_000_000, 1e-6, secret)
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

// A filter in memory that is saved now and then, and loaded when the program starts.
func ExampleSave() {
	dir := folder()
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "seen.bloom")
	f, err := persist.Load(path, secret)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Println("the first time")
		f, err = bloom.New(1000, 0.001, secret)
	}
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("key")
	if err := persist.Save(path, f); err != nil {
		log.Fatal(err)
	}
	f, err = persist.Load(path, secret)
	fmt.Println(f.ContainsString("key"), err)
	// Output:
	// the first time
	// true <nil>
}

// A filter of another kind is saved in the same way. LoadWith reads it.
func ExampleLoadWith() {
	dir := folder()
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "grows.bloom")
	f, err := scalable.New(1000, 0.001)
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("key")
	if err := persist.Save(path, f); err != nil {
		log.Fatal(err)
	}
	f, err = persist.LoadWith(path, scalable.Read)
	fmt.Println(f.ContainsString("key"), err)
	// Output: true <nil>
}

// publish replaces a list of leaked passwords.
func publish(path string, passwords ...string) {
	f := bloom.MustNew(1000, 1e-6)
	for _, key := range passwords {
		f.AddString(key)
	}
	if err := persist.Save(path, f); err != nil {
		log.Fatal(err)
	}
}

// Watch reads each new list. It runs in a goroutine of its own.
func ExampleList_Watch() {
	dir := folder()
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "leaked.bloom")
	publish(path, "123456")
	leaked, err := persist.OpenList(path)
	if err != nil {
		log.Fatal(err)
	}
	publish(path, "123456", "password")
	ctx, stop := context.WithCancel(context.Background())
	err = leaked.Watch(ctx, time.Millisecond, func(changed bool, err error) {
		fmt.Println(changed, err, leaked.ContainsString("password"))
		stop() // a program goes on
	})
	fmt.Println(err)
	// Output:
	// true <nil> true
	// context canceled
}
