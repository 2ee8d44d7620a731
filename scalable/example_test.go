package scalable_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/scalable"
)

func Example() {
	f, err := scalable.New(1000, 0.01) // a thousand keys, or more
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 10_000 {
		if _, err := f.AddString(fmt.Sprint("user ", i)); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(f.ContainsString("user 9999"))
	for _, l := range f.Layers() {
		fmt.Printf("%5d keys at a rate of %.4f\n", l.N, l.P)
	}
	fmt.Println("below 1 %:", f.Stats().EstimatedFalsePositiveRate < 0.01)
	// Output:
	// true
	//  1000 keys at a rate of 0.0050
	//  2000 keys at a rate of 0.0017
	//  4000 keys at a rate of 0.0008
	//  8000 keys at a rate of 0.0005
	// below 1 %: true
}

func ExampleErrFull() {
	f, err := scalable.New(1000, 0.01, bloom.WithMaxBytes(10_000))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 10_000 {
		if _, err := f.AddString(fmt.Sprint("user ", i)); errors.Is(err, scalable.ErrFull) {
			fmt.Printf("%d keys: %v\n", i/1000*1000, err)
			return
		}
	}
	// Output:
	// 3000 keys: scalable: filter full: filter too large: layer 2 would make it 12104 bytes, want at most 10000
}

// The bytes of a number are the key. The buffer stays on the stack, so nothing is allocated.
func ExampleFilter_Add() {
	f, err := scalable.New(1000, 0.001)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range []uint64{4711, 815, 4711} {
		var buf [8]byte
		added, err := f.Add(binary.LittleEndian.AppendUint64(buf[:0], id))
		fmt.Println(id, added, err)
	}
	// Output:
	// 4711 true <nil>
	// 815 true <nil>
	// 4711 false <nil>
}

// If the machine stops, the file has the old snapshot or the new one.
func ExampleRead() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "users.bloom")

	f, err := scalable.New(1000, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	f.AddString("gopher")
	if err := persist.Save(path, f); err != nil {
		fmt.Println(err)
		return
	}

	file, err := os.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	again, err := scalable.Read(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.ContainsString("gopher"))
	// Output:
	// true
}
