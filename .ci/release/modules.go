package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

const root = "github.com/seed3447c163/bloom"

// kept are the folders of modules that are for work on the repository, and not released.
var kept = []string{
	".ci/release", "checks", "compare", "docs/check", "examples", "guard/stores", "proof", "redisfilter/compare",
}

// A mod is a module of the repository that is released.
type mod struct {
	dir  string // from the root of the repository; "" for that itself
	path string
	deps []string // paths of other modules of the repository
}

// tag is what the go command looks for: the version, after the folder.
func (m mod) tag(version string) string { return path.Join(m.dir, version) }

// findModules returns the released modules, each after those that it requires.
func findModules(repository string) ([]mod, error) {
	list, err := output(repository, nil, "git", "ls-files", "go.mod", "*/go.mod")
	if err != nil {
		return nil, err
	}
	var found []mod
	for _, file := range strings.Fields(list) {
		dir := strings.TrimPrefix(path.Dir(file), ".")
		if file != "go.mod" {
			dir = path.Dir(file)
		}
		if slices.Contains(kept, dir) {
			continue
		}
		f, err := readMod(filepath.Join(repository, file))
		if err != nil {
			return nil, err
		}
		m := mod{dir: dir, path: f.Module.Mod.Path}
		if want := path.Join(root, dir); m.path != want {
			return nil, fmt.Errorf("%s is module %s, want %s", file, m.path, want)
		}
		for _, r := range f.Require {
			if r.Mod.Path == root || strings.HasPrefix(r.Mod.Path, root+"/") {
				m.deps = append(m.deps, r.Mod.Path)
			}
		}
		found = append(found, m)
	}
	var ordered []mod
	done := func(path string) bool {
		return slices.ContainsFunc(ordered, func(m mod) bool { return m.path == path })
	}
	for len(found) > 0 {
		i := slices.IndexFunc(found, func(m mod) bool {
			return !slices.ContainsFunc(m.deps, func(d string) bool { return !done(d) })
		})
		if i < 0 {
			return nil, fmt.Errorf("module %s requires %v, of which one is not released or requires it", found[0].path, found[0].deps)
		}
		ordered = append(ordered, found[i])
		found = slices.Delete(found, i, i+1)
	}
	return ordered, nil
}

func readMod(file string) (*modfile.File, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(file, text, nil)
}

// require lets a module require the released version of its neighbours, and no longer
// their folders.
func (m mod) require(repository, version string) error {
	file := filepath.Join(repository, m.dir, "go.mod")
	f, err := readMod(file)
	if err != nil {
		return err
	}
	for _, dep := range m.deps {
		if err := f.AddRequire(dep, version); err != nil {
			return err
		}
		if err := f.DropReplace(dep, ""); err != nil {
			return err
		}
	}
	f.Cleanup()
	if len(f.Replace) > 0 {
		return fmt.Errorf("%s replaces %s, which would keep others from installing it", file, f.Replace[0].Old.Path)
	}
	text, err := f.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
