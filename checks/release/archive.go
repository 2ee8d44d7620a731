package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}

// A file is part of an archive.
type file struct {
	name    string
	mode    int64
	content []byte
}

// archive builds an archive of the command for every target, and SHA256SUMS. The same version and
// the same Go give the same bytes.
func (r *release) archive() {
	var common []file
	for _, name := range []string{"LICENSE", "THIRD_PARTY_NOTICES"} {
		common = append(common, file{name, 0o644, must(os.ReadFile(filepath.Join(r.copy, name)))})
	}
	common = append(common, file{"man/bloom.1", 0o644, []byte(run("", nil, r.command(), "man") + "\n")})
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		common = append(common, file{"completions/bloom." + shell, 0o644, []byte(run("", nil, r.command(), "completion", shell) + "\n")})
	}
	sums := ""
	for _, target := range targets {
		system, processor, _ := strings.Cut(target, "/")
		gopath := filepath.Join(r.work, system, processor)
		run("", append(r.env, "GOPATH="+gopath, "GOBIN=", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor),
			"go", "install", "-trimpath", "-ldflags=-s -w -buildid=", path.Join(root, "cmd/bloom")+"@"+r.version)
		programs := must(filepath.Glob(filepath.Join(gopath, "bin", "bloom*"))) // bin/bloom, or bin/windows_amd64/bloom.exe
		programs = append(programs, must(filepath.Glob(filepath.Join(gopath, "bin", "*", "bloom*")))...)
		files := append([]file{{filepath.Base(programs[0]), 0o755, must(os.ReadFile(programs[0]))}}, common...)
		name, packed := fmt.Sprintf("bloom_%s_%s_%s", strings.TrimPrefix(r.version, "v"), system, processor), []byte(nil)
		if system == "windows" {
			name, packed = name+".zip", zipped(files, r.time)
		} else {
			name, packed = name+".tar.gz", tarred(files, r.time)
		}
		check(os.WriteFile(filepath.Join(r.out, name), packed, 0o644))
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(packed), name)
	}
	fmt.Print(sums)
	check(os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums), 0o644))
}

func tarred(files []file, at time.Time) []byte {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	t := tar.NewWriter(z)
	for _, f := range files {
		check(t.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: at, Format: tar.FormatUSTAR}))
		must(t.Write(f.content))
	}
	check(t.Close())
	check(z.Close())
	return packed.Bytes()
}

func zipped(files []file, at time.Time) []byte {
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, f := range files {
		must(must(z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at})).Write(f.content))
	}
	check(z.Close())
	return packed.Bytes()
}
