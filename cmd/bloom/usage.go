package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// arguments returns a check of the number of a command's arguments. most is -1 for any number.
func arguments(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("no FILE, want %s", usage(c))
		case most >= 0 && len(args) > most:
			return fmt.Errorf("argument %q is one too many, want %s", args[most], usage(c))
		}
		return nil
	}
}

// usage returns the line that shows a command's arguments.
func usage(c *cobra.Command) string { return "bloom " + c.Use }

// exclude forbids command lines that have both flags.
func (o *command) exclude(one, other string) {
	o.excluded = append(o.excluded, [2]string{one, other})
	o.cmd.MarkFlagsMutuallyExclusive(one, other) // for shell completion
}

// checkFlags returns an error for missing flags, for flags that exclude each other, and for an empty argument, as from
// an unset shell variable. It runs before cobra's own checks, because its messages have more detail.
func (o *command) checkFlags(_ *cobra.Command, args []string) (err error) {
	if slices.Contains(args, "") {
		return errors.New(`"" is no file, want its name`)
	}
	o.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Annotations[cobra.BashCompOneRequiredFlag] != nil && !f.Changed && err == nil {
			_, meaning := pflag.UnquoteUsage(f)
			err = fmt.Errorf("no --%s, want %s", f.Name, strings.TrimPrefix("-"+f.Shorthand+" ", "- ")+meaning)
		}
	})
	for _, pair := range o.excluded {
		if o.given(pair[0]) && o.given(pair[1]) {
			err = fmt.Errorf("--%s and --%s, want at most one", pair[0], pair[1])
		}
	}
	return err
}

// flagError returns the error for a flag that cannot be parsed.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("%w, want one of %s --help", err, c.CommandPath())
	case errors.As(err, &empty):
		_, meaning := pflag.UnquoteUsage(empty.GetFlag())
		return fmt.Errorf("--%s has no value, want %s", empty.GetFlag().Name, meaning)
	}
	return err
}

// unknownCommand returns the error for a word that names no subcommand. The error lists the subcommands, and if topics
// is true the help topics.
func unknownCommand(of *cobra.Command, word string, topics bool) error {
	if !of.HasSubCommands() {
		of = of.Root()
	}
	var all []string
	for _, c := range of.Commands() {
		if !c.Hidden && (topics || c.Runnable() || c.HasAvailableSubCommands()) {
			all = append(all, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q, want one of %s", word, strings.Join(all, ", "))
}

// newHelp returns the command help. Unlike cobra's, it returns an error for an unknown topic.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "explain a command or a topic",
		ValidArgsFunction: func(*cobra.Command, []string, string) (all []string, _ cobra.ShellCompDirective) {
			for _, c := range root.Commands() {
				if !c.Hidden {
					all = append(all, c.Name())
				}
			}
			return all, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(c, args[len(args)-max(1, len(rest))], true)
			}
			c.InitDefaultHelpFlag()
			c.InitDefaultVersionFlag()
			return c.Help()
		},
	}
}
