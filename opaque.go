package bloom

import (
	"log/slog"

	"github.com/seed3447c163/bloom/internal/opaque"
)

// Encoders that look for exported fields find none in these types and would write an empty value, without an
// error. So the types have the methods that such encoders call.

const (
	wantName   = "its Name"
	wantBinary = "MarshalBinary"
	wantAppend = "AppendBinary and ReadScheme"
	wantFilter = "its Filter"
)

// LogValue is String, for package log/slog.
func (s Strategy) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns an error that wraps errors.ErrUnsupported, also to encoding/json: store the Name.
func (s Strategy) MarshalText() ([]byte, error) { return nil, opaque.Refused("text", wantName) }

// MarshalBinary returns an error that wraps errors.ErrUnsupported.
func (s Strategy) MarshalBinary() ([]byte, error) { return nil, opaque.Refused("binary", wantName) }

// MarshalBSONValue returns an error that wraps errors.ErrUnsupported.
func (s Strategy) MarshalBSONValue() (byte, []byte, error) {
	return 0, nil, opaque.Refused("BSON", wantName)
}

// LogValue is String, for package log/slog.
func (h Hash) LogValue() slog.Value { return slog.StringValue(h.String()) }

// MarshalText returns an error that wraps errors.ErrUnsupported, also to encoding/json: store the Name.
func (h Hash) MarshalText() ([]byte, error) { return nil, opaque.Refused("text", wantName) }

// MarshalBinary returns an error that wraps errors.ErrUnsupported.
func (h Hash) MarshalBinary() ([]byte, error) { return nil, opaque.Refused("binary", wantName) }

// MarshalBSONValue returns an error that wraps errors.ErrUnsupported.
func (h Hash) MarshalBSONValue() (byte, []byte, error) {
	return 0, nil, opaque.Refused("BSON", wantName)
}

// LogValue is String, for package log/slog.
func (s Scheme) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns an error that wraps errors.ErrUnsupported, also to encoding/json: store the bytes of
// AppendBinary.
func (s Scheme) MarshalText() ([]byte, error) { return nil, opaque.Refused("text", wantAppend) }

// MarshalBinary returns an error that wraps errors.ErrUnsupported: without [ReadScheme], a secret and custom
// functions would be missing.
func (s Scheme) MarshalBinary() ([]byte, error) { return nil, opaque.Refused("binary", wantAppend) }

// MarshalBSONValue returns an error that wraps errors.ErrUnsupported.
func (s Scheme) MarshalBSONValue() (byte, []byte, error) {
	return 0, nil, opaque.Refused("BSON", wantAppend)
}

// MarshalBSONValue returns an error that wraps errors.ErrUnsupported: store the bytes of MarshalBinary.
func (f BloomFilter) MarshalBSONValue() (byte, []byte, error) {
	return 0, nil, opaque.Refused("BSON", wantBinary)
}

// String describes the builder in one line. The filter is not finished, so the line has no numbers of keys or bits.
func (b *Builder) String() string {
	if b.f == nil {
		return "bloom.Builder(no filter)"
	}
	return "bloom.Builder(" + b.f.Scheme().String() + ")"
}

// LogValue is String, for package log/slog.
func (b *Builder) LogValue() slog.Value { return slog.StringValue(b.String()) }

// MarshalText returns an error that wraps errors.ErrUnsupported, also to encoding/json: store the Filter.
func (b *Builder) MarshalText() ([]byte, error) { return nil, opaque.Refused("text", wantFilter) }

// MarshalBinary returns an error that wraps errors.ErrUnsupported.
func (b *Builder) MarshalBinary() ([]byte, error) { return nil, opaque.Refused("binary", wantFilter) }

// MarshalBSONValue returns an error that wraps errors.ErrUnsupported.
func (b *Builder) MarshalBSONValue() (byte, []byte, error) {
	return 0, nil, opaque.Refused("BSON", wantFilter)
}
