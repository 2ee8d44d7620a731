package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// program is what a user of the library begins with.
const program = `package main

import (
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
)

func main() {
	f := bloom.MustNew(1000, 0.01)
	fmt.Println(f.AddString("a"), f.AddString("a"), f.ContainsString("a"), persist.Save("a.bloom", f))
}
`

// try does what users will do: go get every module in an empty project, build and run a
// program, and install the command.
func try(work string, p *proxy, version string, modules []mod) error {
	project := filepath.Join(work, "project")
	if err := os.MkdirAll(project, 0o755); err != nil {
		return err
	}
	if err := run(project, p.env, "go", "mod", "init", "example.com/project"); err != nil {
		return err
	}
	for _, m := range modules {
		if m.dir == "cmd/bloom" {
			continue
		}
		if err := run(project, p.env, "go", "get", m.path+"@"+version); err != nil {
			return err
		}
		if err := run(project, p.env, "go", "build", m.path+"/..."); err != nil {
			return err
		}
		fmt.Println("go get and go build:", m.path+"@"+version)
	}
	if err := os.WriteFile(filepath.Join(project, "main.go"), []byte(program), 0o644); err != nil {
		return err
	}
	if out, err := output(project, p.env, "go", "run", "."); err != nil || out != "true false true <nil>" {
		return fmt.Errorf("the program printed %q, want %q (%v)", out, "true false true <nil>", err)
	}
	fmt.Println("go run: a program that uses it")
	bin := filepath.Join(work, "bin")
	if err := run(project, append(p.env, "GOBIN="+bin), "go", "install", root+"/cmd/bloom@"+version); err != nil {
		return err
	}
	out, err := output(project, nil, filepath.Join(bin, "bloom"), "--version")
	if err != nil {
		return err
	}
	if !strings.Contains(out, version) {
		return fmt.Errorf("bloom --version says %q, want %s in it", out, version)
	}
	fmt.Println("go install and run:", out)
	return nil
}
