//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package persist

import "os"

// makeTemp locks nothing: these systems have no mapped files, and the last of two Saves stays.
func makeTemp(path string) (osFile, error) {
	old, err := openOld(path)
	if err != nil {
		return osFile{}, err
	}
	f, err := os.OpenFile(randomName(path), os.O_RDWR|os.O_CREATE|os.O_EXCL, modeFor(old))
	if err != nil && old != nil {
		old.Close()
	}
	return osFile{File: f, old: old}, err
}

func (osFiles) publish(t tempFile, path string) error {
	f := t.(osFile)
	if err := f.checkReplaces(path); err != nil {
		return err
	}
	f.close()
	return os.Rename(f.Name(), path)
}

func (osFiles) discard(t tempFile) error {
	f := t.(osFile)
	f.close()
	return os.Remove(f.Name())
}
