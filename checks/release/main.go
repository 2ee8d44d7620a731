// Release makes a release: one version of every module that others import or install.
//
//  1. It clones the repository and dates the CHANGELOG there.
//  2. It lets the nested modules require the release instead of their neighbours' folders, and
//     serves all of them from a file proxy.
//  3. It does what users will do: go get every module, run a program, go install the command.
//  4. With -tag it tags the result in the repository. Nothing is pushed. bash .ci/release -tag runs the
//     long checks first.
//
// The release commit does not go onto main, where nested modules go on using folders. Pushing its
// tags publishes it: git push origin v0.1.0 cmd/v0.1.0 prombloom/v0.1.0 redisfilter/v0.1.0.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

const root = "github.com/seed3447c163/bloom"

// released are the folders of the released modules. Each may require the ones before it.
var released = []string{".", "redisfilter", "prombloom", "cmd"}

// A release is under way. A failing step ends the program.
type release struct {
	version string
	work    string    // a temporary folder
	copy    string    // the clone
	proxy   string    // a folder
	env     []string  // of commands that use the proxy
	time    time.Time // of the commit
}

func main() {
	log.SetFlags(0)
	r := release{}
	flag.StringVar(&r.version, "version", "", "the version, such as v0.1.0")
	keep := flag.String("keep", "", "leave the proxy in this folder")
	tag := flag.Bool("tag", false, "tag the release in this repository")
	flag.Parse()
	if !semver.IsValid(r.version) || semver.Canonical(r.version) != r.version || semver.Major(r.version) > "v1" {
		log.Fatalf("version %q, want one such as v0.1.0; module paths change from v2 on", r.version)
	}
	if changed := run("", nil, "git", "status", "--porcelain"); *tag && changed != "" {
		log.Fatalf("uncommitted changes, want none:\n%s", changed)
	}
	if run("", nil, "git", "tag", "--list", r.version) != "" {
		log.Fatalf("tag %s exists", r.version)
	}
	r.work = must(os.MkdirTemp("", "release"))
	defer os.RemoveAll(r.work)
	r.copy, r.proxy = filepath.Join(r.work, "bloom"), filepath.Join(r.work, "proxy")
	if *keep != "" {
		r.proxy = must(filepath.Abs(*keep))
	}
	cache := filepath.Join(run("", nil, "go", "env", "GOMODCACHE"), "cache", "download")
	proxies := "GOPROXY=file://" + r.proxy + ",file://" + cache + "," + run("", nil, "go", "env", "GOPROXY")
	r.env = []string{proxies, "GOMODCACHE=" + filepath.Join(r.work, "modules"), "GONOSUMDB=" + root,
		"GOFLAGS=-mod=mod -modcacherw", "GOWORK=off", "GOTOOLCHAIN=local"}

	r.clone()
	r.publish()
	r.try()
	if *keep != "" {
		fmt.Printf("to try it: export %s GONOSUMDB=%s\n", proxies, root)
	}
	if !*tag {
		fmt.Println(r.version, "can be released; nothing is tagged")
		return
	}
	run("", nil, "git", "fetch", "-q", r.copy, "HEAD")
	for _, folder := range released {
		run("", nil, "git", "tag", "-a", "-m", "Release "+r.version, path.Join(folder, r.version), "FETCH_HEAD")
		fmt.Println("tagged", path.Join(folder, r.version))
	}
}

// clone clones the repository and dates its CHANGELOG.
func (r *release) clone() {
	user := func(field string) string { return field + "=" + run("", nil, "git", "config", field) }
	source := run("", nil, "git", "rev-parse", "--show-toplevel")
	run("", nil, "git", "clone", "-q", "-c", user("user.name"), "-c", user("user.email"), source, r.copy)
	r.time = must(time.Parse(time.RFC3339, run(r.copy, nil, "git", "log", "-1", "--format=%cI"))).UTC()
	changelog := filepath.Join(r.copy, "CHANGELOG.md")
	const heading = "## Unreleased\n"
	before, after, found := strings.Cut(string(must(os.ReadFile(changelog))), heading)
	if !found || strings.TrimSpace(after) == "" || strings.HasPrefix(after, "\n## ") {
		log.Fatalf("CHANGELOG.md has nothing under %q", strings.TrimSpace(heading))
	}
	dated := before + heading + "\n## " + strings.TrimPrefix(r.version, "v") + " - " + time.Now().UTC().Format(time.DateOnly) + "\n" + after
	check(os.WriteFile(changelog, []byte(dated), 0o644))
}

