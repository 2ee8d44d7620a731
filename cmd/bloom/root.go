package main

import (
	"errors"
	"fmt"
	"slices"
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

const usageTemplate = `Usage:
{{- if .Runnable}} {{.UseLine}}{{else}} {{.CommandPath}} COMMAND{{end}}
{{- if .HasExample}}

Examples:
{{.Example}}{{end}}
{{- $all := .Commands}}{{range .Groups}}{{$id := .ID}}

{{.Title}}{{range $all}}{{if eq .GroupID $id}}
  {{rpad .Name 12}}{{.Short}}{{end}}{{end}}{{end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}
`

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:                "bloom COMMAND",
		Short:              "Bloom filters in files, from the command line",
		Long:               rootHelp,
		Version:            version(),
		SilenceErrors:      true, // run prints them
		SilenceUsage:       true,
		CompletionOptions:  cobra.CompletionOptions{DisableDefaultCmd: true},
		DisableSuggestions: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("no command %q%s (bloom --help lists the commands)", args[0], suggestion(args[0], commandNames(cmd), ""))
			}
			return nil
		},
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return checkFlags(cmd) },
	}
	root.SetUsageTemplate(usageTemplate)
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(
		&cobra.Group{ID: "use", Title: "Commands:"},
		&cobra.Group{ID: "topics", Title: "Topics, for bloom help TOPIC:"},
	)
	for _, c := range []*cobra.Command{newSize(e), newBuild(e), newAdd(e), newCheck(e), newDedup(e), newInfo(e), newUnion(e), newConvert(e), newCompletion(e)} {
		c.GroupID = "use"
		root.AddCommand(c)
	}
	for _, topic := range []*cobra.Command{
		{Use: "input", Short: "keys, fields, packed files, numbers", Long: inputHelp},
		{Use: "formats", Short: "the formats of filters", Long: formatsHelp()},
		{Use: "status", Short: "the exit status, for scripts", Long: statusHelp},
		{Use: "secrets", Short: "secret keys, for keys from strangers", Long: keysHelp},
	} {
		topic.GroupID = "topics"
		root.AddCommand(topic)
	}
	root.AddCommand(newMan(e))
	help := &cobra.Command{Use: "help [COMMAND]", Short: "explain a command or a topic", Hidden: true, RunE: helpFor}
	root.SetHelpCommand(help)
	root.Flags().Bool("version", false, "print the version")
	for _, c := range append(root.Commands(), root, help) {
		c.Flags().BoolP("help", "h", false, "explain the command")
		c.Flags().Lookup("help").Hidden = true
		c.DisableFlagsInUseLine = true
	}
	return root
}

func helpFor(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return fmt.Errorf("no help for %q%s (bloom --help lists the commands)", strings.Join(args, " "), suggestion(strings.Join(args, " "), commandNames(cmd.Root()), ""))
	}
	return found.Help()
}

func newCompletion(e *env) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:       "completion SHELL",
		Short:     "print the completions for a shell",
		Long:      "Prints the completions for SHELL: " + strings.Join(shells, ", ") + ".",
		Example:   "  bloom completion bash > ~/.local/share/bash-completion/completions/bloom",
		Args:      wantArgs(1, 1, "a shell: "+strings.Join(shells, ", ")),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			out := &errWriter{w: e.stdout}
			switch root := cmd.Root(); args[0] {
			case "bash":
				root.GenBashCompletionV2(out, true)
			case "zsh":
				root.GenZshCompletion(out)
			case "fish":
				root.GenFishCompletion(out, true)
			case "powershell":
				root.GenPowerShellCompletionWithDesc(out)
			default:
				return fmt.Errorf("shell %q, want one of %s", args[0], strings.Join(shells, ", "))
			}
			return out.err
		},
	}
}

// flagError puts pflag's errors into this program's words.
func flagError(cmd *cobra.Command, err error) error {
	where := fmt.Sprintf(" (%s --help lists the flags)", cmd.CommandPath())
	if none, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if none.GetSpecifiedShortnames() != "" {
			return fmt.Errorf("no flag -%s%s", none.GetSpecifiedName(), where)
		}
		return fmt.Errorf("no flag --%s%s%s", none.GetSpecifiedName(), suggestion(none.GetSpecifiedName(), flagNames(cmd), "--"), where)
	}
	if bad, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return fmt.Errorf("%s is no flag%s", bad.GetSpecifiedFlag(), where)
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("%s needs a value", flagUse(missing.GetFlag()))
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), errors.Unwrap(invalid))
	}
	return err
}

// suggestion returns "; did you mean …?" if one of the names is close to text.
func suggestion(text string, names []string, prefix string) string {
	if name := nearest(text, names); name != "" {
		return fmt.Sprintf("; did you mean %s%s?", prefix, name)
	}
	return ""
}

func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// flagUse is a flag as a user writes it: -n KEYS.
func flagUse(f *pflag.Flag) string {
	value, _ := pflag.UnquoteUsage(f)
	if f.Shorthand != "" {
		return "-" + f.Shorthand + " " + value
	}
	return "--" + f.Name + " " + value
}

// needs marks flags that a command cannot do without.
func needs(cmd *cobra.Command, flags ...string) {
	cmd.Annotations = map[string]string{"needs": strings.Join(flags, " ")}
}

// checkFlags refuses a missing flag, and an empty value: that of an unset shell variable.
func checkFlags(cmd *cobra.Command) (err error) {
	required := strings.Fields(cmd.Annotations["needs"])
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case err != nil:
		case !f.Changed && slices.Contains(required, f.Name):
			err = fmt.Errorf("%s needs %s (see %s --help)", cmd.Name(), flagUse(f), cmd.CommandPath())
		case f.Changed && f.Value.Type() == "string" && f.Value.String() == "":
			err = fmt.Errorf("--%s is empty, want a value", f.Name)
		}
	})
	return err
}

func wantNoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s: %q is one argument too many (see %s --help)", cmd.Name(), args[0], cmd.CommandPath())
	}
	return nil
}

// wantArgs refuses fewer than least arguments, and more than most unless it is 0.
func wantArgs(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s needs %s (see %s --help)", cmd.Name(), what, cmd.CommandPath())
		case most > 0 && len(args) > most:
			return fmt.Errorf("%s: %q is one argument too many (see %s --help)", cmd.Name(), args[most], cmd.CommandPath())
		}
		return nil
	}
}
