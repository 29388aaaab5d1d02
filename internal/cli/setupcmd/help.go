package setupcmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
)

// newHelpCmd explains commands, error codes and topics.
func newHelpCmd(a *commands) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | agents | exit-codes | environment | codes | CODE]",
		Short: "Explain a command, an error code, the exit codes, the environment, or how an agent takes a seat",
		Example: "  moot help run\n  moot help exit-codes\n  moot help environment\n" +
			"  moot help agents\n  moot help ROOM-MANUAL",
		Args: cobra.ArbitraryArgs,
		RunE: a.help,
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			names := []string{"agents", "exit-codes", "environment", "codes"}
			for _, c := range cmd.Root().Commands() {
				names = append(names, c.Name())
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func (a *commands) help(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Root().Help()
	}
	switch args[0] {
	case "agents":
		return a.Emit(map[string]string{"runbook": moot.Runbook}, func(w io.Writer) error { _, err := io.WriteString(w, moot.Runbook); return err })
	case "exit-codes":
		return a.Emit(app.ExitCodes, helpExitCodes)
	case "environment":
		return a.Emit(variables(), helpEnvironment)
	case "codes":
		return a.Emit(problem.Codes(), helpCodes)
	}
	if m, ok := findCode(args[0]); ok {
		return a.Emit(m, func(w io.Writer) error { return helpCode(w, m) })
	}
	target, rest, err := cmd.Root().Find(args)
	if err != nil || target == cmd.Root() || len(rest) > 0 {
		return app.Usagef(cmd, "no command, topic or error code %q", strings.Join(args, " "))
	}
	target.InitDefaultHelpFlag()
	return target.Help()
}

// findCode looks a code up without regard to case.
func findCode(code string) (problem.Meaning, bool) {
	for _, m := range problem.Codes() {
		if strings.EqualFold(m.Code, code) {
			return m, true
		}
	}
	return problem.Meaning{}, false
}

func helpCode(w io.Writer, m problem.Meaning) error {
	s := fmt.Sprintf("%s\n  %s\n", m.Code, m.Means)
	if m.Fix != "" {
		s += "  fix:  " + m.Fix + "\n"
	}
	_, err := fmt.Fprintf(w, "%s  exit: %d\n", s, m.Exit)
	return err
}

func helpCodes(w io.Writer) error {
	rows := app.Rows(problem.Codes(), func(m problem.Meaning) []string { return []string{m.Code, fmt.Sprint(m.Exit), m.Means} })
	return app.Table(w, []string{"CODE", "EXIT", "MEANS"}, rows)
}

func helpExitCodes(w io.Writer) error {
	rows := app.Rows(app.ExitCodes, func(e app.Ending) []string { return []string{fmt.Sprint(e.Code), e.Means} })
	return app.Table(w, []string{"CODE", "MEANS"}, rows)
}

// A variable is one that moot reads, as it is printed.
type variable struct {
	Name  string `json:"name"`
	Means string `json:"means"`
}

// variables lists every environment variable that moot reads by itself.
func variables() []variable {
	list := []variable{{"NO_COLOR", "set to anything: no colours"}, {"XDG_DATA_HOME", "where the data folder is by default"}}
	for _, v := range config.Variables() {
		list = append(list, variable{v.Name, v.Doc})
	}
	slices.SortFunc(list, func(a, b variable) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func helpEnvironment(w io.Writer) error {
	rows := app.Rows(variables(), func(v variable) []string { return []string{v.Name, v.Means} })
	if err := app.Table(w, []string{"VARIABLE", "MEANS"}, rows); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\nFlags win over variables, variables over the settings file.\nroom.yaml names variables of its own as ${NAME}.\n")
	return err
}
