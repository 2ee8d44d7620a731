package main

import (
	"strings"
	"testing"
)

// TestHelpFitsAScreen of 80 columns and 46 lines, per command.
func TestHelpFitsAScreen(t *testing.T) {
	check := func(args ...string) {
		text, _ := expectRun(t, statusFound, args...)
		if lines := strings.Count(text, "\n"); lines > 46 {
			t.Errorf("%q: %d lines", args, lines)
		}
		for line := range strings.Lines(text) {
			if len(line) > 81 {
				t.Errorf("%q: %d columns: %s", args, len(line)-1, line)
			}
		}
	}
	check("--help")
	for _, c := range newRoot(&env{}).Commands() {
		if c.Runnable() {
			check(c.Name(), "--help")
		} else {
			check("help", c.Name())
		}
	}
}

// TestMessages are in the command's own words and name what is wrong.
func TestMessages(t *testing.T) {
	for command, want := range map[string]string{
		"buidl":                  `no command "buidl"; did you mean build? (bloom --help lists the commands)`,
		"nonsense":               `no command "nonsense" (bloom --help lists the commands)`,
		"help chekc":             `no help for "chekc"; did you mean check? (bloom --help lists the commands)`,
		"help build x":           `no help for "build x"; did you mean build? (bloom --help lists the commands)`,
		"size --numer 3":         `no flag --numer; did you mean --number? (bloom size --help lists the flags)`,
		"size -y":                `no flag -y (bloom size --help lists the flags)`,
		"size --=3":              `--=3 is no flag (bloom size --help lists the flags)`,
		"size":                   `size needs -n KEYS (see bloom size --help)`,
		"size -n":                `-n KEYS needs a value`,
		"size -n x":              `--number "x": want a whole number of keys from 1, such as 1000000, 1_000_000, 1e6 or 1M`,
		"size -n 10 -p 2":        `--rate "2": want a rate between 0 and 1, such as 0.001, 1e-3, 0.1% or 1/1000`,
		"size -n 10 more":        `size: "more" is one argument too many (see bloom size --help)`,
		"size -n 10 -s fast":     `--strategy "fast": want one of double-hashing, blocked, split-block, seeded-hashing, guava-mitz-64, guava-mitz-32, bits-and-blooms`,
		"build -n 10":            `build needs -o FILE (see bloom build --help)`,
		"convert -o x y":         `convert needs --format FORMAT (see bloom convert --help)`,
		"convert --format bloom": `convert needs the FILE of a filter (see bloom convert --help)`,
		"check":                  `check needs the FILE of a filter (see bloom check --help)`,
		"check missing":          `missing: `,
		"check x -f -1":          `--field "-1": want a number from 1`,
		"check x -f 2 -d ab":     `--delimiter "ab", want one byte`,
		"check x -d ,":           `--delimiter without --field`,
		"completion":             `completion needs a shell: bash, zsh, fish, powershell (see bloom completion --help)`,
		"completion tcsh":        `shell "tcsh", want one of bash, zsh, fish, powershell`,
	} {
		_, said := expectRun(t, statusError, strings.Fields(command)...)
		if !strings.HasPrefix(said, "bloom: "+want) || !strings.HasSuffix(want, " ") && said != "bloom: "+want+"\n" {
			t.Errorf("%s:\n%swant %s", command, said, want)
		}
	}
}

// TestManual has every command, topic and flag.
func TestManual(t *testing.T) {
	page, _ := expectRun(t, statusFound, "man")
	root := newRoot(&env{})
	for _, c := range root.Commands() {
		if !c.Hidden && !strings.Contains(page, `.SH "`+strings.ToUpper(c.Name())+`"`) {
			t.Errorf("no section for %s", c.Name())
		}
	}
	for _, part := range []string{".TH BLOOM 1\n", `\-p, \-\-rate`, "BLOOM_KEY", `\-\-overfull`, "bits\\-and\\-blooms\\-json"} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q", part)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if text, _ := expectRun(t, statusFound, "completion", shell); !strings.Contains(text, "bloom") {
			t.Errorf("%s: %q", shell, text)
		}
	}
}
