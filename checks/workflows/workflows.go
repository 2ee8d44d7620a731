// Workflows runs the steps of one job of a GitHub workflow in the current folder, in order, as far as a machine without
// GitHub can: the commands of its `run:` steps, by bash, with the environment and the folder that the workflow gives.
// It lists the steps that it does not run: actions, and steps with a condition. It stops at the first command that
// fails. CONTRIBUTING.md lists what only GitHub shows.
//
//	go run ./checks/workflows .github/workflows/ci.yml test
//	go run ./checks/workflows .github/workflows/long.yml long matrix.part=fuzz
package main

import (
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A workflow has the parts of a workflow file that matter for its commands.
type workflow struct {
	Env  map[string]string
	Jobs map[string]struct {
		Env   map[string]string
		Steps []step
	}
}

type step struct {
	Name, If, Run, Uses string
	Folder              string `yaml:"working-directory"`
	Env                 map[string]string
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: workflows FILE JOB [NAME=VALUE ...], with values for the expressions of the job's commands")
	}
	values := make(map[string]string)
	for _, arg := range os.Args[3:] {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			log.Fatalf("argument %q, want NAME=VALUE", arg)
		}
		values[name] = value
	}
	if err := run(os.Args[1], os.Args[2], values); err != nil {
		log.Fatal(err)
	}
}

func run(file, name string, values map[string]string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	job, ok := w.Jobs[name]
	if !ok {
		return fmt.Errorf("%s has no job %q, want one of %q", file, name, slices.Sorted(maps.Keys(w.Jobs)))
	}
	output, err := os.CreateTemp("", "")
	if err != nil {
		return err
	}
	defer os.Remove(output.Name())
	defer output.Close()
	for _, s := range job.Steps {
		if s.Run == "" || s.If != "" {
			fmt.Println("== not run:", strings.TrimSpace(strings.Join([]string{s.Uses + s.Run, s.If}, " ")))
			continue
		}
		command, err := expand(s.Run, values)
		if err != nil {
			return fmt.Errorf("%s, job %s: %w", file, name, err)
		}
		fmt.Printf("== %s\n", command)
		c := exec.Command("bash", "-eo", "pipefail", "-c", command)
		c.Stdout, c.Stderr, c.Dir = os.Stdout, os.Stderr, filepath.FromSlash(s.Folder)
		c.Env = append(os.Environ(), "CI=true", "GITHUB_OUTPUT="+output.Name())
		for _, env := range []map[string]string{w.Env, job.Env, s.Env} {
			for key, value := range env {
				if value, err = expand(value, values); err != nil {
					return fmt.Errorf("%s, job %s, %s: %w", file, name, key, err)
				}
				c.Env = append(c.Env, key+"="+value)
			}
		}
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s, job %s, %q: %w", file, name, s.Run, err)
		}
	}
	outputs, err := os.ReadFile(output.Name())
	if len(outputs) > 0 {
		fmt.Printf("== outputs\n%s", outputs)
	}
	return err
}

var expression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

// expand replaces the expressions of text by their values.
func expand(text string, values map[string]string) (string, error) {
	var err error
	expanded := expression.ReplaceAllStringFunc(text, func(found string) string {
		name := expression.FindStringSubmatch(found)[1]
		value, ok := values[name]
		if !ok {
			err = fmt.Errorf("%q has no value, want an argument %q", found, name+"=VALUE")
		}
		return value
	})
	return expanded, err
}
