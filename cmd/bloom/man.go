package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newMan(e *env) *cobra.Command {
	return &cobra.Command{
		Use:    "man",
		Short:  "print the manual page",
		Hidden: true,
		Args:   wantNoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(e.stdout, manual(cmd.Root()))
			return err
		},
	}
}

// manual is the manual page bloom(1), made of the help texts.
func manual(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH BLOOM 1\n.SH NAME\nbloom \\- %s\n.SH SYNOPSIS\n", roff(root.Short))
	visible := []*cobra.Command{}
	for _, c := range root.Commands() {
		if !c.Hidden {
			visible = append(visible, c)
		}
	}
	for _, c := range visible {
		if c.Runnable() {
			fmt.Fprintf(&b, ".B bloom\n%s\n.br\n", roff(c.Use))
		}
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", verbatim(root.Long))
	for _, c := range visible {
		fmt.Fprintf(&b, ".SH \"%s\"\n%s", strings.ToUpper(c.Name()), verbatim(c.Long))
		if c.HasExample() {
			fmt.Fprintf(&b, ".SS Examples\n%s", verbatim(c.Example))
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if value, usage := pflag.UnquoteUsage(f); !f.Hidden {
				name := "--" + f.Name
				if f.Shorthand != "" {
					name = "-" + f.Shorthand + ", " + name
				}
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(name+" "+value)), roff(usage))
			}
		})
	}
	return b.String()
}

// verbatim is a text whose lines stay as they are.
func verbatim(text string) string { return ".nf\n" + roff(text) + "\n.fi\n" }

// roff escapes a text.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	return strings.NewReplacer("\n.", "\n\\&.", "\n'", "\n\\&'").Replace(text)
}
