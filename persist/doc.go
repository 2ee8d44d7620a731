// Package persist keeps Bloom filters in files: as snapshots, and as memory-mapped files.
//
// [Save] writes a snapshot of a filter and [Load] reads it. If the program or the machine stops
// at any moment, the file is the old one or the new one, whole. Keys added after the last Save
// are lost.
//
//	err := persist.Save("seen.bloom", f)
//	f, err := persist.Load("seen.bloom")
//
// Save takes every kind of filter. [LoadWith] reads kinds other than BloomFilter.
//
// [Open] makes or reopens a filter in a memory-mapped file. A killed program loses no key whose
// Add has returned. Several processes can open the file and share one filter. Opening reads one
// page, whatever the size. [File.Sync] makes the keys safe against a power cut.
//
//	f, err := persist.Open("seen.map", 1_000_000, 1e-6, bloom.WithSecret(secret))
//	if f.AddString(url) {
//		fetch(url) // the URL is new, and no other goroutine of any process got true for it
//	}
//
// A [List] is a snapshot that another program publishes again and again. It follows the file.
//
// Snapshots and mapped files have different formats, and each function refuses the other format.
// [docs/files.md] compares them.
//
// [docs/files.md]: https://github.com/seed3447c163/bloom/blob/main/docs/files.md
package persist
