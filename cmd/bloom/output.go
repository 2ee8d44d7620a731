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

// An output is a new file, or "-" for standard output.
type output struct {
	path  string
	force bool
}

func (o *output) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.path, "output", "o", "", "`FILE` to write, - for standard output")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace the file if it exists")
}

// claim locks the file and checks that it may and can be written.
func (o *output) claim(e *env, to *format) (release func(), err error) {
	if o.path == "-" {
		if isTerminal(e.stdout) && !to.text {
			return nil, errors.New("a filter is binary and standard output is a terminal, want -o FILE or a pipe")
		}
		return func() {}, nil
	}
	release, err = lock(e, o.path)
	if err != nil {
		return nil, err
	}
	if _, err = os.Lstat(o.path); err == nil && !o.force {
		err = fmt.Errorf("%s exists, want a new name, or --force to replace it", shown(o.path))
	} else {
		err = checkWritable(o.path)
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// wantOnce refuses "-" twice among the files.
func wantOnce(paths []string) error {
	first := slices.Index(paths, "-")
	if first >= 0 && slices.Contains(paths[first+1:], "-") {
		return errors.New(`"-" twice, want it once: standard input cannot be read again`)
	}
	return nil
}

// checkWritable finds out before the work that a file cannot be written.
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
	// save makes a file in the same folder. Permissions do not tell: the file system may be
	// read-only.
	trial, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return cannotWrite(path, err)
	}
	return errors.Join(trial.Close(), os.Remove(trial.Name()))
}

// cannotWrite is the error of a temporary file or a lock file next to path.
func cannotWrite(path string, err error) error {
	if inPath, ok := errors.AsType[*fs.PathError](err); ok {
		err = inPath.Err
	}
	return fmt.Errorf("%s cannot be written: %w", shown(path), err)
}

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

// errNotWritten says that a filter that was read cannot be written back.
func errNotWritten(path string, to *format) error {
	switch {
	case to.mapped:
		return errMapped(path)
	case to.columns:
		return errColumns(path)
	case to.name == "counting" || to.name == redisbloom:
		return fmt.Errorf("%s: a %s filter is only read; bloom convert makes a plain one of it", shown(path), to.name)
	}
	return fmt.Errorf("%s: a %s filter is only read; the Go program that made it adds keys", shown(path), to.name)
}

func errColumns(path string) error {
	return fmt.Errorf("%s: a Parquet file is only read; bloom convert --column makes a file of one of its filters", shown(path))
}

func errMapped(path string) error {
	return fmt.Errorf("%s: a memory-mapped filter is only written by the programs that have it open; bloom convert makes a file of it", shown(path))
}
