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

// headerBytes returns h, the size of the header with names that have so many bytes.
func headerBytes(names int) int {
	return (fixedHeader + names + headerUnit - 1) / headerUnit * headerUnit
}

// headerBytes returns the size of the scheme's header.
func (s *scheme) headerBytes() int {
	return headerBytes(len(s.strategy.Name()) + len(s.hash.hash.name))
}

// appendHeader appends the header of a filter with this scheme.
func (s *scheme) appendHeader(dst []byte) []byte {
	start := len(dst)
	strategy, hash := s.strategy.Name(), s.hash.hash.name
	dst = append(dst, fileMagic...)
	dst = append(dst, fileVersion)
	dst = append(dst, 0, 0, 0, 0) // the checksum
	dst = append(dst, byte(s.params.K), byte(len(strategy)), byte(len(hash)), 0)
	dst = binary.LittleEndian.AppendUint64(dst, s.params.M)
	dst = binary.LittleEndian.AppendUint64(dst, s.params.N)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(s.params.P))
	dst = binary.LittleEndian.AppendUint64(dst, s.hash.check())
	dst = append(dst, strategy...)
	dst = append(dst, hash...)
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
	switch {
	case s.strategy.def == nil:
		return fmt.Errorf("%w: a BloomFilter that was not made by New", ErrInvalid)
	case s.hash.hash == &mapHash:
		return fmt.Errorf("%w: its hash is %v, want Murmur3 or a key", ErrNotPortable, MapHash)
	case s.hash.hash.name == "":
		return fmt.Errorf("%w: its hash has no name", ErrNotPortable)
	case s.strategy.Name() == "":
		return fmt.Errorf("%w: its strategy has no name", ErrNotPortable)
	}
	return nil
}

// A header is what the bytes say, before it is known whether it makes sense.
type header struct {
	params         Params
	strategy, hash string
	check          uint64
}

// header reads the header and checks that it is undamaged and of this version.
func (in *source) header() (header, error) {
	const what = "the header"
	buf := make([]byte, headerUnit, headerBytes(2*maxName))
	err := in.full(buf, what)
	if begin := buf[:min(in.n, int64(len(fileMagic)))]; in.n > 0 && !strings.HasPrefix(fileMagic, string(begin)) {
		return header{}, fmt.Errorf("%w: it begins with %q, want %q", ErrCorrupt, begin, fileMagic)
	}
	if err != nil {
		return header{}, err
	}
	strategyEnd := fixedHeader + int(buf[13])
	hashEnd := strategyEnd + int(buf[14])
	buf = buf[:headerBytes(hashEnd-fixedHeader)]
	if err := in.full(buf[headerUnit:], what); err != nil {
		return header{}, err
	}
	if got, want := headerSum(buf), binary.LittleEndian.Uint32(buf[checkAt:]); got != want {
		return header{}, fmt.Errorf("%w: the header has checksum %#08x, want %#08x", ErrCorrupt, got, want)
	}
	if version := buf[len(fileMagic)]; version != fileVersion {
		return header{}, fmt.Errorf("%w: the data has format version %d, want %d", ErrIncompatible, version, fileVersion)
	}
	for i, b := range buf {
		if (i == 15 || i >= hashEnd) && b != 0 {
			return header{}, fmt.Errorf("%w: byte %d of the header is %#x, want 0", ErrCorrupt, i, b)
		}
	}
	return header{
		params: Params{
			K: int(buf[12]),
			M: binary.LittleEndian.Uint64(buf[16:]),
			N: binary.LittleEndian.Uint64(buf[24:]),
			P: math.Float64frombits(binary.LittleEndian.Uint64(buf[32:])),
		},
		strategy: string(buf[fixedHeader:strategyEnd]),
		hash:     string(buf[strategyEnd:hashEnd]),
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
	if made.hash, err = h.findHash(o); err != nil {
		return nil, err
	}
	if made.hash == &sipHash {
		made.key, made.hash = o.key, nil
	} else {
		made.seed = &h.check
		if made.hash.own() {
			made.seed = nil
		}
	}
	s, err := given(h.params, made)
	if errors.Is(err, ErrInvalid) {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if err == nil && s.hash.check() != h.check {
		return nil, fmt.Errorf("%w: seed %d with hash %q, which no filter has", ErrCorrupt, h.check, h.hash)
	}
	return s, err
}

// findStrategy returns the strategy of the header's name: the wanted one, or one of this
// package.
func (h *header) findStrategy(want Strategy) (Strategy, error) {
	var found Strategy
	if want.def != nil && want.Name() == h.strategy && want != (Strategy{&blocked}) {
		return want, nil
	}
	if i := slices.IndexFunc(builtins, func(d *definition) bool { return d.name == h.strategy }); i >= 0 {
		found = Strategy{builtins[i]}
	}
	switch {
	case h.strategy == "" || found.id() == idBlocked:
		return found, fmt.Errorf("%w: strategy %q, which no filter has", ErrCorrupt, h.strategy)
	case want.id() == idBlocked && found.blocked():
		return found, nil
	case want.def != nil:
		return found, fmt.Errorf("%w: the data's strategy is %q, want %q", ErrIncompatible, h.strategy, want)
	case found.def == nil:
		return found, fmt.Errorf("%w: the data's strategy is %q, want one of that name by WithStrategy", ErrIncompatible, h.strategy)
	}
	return found, nil
}

// findHash returns the hash of the header's name: the wanted one, or one of this package.
func (h *header) findHash(want options) (*hashDefinition, error) {
	found := builtinHash(h.hash)
	if want.hash != nil && want.hash.name == h.hash {
		found = want.hash
	}
	switch {
	case h.hash == "":
		return nil, fmt.Errorf("%w: hash %q, which no filter has", ErrCorrupt, h.hash)
	case found == &mapHash:
		return nil, fmt.Errorf("%w: its hash is %v, which is never written", ErrCorrupt, MapHash)
	case want.hash != nil && want.hash != found:
		return nil, fmt.Errorf("%w: the data's hash is %q, want %q", ErrIncompatible, h.hash, want.hash.name)
	case found == nil:
		return nil, fmt.Errorf("%w: the data's hash is %q, want one of that name by WithHash", ErrIncompatible, h.hash)
	case found != &sipHash && want.key != nil:
		return nil, fmt.Errorf("%w: the data's hash is %q without a key, want the given key", ErrIncompatible, h.hash)
	case found == &sipHash && want.seed != nil:
		return nil, fmt.Errorf("%w: the data's hash is %q with a secret key, want seed %d", ErrIncompatible, h.hash, *want.seed)
	case found == &sipHash && want.key == nil:
		return nil, fmt.Errorf("%w: the data's hash is %q, want its secret key by WithKey", ErrIncompatible, h.hash)
	}
	if found == &sipHash {
		if k := keyedHasher(*want.key); k.check() != h.check {
			return nil, fmt.Errorf("%w: the data was made with another secret key than the given one", ErrIncompatible)
		}
	} else if seed := want.seed; seed != nil {
		if s := murmurSeed(*seed); *seed != h.check && (found != &murmur3Hash || s != h.check) {
			return nil, fmt.Errorf("%w: the data's seed is %d, want %d", ErrIncompatible, h.check, *seed)
		}
	}
	return found, nil
}
