package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// An env is what a command has to do with the world.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

const rootHelp = `A Bloom filter is a file that remembers which keys it has seen, in a few bits a
key however long the keys are. Asked for a key it answers "definitely not in" or
"probably in": it never misses a key, and is wrong about one that is not in at
a rate p that you choose. Keys cannot be listed and cannot be removed.

Keys are lines, of files or of standard input, also compressed ones:

  bloom size -n 1e6 -p 0.001                   # what would it cost?
  bloom build -n 1e6 -p 0.001 -o seen.bloom urls.txt.gz
  bloom check seen.bloom < candidates.txt      # those that are probably in
  bloom check -v seen.bloom < candidates.txt   # those that are definitely new
  bloom add seen.bloom more.txt
  bloom info seen.bloom                        # how full is it, what is its rate now?
  cat *.log | bloom dedup -n 1e7               # each distinct line once, in order

Each command has a help of its own: bloom build --help.`

const inputHelp = `Keys are lines. They are read from the files that are named, one after the other,
or from standard input if there are none; "-" is standard input too. Files and
streams compressed with gzip or zstd are recognised by their first bytes and
unpacked. With -0 keys end in NUL instead of newline, as find -print0 and sort -z
write them, and may then have newlines in them. The last key may lack its end.
Blanks, carriage returns and letter case are part of a key, an empty line is the
empty key.

"-" is also standard input where a filter is only read, by check, info, union and
convert, and standard output where a new one is written, by build, union and convert.
A file of that name is "./-".`

const statusHelp = `0  the command did what it was asked to; check: at least one key was selected
1  only check: no key was selected
2  something is wrong: a flag, a file, a full disk; a message says what
3  only dedup: there are more distinct keys than -n, and not all were printed

check has grep's, so that it can stand in a script:

  if bloom check -q seen.bloom -k "$url"; then echo "probably seen"; fi

If something goes wrong while a filter is written, the old file stays as it was.`

const keysHelp = `Anyone who knows which hash a filter uses can make keys that collide, so that the
filter answers "probably in" for keys of their choice. If your keys come from
untrusted sources, give the filter a secret key of 16 bytes:

  head -c 16 /dev/urandom > secret.key
  bloom build --key-file secret.key -n 1e6 -p 0.001 -o seen.bloom urls.txt
  bloom check --key-file secret.key seen.bloom < candidates.txt

A key file has either 16 bytes or 32 hexadecimal digits. Without --key-file the
environment variable BLOOM_KEY is taken, 32 hexadecimal digits. (There is no flag for
the key itself: others on the machine can read the arguments of a program.) Filters
do not hold their key, and without it they cannot be asked. A wrong one is refused.`

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:           "bloom",
		Short:         "Bloom filters in files, from the command line",
		Long:          rootHelp,
		Version:       version(),
		SilenceErrors: true, // run prints them
		SilenceUsage:  true, // a page of flags hides what was wrong
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return wantValues(cmd) },
	}
	root.AddGroup(
		&cobra.Group{ID: "plan", Title: "Plan:"},
		&cobra.Group{ID: "use", Title: "Fill and ask:"},
		&cobra.Group{ID: "files", Title: "Work on files:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("plan", newSize(e), newPlot(e))
	add("use", newBuild(e), newAdd(e), newCheck(e), newDedup(e))
	add("files", newInfo(e), newUnion(e), newConvert(e))
	root.AddCommand(
		&cobra.Command{Use: "input", Short: "what keys are and where they are read from", Long: inputHelp},
		&cobra.Command{Use: "status", Short: "exit status, for scripts", Long: statusHelp},
		&cobra.Command{Use: "secrets", Short: "filters with a secret key, for keys from untrusted sources", Long: keysHelp},
	)
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Args = wantTopic
		}
	}
	return root
}

// wantValues refuses flags whose value is empty, as that of a shell's variable that is not
// set: without its file a filter would be made with no secret key, or not be kept.
func wantValues(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			err = fmt.Errorf("--%s is empty, want a value or no such flag", f.Name)
		}
	})
	return err
}

// wantTopic refuses what there is no help for; cobra would print that of the whole program.
func wantTopic(cmd *cobra.Command, args []string) error {
	if _, rest, err := cmd.Root().Find(args); err != nil || len(rest) > 0 {
		return fmt.Errorf("no help for %q (see bloom --help)", strings.Join(args, " "))
	}
	return nil
}

// message is the line that is printed for an error.
func message(err error) string { return "bloom: " + plainError(err) + "\n" }

// plainError takes the library's own prefix off, as the program has the same name,
// and adds where to look. Nothing in it can move a terminal.
func plainError(err error) string {
	text := strings.TrimPrefix(err.Error(), "bloom: ")
	if strings.HasPrefix(text, "unknown command") || strings.HasPrefix(text, "unknown flag") || strings.HasPrefix(text, "unknown shorthand") {
		text += " (see bloom --help)"
	}
	return harmless(strings.TrimSpace(text))
}
