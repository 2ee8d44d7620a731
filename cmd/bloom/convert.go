package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const convertHelp = `Writes a filter in another format. What is in it stays the same: a filter cannot be
converted to one for a program that would look for its bits in other places. So a filter
that Java's Guava shall read must be built for it: bloom build --format guava.

FILE may be - for standard input. With -o - the new file goes to standard output.`

func newConvert(e *env) *cobra.Command {
	var key secret
	var out, as string
	var force bool
	cmd := &cobra.Command{
		Use:     "convert --format FORMAT -o NEW-FILE FILE",
		Short:   "write a filter in another format",
		Long:    convertHelp + "\n\nFormats:\n" + formatsHelp(),
		Example: "  bloom convert --format text -o seen.txt seen.bloom\n  bloom convert --format bloom -o - - < seen.txt > back.bloom",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			release, err := claim(e, out, force)
			if err != nil {
				return err
			}
			defer release()
			to, err := formatNamed(as)
			if err != nil {
				return err
			}
			f, _, err := load(e, files[0], &key)
			if err != nil {
				return err
			}
			return save(e, out, f, to)
		},
	}
	key.flags(cmd)
	formatFlag(cmd, &as)
	outputFlags(cmd, &out, &force)
	if err := cmd.MarkFlagRequired("format"); err != nil {
		panic(err)
	}
	return cmd
}

func formatFlag(cmd *cobra.Command, as *string) {
	cmd.Flags().StringVar(as, "format", native.name, "`format` to write: "+strings.Join(formatNames(), ", "))
	complete(cmd, "format", formatNames()...)
}

func formatNamed(name string) (*format, error) {
	for i := range formats {
		if formats[i].name == name && formats[i].write != nil {
			return &formats[i], nil
		}
	}
	return nil, fmt.Errorf("format %q, want one of %s", name, strings.Join(formatNames(), ", "))
}

func formatsHelp() string {
	var b strings.Builder
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-21s %s\n", f.name, f.about)
	}
	return strings.TrimRight(b.String(), "\n")
}
