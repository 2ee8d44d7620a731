package persist

import "runtime"

// Digest returns the digest of a key, see [bloom.BloomFilter.Digest].
func (f *File) Digest(key []byte) (h1, h2 uint64) {
	m := f.reading("Digest")
	h1, h2 = m.filter.Digest(key)
	runtime.KeepAlive(m)
	return h1, h2
}

// DigestString is [File.Digest] for a string, without copying it.
func (f *File) DigestString(key string) (h1, h2 uint64) {
	m := f.reading("DigestString")
	h1, h2 = m.filter.DigestString(key)
	runtime.KeepAlive(m)
	return h1, h2
}

// AddDigest is [File.Add] for a key whose digest is already known, see [bloom.BloomFilter.AddDigest].
func (f *File) AddDigest(h1, h2 uint64) bool {
	m := f.writing("AddDigest")
	defer runtime.KeepAlive(m)
	return m.filter.AddDigest(h1, h2)
}

// ContainsDigest is [File.Contains] for a key whose digest is already known, see
// [bloom.BloomFilter.AddDigest].
func (f *File) ContainsDigest(h1, h2 uint64) bool {
	m := f.reading("ContainsDigest")
	found := m.filter.ContainsDigest(h1, h2)
	runtime.KeepAlive(m)
	return found
}

// SizeBytes returns the bytes of the bits, see [bloom.BloomFilter.SizeBytes].
func (f *File) SizeBytes() uint64 { return f.reading("SizeBytes").filter.SizeBytes() }
