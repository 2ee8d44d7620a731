package bloom

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
)

// headerBytes returns h, the size of the header with a name of the given length.
func headerBytes(nameLen int) int {
	return (fixedHeader + nameLen + headerUnit - 1) / headerUnit * headerUnit
}

// appendHeader appends the header of a filter with this scheme.
func (s *scheme) appendHeader(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, fileMagic...)
	dst = append(dst, fileVersion)
	dst = append(dst, 0, 0, 0, 0) // the checksum
	dst = append(dst, byte(s.params.K), byte(s.strategy.id()), byte(s.hash.hash.id), byte(len(s.strategy.Name())))
	dst = binary.LittleEndian.AppendUint64(dst, s.params.M)
	dst = binary.LittleEndian.AppendUint64(dst, s.params.N)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(s.params.P))
	dst = binary.LittleEndian.AppendUint64(dst, s.hash.check())
	dst = append(dst, s.strategy.Name()...)
	for (len(dst)-start)%headerUnit != 0 {
		dst = append(dst, 0)
	}
	binary.LittleEndian.PutUint32(dst[start+checkAt:], headerSum(dst[start:]))
	return dst
}

// headerSum returns the checksum of a whole header. The field itself is not part
// of it, and not at the header's end: a CRC over bytes and their own CRC is always
// the same number, and would not tie the words to this header.
func headerSum(header []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(header[:checkAt]), crc32.IEEETable, header[checkAt+4:])
}

// portable says why a filter with this scheme would mean nothing elsewhere.
func (s *scheme) portable() error {
	name := s.strategy.Name()
	switch {
	case s.strategy.id() == idNone:
		return fmt.Errorf("%w: a BloomFilter that was not made by New", ErrInvalid)
	case s.hash.hash == &mapHash:
		return fmt.Errorf("%w: its hash is %v, want Murmur3 or a key", ErrNotPortable, MapHash)
	case s.strategy.id() == idCustom && name == "":
		return fmt.Errorf("%w: its strategy has no name", ErrNotPortable)
	case len(name) > maxName:
		return fmt.Errorf("%w: its strategy's name has %d bytes, want at most %d", ErrNotPortable, len(name), maxName)
	}
	return nil
}

// A header is what the bytes say, before it is known whether it makes sense.
type header struct {
	params   Params
	strategy strategyID
	name     string
	hash     hashID
	check    uint64
}

// header reads the header and checks that it is undamaged and of this version.
func (in *source) header() (header, error) {
	const what = "the header"
	buf := make([]byte, headerUnit, headerBytes(maxName))
	err := in.full(buf, what)
	if begin := buf[:min(in.n, int64(len(fileMagic)))]; in.n > 0 && !strings.HasPrefix(fileMagic, string(begin)) {
		return header{}, fmt.Errorf("%w: it begins with %q, want %q", ErrCorrupt, begin, fileMagic)
	}
	if err != nil {
		return header{}, err
	}
	nameLen := int(buf[15])
	buf = buf[:headerBytes(nameLen)]
	if err := in.full(buf[headerUnit:], what); err != nil {
		return header{}, err
	}
	if got, want := headerSum(buf), binary.LittleEndian.Uint32(buf[checkAt:]); got != want {
		return header{}, fmt.Errorf("%w: the header has checksum %#08x, want %#08x", ErrCorrupt, got, want)
	}
	if version := buf[len(fileMagic)]; version != fileVersion {
		return header{}, fmt.Errorf("%w: the data has format version %d, want %d", ErrIncompatible, version, fileVersion)
	}
	name, padding := buf[fixedHeader:][:nameLen], buf[fixedHeader+nameLen:]
	if i := slices.IndexFunc(padding, func(b byte) bool { return b != 0 }); i >= 0 {
		return header{}, fmt.Errorf("%w: byte %d of the header is %#x, want 0", ErrCorrupt, fixedHeader+nameLen+i, padding[i])
	}
	return header{
		params: Params{
			K: int(buf[12]),
			M: binary.LittleEndian.Uint64(buf[16:]),
			N: binary.LittleEndian.Uint64(buf[24:]),
			P: math.Float64frombits(binary.LittleEndian.Uint64(buf[32:])),
		},
		strategy: strategyID(buf[13]),
		name:     string(name),
		hash:     hashID(buf[14]),
		check:    binary.LittleEndian.Uint64(buf[40:]),
	}, nil
}