// publish puts all modules into the proxy. A module's go.sum has the hashes of its neighbours, so
// they go one by one. Then all changes become one commit.
func (r *release) publish() {
	for _, folder := range released {
		dir := filepath.Join(r.copy, folder)
		mod := filepath.Join(dir, "go.mod")
		for _, other := range released {
			if neighbour := path.Join(root, other); strings.Contains(string(must(os.ReadFile(mod))), neighbour+" v") {
				run(dir, r.env, "go", "mod", "edit", "-require="+neighbour+"@"+r.version, "-dropreplace="+neighbour)
			}
		}
		run(dir, r.env, "go", "mod", "tidy")
		content := must(os.ReadFile(mod))
		if strings.Contains(string(content), "=>") {
			log.Fatalf("%s/go.mod replaces a module, which keeps others from installing it:\n%s", folder, content)
		}
		run(r.copy, nil, "git", "commit", "-q", "--allow-empty", "-a", "-m", "Release "+r.version)
		r.put(folder, content)
	}
	run(r.copy, nil, "git", "reset", "-q", "--soft", fmt.Sprintf("HEAD~%d", len(released)))
	run(r.copy, nil, "git", "commit", "-q", "--allow-empty", "-m", "Release "+r.version)
}

// put writes one module to the proxy.
func (r *release) put(folder string, mod []byte) {
	m := module.Version{Path: path.Join(root, folder), Version: r.version}
	dir := filepath.Join(r.proxy, filepath.FromSlash(must(module.EscapePath(m.Path))), "@v")
	check(os.MkdirAll(dir, 0o755))
	info := must(json.Marshal(map[string]any{"Version": r.version, "Time": r.time}))
	for name, content := range map[string][]byte{r.version + ".mod": mod, r.version + ".info": info, "list": []byte(r.version + "\n")} {
		check(os.WriteFile(filepath.Join(dir, name), content, 0o644))
	}
	file := must(os.Create(filepath.Join(dir, r.version+".zip")))
	check(zip.CreateFromVCS(file, m, r.copy, "HEAD", strings.TrimPrefix(folder, ".")))
	check(file.Close())
}

// program is what a user writes first.
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

// try does what users will do.
func (r *release) try() {
	project := filepath.Join(r.work, "project")
	check(os.MkdirAll(project, 0o755))
	run(project, r.env, "go", "mod", "init", "example.com/project")
	for _, folder := range released[:3] {
		run(project, r.env, "go", "get", path.Join(root, folder)+"@"+r.version)
		run(project, r.env, "go", "build", path.Join(root, folder)+"/...")
	}
	check(os.WriteFile(filepath.Join(project, "main.go"), []byte(program), 0o644))
	if out := run(project, r.env, "go", "run", "."); out != "true false true <nil>" {
		log.Fatalf("the program printed %q, want %q", out, "true false true <nil>")
	}
	command := filepath.Join(r.work, "bin", "bloom")
	run(project, append(r.env, "GOBIN="+filepath.Dir(command)), "go", "install", path.Join(root, "cmd/bloom")+"@"+r.version)
	out := run(project, nil, command, "--version")
	if !strings.Contains(out, r.version) {
		log.Fatalf("bloom --version printed %q, want %s in it", out, r.version)
	}
	fmt.Println("go get, go run and go install work:", out)
}

// run returns what a command prints, and ends the program if it fails.
func run(dir string, env []string, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var failure strings.Builder
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		log.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, failure.String())
	}
	return strings.TrimSpace(string(out))
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
