package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
)

// outputFlags adds the flags of the commands that write a filter: they name it in one way.
func outputFlags(cmd *cobra.Command, out *string, force *bool) {
	cmd.Flags().StringVarP(out, "output", "o", "", "`file` to write, - for standard output")
	cmd.Flags().BoolVarP(force, "force", "f", false, "replace the file if it exists")
	if err := cmd.MarkFlagRequired("output"); err != nil {
		panic(err) // the flag does not exist
	}
}

// wantFile refuses "-" for a filter that is read and then replaced: it could be read from
// standard input, but would not come back there. Without this it would be saved in a file
// of that name.
func wantFile(path string) error {
	if path == "-" {
		return fmt.Errorf("filter %q: want a file, which can be replaced (one of that name is ./-)", path)
	}
	return nil
}

// wantOnce refuses "-" as the name of two files: the first one would leave nothing to read
// for the second.
func wantOnce(paths []string) error {
	first := slices.Index(paths, "-")
	if first >= 0 && slices.Contains(paths[first+1:], "-") {
		return fmt.Errorf("\"-\" twice, want it once: standard input cannot be read again")
	}
	return nil
}

// claim locks a file that is going to be written, as lock does, and checks that it may be
// and can be.
func claim(e *env, path string, force bool) (release func(), err error) {
	if path == "-" {
		return func() {}, nil
	}
	release, err = lock(e, path)
	if err != nil {
		return nil, err
	}
	if err := checkNew(path, force); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// checkNew refuses to write over a file that exists, unless that is wanted, and a file that
// cannot be written.
func checkNew(path string, force bool) error {
	if force {
		return checkWritable(path)
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists, want a new name, or --force to replace it", shown(path))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return checkWritable(path)
}

// checkWritable finds before the work what save would find after it, perhaps hours later and
// when dedup has printed all keys: that the file cannot be written.
func checkWritable(path string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // as save does
	}
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s cannot be replaced by a filter, want a regular file or a new name", shown(path))
		}
		if isMapped(path) {
			return errMapped(path)
		}
	}
	// save makes a file in the same folder, too. That it can is not told by permissions
	// alone: the file system may be read-only.
	trial, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return cannotWrite(path, err)
	}
	return errors.Join(trial.Close(), os.Remove(trial.Name()))
}

// cannotWrite is the error of a file of ours beside the one that is to be written.
func cannotWrite(path string, err error) error {
	if inPath := (*fs.PathError)(nil); errors.As(err, &inPath) {
		err = inPath.Err // without the name of our file
	}
	return fmt.Errorf("%s cannot be written: %w", shown(path), err)
}

// isMapped reports whether a file is known to be a memory-mapped filter.
func isMapped(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close() // it was only read
	head := make([]byte, 16)
	n, _ := io.ReadFull(file, head)
	return slices.ContainsFunc(formats, func(f format) bool { return f.mapped && f.is(head[:n], -1) })
}

// errNotWritten is that a filter that was read cannot be written back.
func errNotWritten(path string, to *format) error {
	switch {
	case to.mapped:
		return errMapped(path)
	case to.columns:
		return errColumns(path)
	}
	return fmt.Errorf("%s: a %s filter is not written by this command; bloom convert makes a plain one of it", shown(path), to.name)
}

func errColumns(path string) error {
	return fmt.Errorf("%s: a Parquet file is only checked, explained and converted; bloom convert makes a file of one of its filters", shown(path))
}

func errMapped(path string) error {
	return fmt.Errorf("%s: a memory-mapped filter is written only by the programs that have it open; bloom convert makes a file of it", shown(path))
}
