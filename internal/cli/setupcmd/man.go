package setupcmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
)

// newManCmd prints the manual page.
func newManCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "man",
		Short:   "Print the manual page",
		Example: "  moot man | man -l -\n  moot man > /usr/local/share/man/man1/moot.1",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var b strings.Builder
			manual(&b, cmd.Root())
			_, err := io.WriteString(a.Stdout, b.String())
			return err
		},
	}
	app.Formats(cmd, app.FormatTable)
	return cmd
}

// manual writes the page of all commands in the macros of man(7).
func manual(b *strings.Builder, root *cobra.Command) {
	fmt.Fprintf(b, ".TH MOOT 1 \"\" \"moot %s\" \"User Commands\"\n", roff(catalog.Version()))
	fmt.Fprintf(b, ".SH NAME\nmoot \\- %s\n", roff(root.Short))
	b.WriteString(".SH SYNOPSIS\n.B moot\n.RI [ flags ]\n.I command\n")
	fmt.Fprintf(b, ".SH DESCRIPTION\n%s\n", roff(root.Long))
	b.WriteString(".SH FLAGS OF EVERY COMMAND\n")
	manFlags(b, root.PersistentFlags())
	b.WriteString(".SH COMMANDS\n")
	manCommands(b, root)
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range app.ExitCodes {
		fmt.Fprintf(b, ".TP\n.B %d\n%s\n", e.Code, roff(e.Means))
	}
	b.WriteString(".SH ENVIRONMENT\n")
	for _, v := range variables() {
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(v.Name), roff(v.Means))
	}
	b.WriteString(".SH FILES\n.TP\n.I room.yaml\nOne room; see\n.BR \"moot schema room\" .\n")
	fmt.Fprintf(b, ".TP\n.I %s\nSettings of the program.\n", roff(config.SettingsName))
}

// manCommands writes every command that does something, in order.
func manCommands(b *strings.Builder, parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		if cmd.Hidden {
			continue
		}
		if cmd.HasSubCommands() {
			manCommands(b, cmd)
			continue
		}
		text := cmd.Long
		if text == "" {
			text = cmd.Short + "."
		}
		fmt.Fprintf(b, ".SS %s\n%s\n", roff(strings.TrimSuffix(cmd.UseLine(), " [flags]")), roff(text))
		manFlags(b, cmd.LocalNonPersistentFlags())
		if cmd.Example != "" {
			fmt.Fprintf(b, ".PP\n.EX\n%s\n.EE\n", roff(cmd.Example))
		}
	}
}

func manFlags(b *strings.Builder, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(name+" "+value)), roff(usage))
	})
}

// roff escapes text, and keeps paragraphs and lines that are indented.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		switch {
		case line == "":
			lines[i] = ".PP"
		case strings.HasPrefix(line, "  "):
			lines[i] = ".br\n" + line
		case strings.HasPrefix(line, "."):
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
