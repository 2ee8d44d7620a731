package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const rootHelp = `A Bloom filter is a file that remembers keys in 10 to 30 bits per key. It
answers "definitely not in" or "probably in". It never misses a key that is in;
a key that is not in gets "probably in" at a rate p of your choice. Keys are
lines.

  bloom size -n 1M -p 0.1%                     # how much memory?
  bloom build -n 1M -p 0.1% -o seen.bloom urls.txt.gz
  bloom check seen.bloom candidates.txt        # lines probably in
  bloom check -v seen.bloom candidates.txt     # lines definitely not in
  bloom add seen.bloom more.txt
  bloom info seen.bloom                        # its fill and its rate now
  cat *.log | bloom dedup                      # each distinct line once`

const inputHelp = `Keys are the lines of the named files, in order, or of standard input if no
file is named. "-" is standard input, too. gzip and zstd are unpacked, other
packed input is refused:

  xz -dc urls.xz | bloom check seen.bloom

With -0, keys end in NUL instead of newline, as find -print0 writes them.
Blanks, carriage returns and letter case are part of a key. An empty line is
the empty key.

With -f N, the key is field N of a line, and check and dedup print the whole
line. Fields are separated by blanks, as in awk, or by the character of -d. A
line with fewer fields has the empty key.

Numbers may be written as 1000000, 1_000_000, 1e6 or 1M (k, M, G, T are powers
of 1000), and rates as 0.001, 1e-3, 0.1% or 1/1000.

"-" is standard input for a filter that is only read, and standard output for a
new one. A file of that name is "./-".`

const statusHelp = `0    success; check: at least one key was selected
1    check: no key was selected
2    an error, with a message on standard error
3    dedup: more distinct keys than -n, not all of them printed
130  interrupted by Ctrl-C; 143 by SIGTERM. A filter to be written stays as it
     was, and the last printed line is whole.

In a script:

  if bloom check -q seen.bloom -k "$url"; then echo "probably seen"; fi`

const keysHelp = `Anyone who knows a filter's hash can make keys that collide, and then the
filter answers "probably in" for keys of their choice. Give a filter for keys
from strangers a secret key of 16 bytes:

  head -c 16 /dev/urandom > secret.key
  bloom build --key-file secret.key -n 1M -p 0.1% -o seen.bloom urls.txt
  bloom check --key-file secret.key seen.bloom candidates.txt

A key file holds 16 bytes or 32 hexadecimal digits. Without --key-file, the
environment variable BLOOM_KEY is used, 32 hexadecimal digits. No flag takes
the key itself: other users can read a program's arguments. A filter does not
contain its key and cannot be queried without it. A wrong key is refused.`

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:           "bloom",
		Short:         "Bloom filters in files, from the command line",
		Long:          rootHelp,
		Version:       version(),
		SilenceErrors: true, // run prints them
		SilenceUsage:  true,

		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("no command %q%s (bloom --help lists the commands)", args[0], suggestion(args[0], commandNames(cmd)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		newSize(e), newBuild(e), newAdd(e), newCheck(e), newDedup(e), newInfo(e), newUnion(e), newConvert(e), newMan(e),
		&cobra.Command{Use: "input", Short: "keys, fields, packed files, numbers", Long: inputHelp},
		&cobra.Command{Use: "formats", Short: "the formats of filters", Long: formatsHelp()},
		&cobra.Command{Use: "status", Short: "the exit status, for scripts", Long: statusHelp},
		&cobra.Command{Use: "secrets", Short: "secret keys, for keys from strangers", Long: keysHelp},
	)
	root.SetHelpCommand(&cobra.Command{Use: "help [COMMAND or TOPIC]", Short: "explain a command or a topic", RunE: func(cmd *cobra.Command, args []string) error {
		found, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			name := strings.Join(args, " ")
			return fmt.Errorf("no help for %q%s (bloom --help lists the commands)", name, suggestion(name, commandNames(root)))
		}
		return found.Help()
	}})
	return root
}

// version returns the module's version, or Go's description of the clone.
func version() string {
	v := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return v + " (" + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + ")"
}

// suggestion returns "; did you mean …?" if one of the names is close to a mistyped one.
func suggestion(typed string, names []string) string {
	near := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		near.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	if found := near.SuggestionsFor(strings.TrimLeft(typed, "-")); len(found) > 0 {
		return "; did you mean " + found[0] + "?"
	}
	return ""
}

func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// flagError puts pflag's errors into this program's words.
func flagError(cmd *cobra.Command, err error) error {
	where := fmt.Sprintf(" (see %s --help)", cmd.CommandPath())
	if none, ok := errors.AsType[*pflag.NotExistError](err); ok && none.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		return fmt.Errorf("no flag --%s%s%s", none.GetSpecifiedName(), suggestion(none.GetSpecifiedName(), names), where)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), errors.Unwrap(invalid))
	}
	return fmt.Errorf("%w%s", err, where)
}

func newMan(e *env) *cobra.Command {
	return command(e, &cobra.Command{Use: "man", Short: "print the manual page", Long: "Prints the manual page, in roff."}, "", (*options).manual)
}

// manual prints the manual page bloom(1), made of the help texts.
func (o *options) manual([]string) error {
	roff := strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'")
	text := fmt.Sprintf(".TH BLOOM 1\n.SH NAME\nbloom \\- %s\n", roff.Replace(o.cmd.Root().Short))
	for _, c := range append([]*cobra.Command{o.cmd.Root()}, o.cmd.Root().Commands()...) {
		text += fmt.Sprintf(".SH %q\n.nf\n%s\n.fi\n", strings.ToUpper(c.Name()), roff.Replace(c.Long+"\n\n"+c.UsageString()))
	}
	_, err := io.WriteString(o.stdout, text)
	return err
}
