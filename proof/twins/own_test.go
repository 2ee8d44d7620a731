package twins

// Hashes and strategies of a user's own, and what options may say.
var ownTwins = []twin{
	{name: "an own hash is left out of Add", tests: []string{"TestOwnHashIsTheHash"}, edits: []edit{{"bloom.go", `	case idOwnHash64:
		h1 := f.scheme.hash.hash.sum64(unescaped(key))`, `	case idOwnHash64:
		h1, _ := murmur3.SeedSum128(f.seed, f.seed, key)`, 2}}},
	{name: "an own hash is not compared", tests: []string{"TestOwnHashIsTheIdentity"}, edits: one("hash.go", `d.name == other.name && d.serial == other.serial`, `true`)},
	{name: "a file with another own hash is read", tests: []string{"TestOwnHashIsTheIdentity"}, edits: one("header.go", `want.hash != nil && want.hash.name == h.hash {`, `want.hash != nil && want.hash.own() {`)},
	{name: "a key of an own hash escapes", tests: []string{"TestNoAllocations"}, edits: one("escape.go", `	p := uintptr(unsafe.Pointer(unsafe.SliceData(key)))
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), len(key))`, `	_ = unsafe.Pointer(nil)
	return key`)},
	{name: "equal 64-bit digests are not part of the rate", tests: []string{"TestOwnHashRefused"}, edits: one("hash.go", `if h.hash.bits == 64 {`, `if h.hash == &mapHash {`)},
	{name: "Digest64 leaves the value as it is", tests: []string{"TestDigest64KeepsTheRate", "TestDigest64Vectors"}, edits: one("digest.go", `	return x, widen(x)`, `	return v, widen(x)`)},
	{name: "a rotation for the second half", tests: []string{"TestDigest64KeepsTheRate", "TestDigest64Vectors"}, edits: one("digest.go", `	return x ^ x>>32`, `	return x<<32 | x>>32`)},
	{name: "a nil option", tests: []string{"TestHashOptionsThatExcludeEachOther"}, edits: one("options.go", `		if opt == nil {
			return o, fmt.Errorf("%w: option %d of %d is nil", ErrInvalid, i+1, len(opts))
		}
`, `		_ = i
`)},
	{name: "the zero Hash is the default", tests: []string{"TestHashOptionsThatExcludeEachOther", "TestOwnHashRefused"}, edits: one("hash_own.go", `	case d == nil:
		return fmt.Errorf("%w: the hash is the zero Hash, want one such as Murmur3", ErrInvalid)`, `	case d == nil:
		return nil`)},
	{name: "a hostile name is not quoted", tests: []string{"TestForgedFields"}, edits: one("header.go", `the data's hash is %q, want one of that name by WithHash`, `the data's hash is %s, want one of that name by WithHash`)},
	{name: "filters follow the variables", tests: []string{"TestVariablesAreNotTheFilters"}, edits: one("options.go", `strategy: Strategy{&doubleHashing}`, `strategy: DoubleHashing`)},
}

func init() { twins = append(twins, ownTwins...) }
