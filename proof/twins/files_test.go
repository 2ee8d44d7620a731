package twins

// Files and streams: a writer that forgets, a decoder without one of its checks, a
// Save without one of its steps.
var fileTwins = []twin{
	{name: "a word of the file is not written", tests: []string{"TestGoldenFiles", "TestRoundTrip"}, edits: one("internal/format/write.go", `le.PutUint64(o[56:], w[7].Load())`, `le.PutUint64(o[56:], w[6].Load())`)},
	{name: "decoder: the header's checksum", tests: []string{"TestDamagedHeaderIsNotFollowed"}, edits: one("internal/format/header.go", `sum(buf), binary.LittleEndian.Uint32(buf[checkAt:]); got != want {`, `sum(buf), binary.LittleEndian.Uint32(buf[checkAt:]); false && got != want {`)},
	{name: "decoder: the checksum of the words", tests: []string{"TestEveryBitFlipAndTruncation", "TestOtherDamage"}, edits: one("internal/format/read.go", `	if !bytes.Equal(got, want) {`, `	if false && !bytes.Equal(got, want) {`)},
	{name: "decoder: half of the checksum", tests: []string{"TestEveryBitFlipAndTruncation"}, edits: one("internal/format/read.go", `	if !bytes.Equal(got, want) {`, `	if !bytes.Equal(got[:4], want[:4]) {`)},
	{name: "decoder: padding", tests: []string{"TestForgedFields"}, edits: one("internal/format/header.go", `(i == 15 || i >= hashEnd) && b != 0 {`, `(i == 15 || i >= hashEnd) && b > 255 {`)},
	{name: "decoder: the version", tests: []string{"TestForgedFields"}, edits: one("internal/format/header.go", `got != version {`, `got == 0 {`)},
	{name: "decoder: bits beyond m", tests: []string{"TestForgedFields"}, edits: one("bitarray.go", `last>>tail != 0`, `last>>tail == 1<<63`)},
	{name: "decoder: bytes after the end", tests: []string{"TestUnmarshalTakesAllOrNothing"}, edits: one("decoding.go", `	case r.Len() > 0:`, `	case r.Len() > 1<<20:`)},
	{name: "decoder: the secret key", tests: []string{"TestReadOptionsMustAgree"}, edits: one("header.go", `h.checkValue() != check {`, `h.checkValue() == 0 {`)},
	{name: "decoder: believes the header's length", tests: []string{"TestLyingHeaderAllocatesLittle"}, edits: one("internal/format/read.go", `	room := min(total, unit)`, `	room := min(total, 1<<20)`)},
	{name: "decoder: the caller's limit", tests: []string{"TestWithMaxBytes"}, edits: one("options.go", `bytes > o.maxBytes {`, `bytes > o.maxBytes && false {`)},

	{name: "Save without fsync", in: "persist", tests: []string{"TestPowerCutWhileSaving"}, edits: one("persist/save.go", `err = file.Sync()`, `err = error(nil)`)},
	{name: "Save without the fsync of the folder", in: "persist", tests: []string{"TestPowerCutWhileSaving"}, slow: true, edits: one("persist/save.go", `return files.syncDir(folder(path))`, `return nil`)},
	{name: "a mapped file whose header is not checked", in: "persist", tests: []string{"TestEveryTruncationAndHeaderBit"}, edits: one("persist/header.go", `check(page); got != want {`, `check(page); false && got != want {`)},
}
