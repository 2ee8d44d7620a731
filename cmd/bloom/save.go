package main

import (
	"io"
	"os"
	"path/filepath"
)

// save writes a file that is, whatever happens, the old one or the new one.
func save(path string, w io.WriterTo) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.unfinished")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	if _, err := w.WriteTo(file); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
