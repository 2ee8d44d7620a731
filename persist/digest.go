package persist

import "runtime"

// AddDigest is [File.Add] for a key whose digest is already known, for example from f.Scheme().Digest; see
// [bloom.BloomFilter.AddDigest].
func (f *File) AddDigest(h1, h2 uint64) bool {
	m := f.writing("AddDigest")
	defer runtime.KeepAlive(m)
	return m.filter.AddDigest(h1, h2)
}

// ContainsDigest is [File.Contains] for a key whose digest is already known, see [File.AddDigest].
func (f *File) ContainsDigest(h1, h2 uint64) bool {
	m := f.reading("ContainsDigest")
	found := m.filter.ContainsDigest(h1, h2)
	runtime.KeepAlive(m)
	return found
}

// SizeBytes returns the number of bytes that the bits take.
func (f *File) SizeBytes() uint64 { return f.reading("SizeBytes").filter.SizeBytes() }
