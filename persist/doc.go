// Package persist keeps Bloom filters in files: as snapshots that are whole or
// not there at all, and as filters that live in a file.
//
// [Save] writes a snapshot of a filter, [Load] reads it. Whenever the program or
// the machine stops, the file is the old one or the new one, never half of one.
// What was added since the last Save is lost.
//
//	err := persist.Save("seen.bloom", f)
//	f, err := persist.Load("seen.bloom")
//
// [Open] makes or reopens a filter in a memory-mapped file. An added key is in the
// file the moment that Add returns, so a program that is killed loses nothing;
// several processes may have the file open and share one filter; reopening takes
// no time, whatever the size. [File.Sync] makes it safe against a power cut, too.
//
//	f, err := persist.Open("seen.map", 1_000_000, 0.01)
//	if f.AddString(url) {
//		fetch(url) // definitely new, and no other goroutine of any process gets true
//	}
//
// The two kinds of file are different, and each function refuses the other kind.
// docs/files.md compares them.
package persist
