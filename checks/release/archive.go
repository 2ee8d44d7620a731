package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}

// archive builds an archive of the command for every target, and SHA256SUMS. The same version, the same Go
// and the same git give the same bytes.
func (r *release) archive() {
	var common []string
	add := func(prefix, name string, args ...string) {
		file := filepath.Join(r.work, name)
		check(os.WriteFile(file, []byte(run("", nil, r.command(), args...)+"\n"), 0o644))
		common = append(common, "--prefix="+prefix, "--add-file="+file)
	}
	add("man/", "bloom.1", "man")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		add("completions/", "bloom."+shell, "completion", shell)
	}
	author := []string{} // the archives have the time and the hash of the commit, so it is the same for everyone
	for _, who := range []string{"GIT_AUTHOR_", "GIT_COMMITTER_"} {
		author = append(author, who+"NAME=bloom", who+"EMAIL=bloom", who+"DATE="+r.time.Format(time.RFC3339))
	}
	commit := run(r.copy, author, "git", "commit-tree", "-m", r.version, "HEAD^{tree}")
	sums := ""
	for _, target := range targets {
		system, processor, _ := strings.Cut(target, "/")
		gopath := filepath.Join(r.work, system, processor)
		run("", append(r.env, "GOPATH="+gopath, "GOBIN=", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor),
			"go", "install", "-trimpath", "-ldflags=-s -w -buildid=", path.Join(root, "cmd/bloom")+"@"+r.version)
		programs := must(filepath.Glob(filepath.Join(gopath, "bin", "bloom*"))) // bin/bloom, or bin/windows_amd64/bloom.exe
		programs = append(programs, must(filepath.Glob(filepath.Join(gopath, "bin", "*", "bloom*")))...)
		name := fmt.Sprintf("bloom_%s_%s_%s.tar.gz", strings.TrimPrefix(r.version, "v"), system, processor)
		if system == "windows" {
			name = strings.Replace(name, ".tar.gz", ".zip", 1)
		}
		packed := filepath.Join(r.out, name)
		args := append([]string{"-c", "tar.umask=022", "archive", "-o", packed, "--add-file=" + programs[0]}, common...)
		run(r.copy, nil, "git", append(args, "--prefix=", commit, "LICENSE", "THIRD_PARTY_NOTICES")...)
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(must(os.ReadFile(packed))), name)
	}
	fmt.Print(sums)
	check(os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums), 0o644))
}
