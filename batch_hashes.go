package bloom

// AddDigests is [BloomFilter.AddMany] for keys whose digests are already known: it adds
// them as [BloomFilter.AddDigest] does one after the other, and faster if the filter is
// larger than the cache. Each element is (h1, h2).
//
// It panics if added is neither nil nor as long as digests, and where AddDigest does.
func (f *BloomFilter) AddDigests(digests [][2]uint64, added []bool) (count int) {
	checkAnswers(len(digests), added)
	var d digestGroups
	for first, end := d.start(f, digests, true); first < len(digests); first, end = d.next(f, digests, true) {
		count += f.addGroup(d.group(first, end), group(added, first, end))
	}
	return count
}

// ContainsDigests is [BloomFilter.ContainsMany] for keys whose digests are already
// known: it asks for them as [BloomFilter.ContainsDigest] does one after the other, and
// faster if the filter is larger than the cache.
//
// It panics if found is neither nil nor as long as digests, and where ContainsDigest does.
func (f *BloomFilter) ContainsDigests(digests [][2]uint64, found []bool) (count int) {
	checkAnswers(len(digests), found)
	var d digestGroups
	for first, end := d.start(f, digests, false); first < len(digests); first, end = d.next(f, digests, false) {
		count += f.containsGroup(d.group(first, end), group(found, first, end))
	}
	return count
}

// digestGroups go through digests group by group: while one is worked on, the lines of the
// next are on their way.
type digestGroups struct {
	two   [2]digests
	first int
}

func (d *digestGroups) start(f *BloomFilter, all [][2]uint64, write bool) (first, end int) {
	d.take(f, all, 0, write)
	d.first = -batchSize
	return d.next(f, all, write)
}

func (d *digestGroups) next(f *BloomFilter, all [][2]uint64, write bool) (first, end int) {
	d.first += batchSize
	end = min(d.first+batchSize, len(all))
	d.take(f, all, d.first+batchSize, write)
	return d.first, end
}

// take copies the group that begins there, and asks for its lines.
func (d *digestGroups) take(f *BloomFilter, all [][2]uint64, first int, write bool) {
	if first >= len(all) {
		return
	}
	group := d.two[first/batchSize%2][:min(batchSize, len(all)-first)]
	for i := range group {
		group[i] = digest128{all[first+i][0], all[first+i][1]}
	}
	if f.prefetches() {
		f.prefetch(group, write)
	}
}

func (d *digestGroups) group(first, end int) []digest128 {
	return d.two[first/batchSize%2][:end-first]
}
