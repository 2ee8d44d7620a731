package main

import (
	"fmt"
	"os"
	"strings"
)

// countInto reads the inputs for their number of keys.
func (in *input) countInto(n *count, files []string) error {
	if len(in.keys) > 0 {
		*n = count(len(in.keys))
		return in.checkKeys(files)
	}
	if in.fromStdin(files) {
		return fmt.Errorf("how many keys will there be? Want -n, as standard input cannot be read twice to count them")
	}
	for _, name := range files {
		if err := checkReadTwice(name, "how many keys will there be? Want -n"); err != nil {
			return err
		}
	}
	shown := newProgress(in.env, "counted", files, false)
	defer shown.stop()
	err := in.each(files, shown, func(keys [][]byte) error {
		shown.count(len(keys), len(keys))
		return nil
	})
	if err != nil {
		return err
	}
	*n = count(shown.keys.Load())
	if *n == 0 {
		return fmt.Errorf("no keys in %s: how many will there be? Want -n", strings.Join(files, ", "))
	}
	return nil
}

// checkReadTwice refuses what would be used up when its keys are read for the first time. It is asked
// before a pipe is opened, which would wait for one that writes.
func checkReadTwice(name, want string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder, want a file of keys", name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file: %s, as pipes and devices cannot be read twice", name, want)
	}
	return nil
}
