// Package persist keeps Bloom filters in files: as snapshots, and as filters that live in a file.
//
// [Save] writes a snapshot of a filter and [Load] reads it. Whenever the program or the machine
// stops, the file is the old one or the new one, whole. Keys added after the last Save are lost.
//
//	err := persist.Save("seen.bloom", f)
//	f, err := persist.Load("seen.bloom")
//
// [Open] makes or reopens a filter in a memory-mapped file. A key is in the file as soon as Add
// returns, so a killed program loses nothing. Several processes can open the file and share one
// filter. Opening takes the same short time for any size. [File.Sync] makes the keys safe against
// a power cut.
//
//	f, err := persist.Open("seen.map", 1_000_000, 1e-6)
//	if f.AddString(url) {
//		fetch(url) // new, and at most one goroutine of all processes gets true
//	}
//
// The two kinds of file are different, and each function refuses the other kind.
// docs/files.md compares them.
package persist
