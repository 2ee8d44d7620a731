package main

import "fmt"

// suspects are the keys that were taken for ones seen before, and which keys were printed. A
// second look at the inputs tells whether each of them was: the one that was not is a new key
// that the filter has dropped.
type suspects struct {
	printed []uint64        // bit i is for key i of the inputs
	keys    uint64          // how many of them
	unseen  map[string]bool // of the keys in inOrder, those that were not seen to be printed
	inOrder []string
}

func newSuspects() *suspects { return &suspects{unseen: map[string]bool{}} }

// add takes note of the next key of the inputs.
func (s *suspects) add(key []byte, printed bool) {
	if s.keys%64 == 0 {
		s.printed = append(s.printed, 0)
	}
	if printed {
		s.printed[s.keys/64] |= 1 << (s.keys % 64)
	} else if !s.unseen[string(key)] {
		s.unseen[string(key)] = true
		s.inOrder = append(s.inOrder, string(key))
	}
	s.keys++
}

// dropped reads the inputs again and returns the keys that were not printed, in the order in
// which they come. It does not look at what came to a file after the first time.
func (s *suspects) dropped(in *input, files []string) (dropped []string, err error) {
	if len(s.unseen) == 0 {
		return nil, nil
	}
	shown := newProgress(in.env, "verified", files, true)
	defer shown.stop()
	var i uint64
	err = in.each(files, shown, func(keys [][]byte) error {
		verified := 0
		for _, key := range keys {
			if i == s.keys {
				return errEnough
			}
			if s.printed[i/64]>>(i%64)&1 != 0 {
				if s.unseen[string(key)] {
					delete(s.unseen, string(key))
					verified++
				}
			}
			i++
		}
		shown.count(len(keys), verified)
		if len(s.unseen) == 0 {
			return errEnough
		}
		return nil
	})
	if err != nil && err != errEnough {
		return nil, err
	}
	for _, key := range s.inOrder {
		if s.unseen[key] {
			dropped = append(dropped, key)
		}
	}
	return dropped, nil
}

// checkVerify refuses inputs that cannot be read twice.
func checkVerify(in *input, files []string) error {
	if in.fromStdin(files) {
		return fmt.Errorf("--verify reads the keys twice: want files, not standard input")
	}
	for _, name := range files {
		if err := checkReadTwice(name, "--verify wants files"); err != nil {
			return err
		}
	}
	return nil
}
