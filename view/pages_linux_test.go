package view

import (
	"os"
	"syscall"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// TestPageEnds: bytes of every kind, and of lengths that are no whole words, lie at the beginning or the
// end of a page between two that nobody may touch. During lookups, nobody may write to it.
func TestPageEnds(t *testing.T) {
	size := os.Getpagesize()
	memory := must(syscall.Mmap(-1, 0, 3*size, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE))
	defer func() { _ = syscall.Munmap(memory) }()
	page := memory[size : 2*size : 2*size]
	require.NoError(t, syscall.Mprotect(page, syscall.PROT_READ|syscall.PROT_WRITE))
	for _, opts := range kinds() {
		f := bloom.MustNew(200, 0.01, opts...)
		unit := max(map[bloom.Strategy]uint64{bloom.Blocked: 512, bloom.SplitBlock: 256}[f.Scheme().Strategy()], 1)
		for bits := uint64(1000); bits < 1070; bits++ {
			scheme := must(bloom.NewSchemeWithParams(bloom.Params{M: bits / unit * unit, K: f.Params().K}, opts...))
			length := int((scheme.Params().M-1)/8 + 1)
			for _, bytes := range [][]byte{page[:length], page[size-length:]} {
				clear(page)
				own := must(Over(scheme, bytes))
				for i := range 40 {
					own.Add(viewKey(i))
				}
				require.NoError(t, syscall.Mprotect(page, syscall.PROT_READ))
				for i := range 40 {
					require.True(t, own.Contains(viewKey(i)))
				}
				require.NoError(t, syscall.Mprotect(page, syscall.PROT_READ|syscall.PROT_WRITE))
			}
		}
		b, err := NewWriter(10, f.Scheme().Strategy(), opts...)
		if err != nil {
			continue
		}
		for keys := range 40 {
			data, own := b.empty(nil, keys)
			for i := range keys {
				own.Add(viewKey(i))
			}
			for _, at := range []int{0, size - len(data)} {
				v := must(Parse(page[at:][:copy(page[at:], data)]))
				for i := range 40 {
					require.Equal(t, own.Contains(viewKey(i)), v.Contains(viewKey(i)))
				}
			}
		}
	}
}
