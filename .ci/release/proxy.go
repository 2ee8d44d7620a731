package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// A proxy is a folder that the go command takes for a module proxy.
type proxy struct {
	dir string
	env []string // for commands that use it
}

// newProxy makes an empty one. Commands that use it have a module cache of their own,
// as what is tried here may not be what is tagged in the end. Other modules come
// from the usual cache, so that the network is not needed, and else from where they
// usually come from.
func newProxy(work string) (*proxy, error) {
	p := &proxy{dir: filepath.Join(work, "proxy")}
	usual, err := output(".", nil, "go", "env", "GOPROXY")
	if err != nil {
		return nil, err
	}
	cache, err := output(".", nil, "go", "env", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	p.env = []string{
		"GOPROXY=file://" + p.dir + ",file://" + filepath.Join(cache, "cache", "download") + "," + usual,
		"GOMODCACHE=" + filepath.Join(work, "modules"), "GONOSUMDB=" + root + "," + root + "/*",
		"GOFLAGS=-mod=mod", "GOWORK=off", "GOTOOLCHAIN=local",
	}
	return p, nil
}

// publish commits the release and puts its modules into the proxy. A module's go.sum
// names the others' contents, so they go one after the other.
func (p *proxy) publish(repository, version string, modules []mod) error {
	for _, m := range modules {
		if len(m.deps) > 0 {
			if err := m.require(repository, version); err != nil {
				return err
			}
			if err := run(filepath.Join(repository, m.dir), p.env, "go", "mod", "tidy"); err != nil {
				return err
			}
		}
		if err := run(repository, nil, "git", "commit", "-q", "--allow-empty", "-a", "-m", "Release "+version+": "+m.path); err != nil {
			return err
		}
		if err := p.put(repository, version, m); err != nil {
			return err
		}
	}
	// One commit for all tags. What is in it is what was put into the proxy.
	if err := run(repository, nil, "git", "reset", "-q", "--soft", fmt.Sprintf("HEAD~%d", len(modules))); err != nil {
		return err
	}
	return run(repository, nil, "git", "commit", "-q", "-m", "Release "+version)
}

// put writes the module's zip, go.mod and information to the proxy.
func (p *proxy) put(repository, version string, m mod) error {
	escaped, err := module.EscapePath(m.path)
	if err != nil {
		return err
	}
	base := filepath.Join(p.dir, filepath.FromSlash(escaped), "@v", version)
	if err := os.MkdirAll(filepath.Dir(base), 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(repository, m.dir, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{base + ".mod": text, base + ".info": info, filepath.Join(filepath.Dir(base), "list"): []byte(version + "\n")} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	file, err := os.Create(base + ".zip")
	if err != nil {
		return err
	}
	defer file.Close()
	if err := zip.CreateFromVCS(file, module.Version{Path: m.path, Version: version}, repository, "HEAD", m.dir); err != nil {
		return fmt.Errorf("%s: %w", strings.TrimPrefix(m.path, root), err)
	}
	return file.Close()
}