// scheme checks the header's fields against each other and against what the reader
// asked for.
func (h *header) scheme(o options) (*scheme, error) {
	made := options{maxBytes: o.maxBytes}
	var err error
	if made.strategy, err = h.findStrategy(o.strategy); err != nil {
		return nil, err
	}
	if err := h.findHash(o, &made); err != nil {
		return nil, err
	}
	s, err := given(h.params, made)
	if errors.Is(err, ErrInvalid) {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return s, err
}

// findStrategy returns the strategy of the header, which must be the wanted one,
// if any.
func (h *header) findStrategy(want Strategy) (Strategy, error) {
	var found Strategy
	switch {
	case h.strategy == idNone || h.strategy == idBlocked || h.strategy == idCustom && h.name == "":
		return found, fmt.Errorf("%w: strategy %d %q, which no filter has", ErrCorrupt, h.strategy, h.name)
	case h.strategy == idCustom && want.def == nil:
		return found, fmt.Errorf("%w: the data's strategy is %q, want one of that name by WithStrategy", ErrIncompatible, h.name)
	case h.strategy == idCustom:
		if want.id() != idCustom || want.Name() != h.name {
			return found, fmt.Errorf("%w: the data's strategy is %q, want %q", ErrIncompatible, h.name, want)
		}
		return want, nil
	}
	i := slices.IndexFunc(builtins, func(d *definition) bool { return d.id == h.strategy })
	if i < 0 {
		return found, fmt.Errorf("%w: the data's strategy is number %d, %q, which this version does not know", ErrIncompatible, h.strategy, h.name)
	}
	if found = (Strategy{builtins[i]}); found.Name() != h.name {
		return found, fmt.Errorf("%w: strategy %d is named %q, want %q", ErrCorrupt, h.strategy, h.name, found)
	}
	if want.def != nil && want != found && !(want.id() == idBlocked && found.blocked()) {
		return found, fmt.Errorf("%w: the data's strategy is %q, want %q", ErrIncompatible, found, want)
	}
	return found, nil
}

// findHash puts the header's hash into made. It must be the one that want asks
// for, if any.
func (h *header) findHash(want options, made *options) error {
	var name string
	switch h.hash {
	case idMurmur3:
		name = murmur3Hash.name
		made.seed = &h.check
	case idSipHash:
		name = sipHash.name
		made.key = want.key
	case idMapHash:
		return fmt.Errorf("%w: its hash is %v, which is never written", ErrCorrupt, MapHash)
	default:
		return fmt.Errorf("%w: the data's hash is number %d, which this version does not know", ErrIncompatible, h.hash)
	}
	if want.hash != nil && want.hash.name != name {
		return fmt.Errorf("%w: the data's hash is %q, want %q", ErrIncompatible, name, want.hash.name)
	}
	switch h.hash {
	case idMurmur3:
		if want.key != nil {
			return fmt.Errorf("%w: the data's hash is %q without a key, want the given key", ErrIncompatible, name)
		}
		if want.seed != nil && *want.seed != h.check {
			return fmt.Errorf("%w: the data's seed is %d, want %d", ErrIncompatible, h.check, *want.seed)
		}
	case idSipHash:
		if want.seed != nil {
			return fmt.Errorf("%w: the data's hash is %q with a secret key, want seed %d", ErrIncompatible, name, *want.seed)
		}
		if want.key == nil {
			return fmt.Errorf("%w: the data's hash is %q, want its secret key by WithKey", ErrIncompatible, name)
		}
		if k := keyedHasher(*want.key); k.check() != h.check {
			return fmt.Errorf("%w: the data was made with another secret key than the given one", ErrIncompatible)
		}
	}
	return nil
}
