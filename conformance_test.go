package bloom_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"io"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// filled returns a filter of n keys with room for more.
func filled(n uint64, opts ...bloom.Option) *bloom.BloomFilter {
	f := bloom.MustNew(n+1, 0.01, opts...)
	for i := range n {
		f.Add([]byte{byte(i)})
	}
	return f
}

// TestConformance of all that the package writes to bytes, for every strategy and hash that a file names.
func TestConformance(t *testing.T) {
	scheme := func(f *bloom.BloomFilter) io.WriterTo {
		return conformance.Encoded(func() ([]byte, error) { return f.Scheme().AppendBinary(nil) })
	}
	var values, schemes []io.WriterTo
	for _, s := range bloom.Strategies() {
		for _, h := range conformance.Hashes() {
			f, err := bloom.New(20, 0.01, bloom.WithStrategy(s), bloom.WithHash(h), bloom.WithSeed(7))
			if err != nil || f.Scheme().Portable() != nil {
				continue
			}
			f.AddString("key")
			values, schemes = append(values, f), append(schemes, scheme(f))
		}
	}
	large, err := testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{M: 1<<24 + 1, K: 3}))
	require.NoError(t, err)
	for i := range 1000 {
		large.Add([]byte{byte(i), byte(i >> 8)})
	}
	conformance.Format{
		Values: values, Large: large, Zero: []io.WriterTo{new(bloom.BloomFilter)}, Read: conformance.Reader(bloom.Read), Sealed: true, Stream: true,
		Earlier: conformance.Written(t, filled(5)), Later: conformance.Written(t, filled(5, bloom.WithSeed(2))),
	}.Test(t)
	secret := bloom.WithSecret([16]byte{1})
	conformance.Format{
		Values: []io.WriterTo{filled(9, secret)}, Sealed: true, Stream: true,
		Read: conformance.Reader(func(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
			return bloom.Read(r, append(opts, secret)...)
		}),
	}.Test(t)
	conformance.Format{
		Values: schemes, Zero: []io.WriterTo{scheme(new(bloom.BloomFilter))}, Sealed: true, Stream: true,
		Read: func(r io.Reader, opts ...bloom.Option) (io.WriterTo, error) {
			s, err := bloom.ReadScheme(r, opts...)
			return conformance.Encoded(func() ([]byte, error) { return s.AppendBinary(nil) }), err
		},
	}.Test(t)

	for _, c := range []struct {
		format conformance.Format
		encode func(f *bloom.BloomFilter) conformance.Encoded
		decode func(data []byte, f *bloom.BloomFilter) error
	}{
		{conformance.Format{Sealed: true}, func(f *bloom.BloomFilter) conformance.Encoded { return f.MarshalBinary }, func(data []byte, f *bloom.BloomFilter) error { return f.UnmarshalBinary(data) }},
		{conformance.Format{Sealed: true}, func(f *bloom.BloomFilter) conformance.Encoded { return f.MarshalText }, func(data []byte, f *bloom.BloomFilter) error { return f.UnmarshalText(data) }},
		{conformance.Format{Sealed: true, AnyError: true}, func(f *bloom.BloomFilter) conformance.Encoded {
			return func() ([]byte, error) { return json.Marshal(f) }
		},
			func(data []byte, f *bloom.BloomFilter) error { return json.Unmarshal(data, f) }},
		{conformance.Format{AnyError: true}, func(f *bloom.BloomFilter) conformance.Encoded {
			return func() ([]byte, error) {
				var b bytes.Buffer
				err := gob.NewEncoder(&b).Encode(f)
				return b.Bytes(), err
			}
		}, func(data []byte, f *bloom.BloomFilter) error {
			r := bytes.NewReader(data)
			err := gob.NewDecoder(r).Decode(f)
			if err == nil && r.Len() > 0 {
				err = io.ErrNoProgress // a gob stream may hold more
			}
			if err == nil && f.Scheme() == nil {
				err = io.ErrUnexpectedEOF // it may also hold nothing
			}
			return err
		}},
	} {
		c.format.Read = conformance.Whole(func(data []byte) (io.WriterTo, error) {
			f := new(bloom.BloomFilter)
			if err := c.decode(data, f); err != nil {
				return nil, err
			}
			return c.encode(f), nil
		})
		for _, v := range values {
			c.format.Values = append(c.format.Values, c.encode(v.(*bloom.BloomFilter)))
		}
		c.format.Zero = []io.WriterTo{c.encode(new(bloom.BloomFilter))}
		c.format.Test(t)
	}
}
