//go:build !js

package main

import (
	_ "embed"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

//go:embed index.html
var index []byte

//go:embed page.js
var script []byte

//go:embed page.css
var style []byte

// Outside of a browser, the command makes the page:
//
//	go run ./docs/calculator                  and serves it on this machine
//	go run ./docs/calculator -out DIR         static files, for any web server
func main() {
	log.SetFlags(0)
	out := flag.String("out", "", "write the page to this folder, and end")
	address := flag.String("addr", "localhost:8019", "serve it here")
	flag.Parse()
	dir := *out
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "calculator"); err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(dir)
	}
	if err := build(dir); err != nil {
		log.Fatal(err)
	}
	if *out != "" {
		return
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/\n", listener.Addr())
	log.Fatal(http.Serve(listener, http.FileServer(http.Dir(dir))))
}

// build makes the static files. It must run in the module, where go run is.
func build(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	wasm, err := filepath.Abs(filepath.Join(dir, "bloom.wasm"))
	if err != nil {
		return err
	}
	_, source, _, _ := runtime.Caller(0)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", wasm, ".")
	cmd.Dir = filepath.Dir(source)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, said)
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	loader, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"index.html": index, "page.js": script, "page.css": style, "wasm_exec.js": loader} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
