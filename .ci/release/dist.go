package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}

// binaries builds cmd/bloom for each target from the released modules, and a file of
// their checksums. Who builds the same version with the same Go gets the same bytes: no
// path, no date and no build identity is in them.
func binaries(work string, p *proxy, version, dist string) error {
	dist, err := filepath.Abs(dist)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	var sums strings.Builder
	for _, target := range targets {
		system, processor, _ := strings.Cut(target, "/")
		// GOBIN is not for other systems: go install puts those into a folder of GOPATH.
		gopath := filepath.Join(work, "gopath", system, processor)
		env := append(p.env, "GOPATH="+gopath, "GOBIN=", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
		if err := run(work, env, "go", "install", "-trimpath", "-ldflags=-s -w -buildid=", root+"/cmd/bloom@"+version); err != nil {
			return err
		}
		built, err := filepath.Glob(filepath.Join(gopath, "bin", "bloom*"))
		if more, _ := filepath.Glob(filepath.Join(gopath, "bin", "*", "bloom*")); err == nil {
			built = append(built, more...)
		}
		if err != nil || len(built) != 1 {
			return fmt.Errorf("%s: built %v, want one program (%v)", target, built, err)
		}
		archive, err := pack(built[0])
		if err != nil {
			return err
		}
		name := fmt.Sprintf("bloom_%s_%s_%s.tar.gz", strings.TrimPrefix(version, "v"), system, processor)
		if err := os.WriteFile(filepath.Join(dist, name), archive, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(archive), name)
	}
	fmt.Print(sums.String())
	return os.WriteFile(filepath.Join(dist, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// pack returns an archive of one program that depends on nothing but its bytes.
func pack(file string) ([]byte, error) {
	program, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	t := tar.NewWriter(z)
	if err := t.WriteHeader(&tar.Header{Name: filepath.Base(file), Mode: 0o755, Size: int64(len(program)), Format: tar.FormatUSTAR}); err != nil {
		return nil, err
	}
	if _, err := t.Write(program); err != nil {
		return nil, err
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
