// Command release makes a release: one version for every module that others import or
// install. It takes what is committed:
//
//	go run . -version v0.1.0              try it: change nothing
//	go run . -version v0.1.0 -tag         and put the commit and its tags into the repository
//	go run . -version v0.1.0 -dist DIR    and build the binaries of cmd/bloom
//
// It works on a clone. There it dates the CHANGELOG, lets the nested modules require the
// release in place of the folder beside them, and commits that. It then serves the modules
// from a proxy made of files, and does what users will do: go get in an empty project, and
// go install. Only what worked is tagged. Nothing is pushed.
//
// The release commit does not go onto main, where the nested modules go on using the
// folders: git push origin v0.1.0 cmd/bloom/v0.1.0 … publishes it.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	version := flag.String("version", "", "the version, such as v0.1.0")
	tag := flag.Bool("tag", false, "tag the release in this repository")
	dist := flag.String("dist", "", "build the binaries of cmd/bloom into this folder")
	date := flag.String("date", time.Now().UTC().Format(time.DateOnly), "the day for the CHANGELOG")
	flag.Parse()
	if !semver.IsValid(*version) || semver.Canonical(*version) != *version || semver.Major(*version) > "v1" {
		log.Fatalf("version %q, want one such as v0.1.0; from v2 on the module paths would change", *version)
	}
	work, err := os.MkdirTemp("", "release")
	check(err)
	err = release(work, *version, *date, *dist, *tag)
	_ = exec.Command("chmod", "-R", "u+w", work).Run() // a module cache is read-only
	_ = os.RemoveAll(work)
	check(err)
}

func release(work, version, date, dist string, tag bool) error {
	repository, err := output(".", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if changed, err := output(repository, nil, "git", "status", "--porcelain"); tag && (err != nil || changed != "") {
		return fmt.Errorf("want a clean checkout, and there is (%v):\n%s", err, changed)
	}
	if tagged, _ := output(repository, nil, "git", "tag", "--list", version); tagged != "" {
		return fmt.Errorf("%s is tagged already", version)
	}
	clone := filepath.Join(work, "bloom")
	if err := run(".", nil, "git", "clone", "-q", repository, clone); err != nil {
		return err
	}
	for _, field := range []string{"user.name", "user.email"} {
		value, _ := output(repository, nil, "git", "config", field)
		if err := run(clone, nil, "git", "config", field, value); err != nil {
			return err
		}
	}
	if err := dateChangelog(filepath.Join(clone, "CHANGELOG.md"), version, date); err != nil {
		return err
	}
	modules, err := findModules(clone)
	if err != nil {
		return err
	}
	p, err := newProxy(work)
	if err != nil {
		return err
	}
	if err := p.publish(clone, version, modules); err != nil {
		return err
	}
	if err := try(work, p, version, modules); err != nil {
		return err
	}
	if dist != "" {
		if err := binaries(work, p, version, dist); err != nil {
			return err
		}
	}
	if !tag {
		fmt.Printf("%s can be released; nothing was tagged\n", version)
		return nil
	}
	if err := run(repository, nil, "git", "fetch", "-q", clone, "HEAD"); err != nil {
		return err
	}
	for _, m := range modules {
		if err := run(repository, nil, "git", "tag", "-a", "-m", "Release "+version, m.tag(version), "FETCH_HEAD"); err != nil {
			return err
		}
		fmt.Println("tagged", m.tag(version))
	}
	return nil
}

// dateChangelog puts the version under "Unreleased", which begins anew.
func dateChangelog(path, version, date string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	const heading = "## Unreleased\n"
	before, after, found := strings.Cut(string(text), heading)
	if next := strings.Index(after, "\n## "); !found || strings.TrimSpace(after) == "" || next == 0 {
		return fmt.Errorf("CHANGELOG.md says nothing under %q", strings.TrimSpace(heading))
	}
	return os.WriteFile(path, []byte(before+heading+"\n## "+strings.TrimPrefix(version, "v")+" - "+date+"\n"+after), 0o644)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// run runs a command in a folder, with more of an environment, and shows what it says
// if it fails.
func run(dir string, env []string, name string, args ...string) error {
	_, err := output(dir, env, name, args...)
	return err
}

// output is run, and returns what the command printed.
func output(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, errors.String())
	}
	return strings.TrimSpace(string(out)), nil
}
