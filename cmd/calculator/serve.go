//go:build !js

package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing/fstest"
)

// Outside of a browser, the command builds the page. It needs the source and the Go command.
//
//	go run ./cmd/calculator                  serves the page on this machine
//	go run ./cmd/calculator -out DIR         writes static files, for any web server and path
func main() {
	log.SetFlags(0)
	out := flag.String("out", "", "write the page to this `folder`, and end")
	address := flag.String("addr", "localhost:8019", "serve it here")
	flag.Parse()
	page, err := build()
	switch {
	case err != nil:
	case *out != "":
		err = os.MkdirAll(*out, 0o755)
		for name, file := range page {
			err = errors.Join(err, os.WriteFile(filepath.Join(*out, name), file.Data, 0o644))
		}
	default:
		fmt.Printf("http://%s/\n", *address)
		err = http.ListenAndServe(*address, http.FileServerFS(page))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// build returns the files of the page.
func build() (fstest.MapFS, error) {
	_, source, _, _ := runtime.Caller(0)
	work, err := os.MkdirTemp("", "calculator")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	wasm := filepath.Join(work, "bloom.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", wasm, ".")
	cmd.Dir, cmd.Env = filepath.Dir(source), append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, said)
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	page := fstest.MapFS{}
	folder := filepath.Dir(source)
	for _, path := range []string{wasm, filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "wasm_exec.js"),
		filepath.Join(folder, "index.html"), filepath.Join(folder, "page.js"), filepath.Join(folder, "page.css")} {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		page[filepath.Base(path)] = &fstest.MapFile{Data: content}
	}
	return page, nil
}
