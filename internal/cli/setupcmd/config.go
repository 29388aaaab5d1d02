package setupcmd

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
)

// newConfigCmd shows settings and rooms as they are read.
func newConfigCmd(a *commands) *cobra.Command {
	return a.Group(&cobra.Command{
		Use:   "config",
		Short: "Show the program's settings, or a room file with what it includes",
	}, newConfigShowCmd(a))
}

func newConfigShowCmd(a *commands) *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use:   "show [ROOM.YAML]",
		Short: "Show what is in force; secrets and ${VARIABLES} stay as they are written",
		Example: "  moot config show --origin\n" +
			"  moot config show room.yaml",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.showRoomFile(args[0], origin)
			}
			return a.Emit(a.Origins, func(w io.Writer) error { return a.showSettings(w, origin) })
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "also where each value comes from")
	return cmd
}

func (a *commands) showSettings(w io.Writer, origin bool) error {
	head := []string{"SETTING", "VALUE"}
	if origin {
		head = append(head, "ORIGIN")
	}
	rows := app.Rows(a.Origins, func(s config.Setting) []string { return []string{s.Key, s.Value, s.Origin}[:len(head)] })
	return app.Table(w, head, rows)
}

// A shownRoom is a room file in JSON output.
type shownRoom struct {
	File string `json:"file"`
	YAML string `json:"yaml"`
}

func (a *commands) showRoomFile(file string, origin bool) error {
	text, ps := config.Show(file, origin)
	if err := ps.Err(); err != nil {
		return err
	}
	return a.EmitText(shownRoom{file, string(text)}, "%s", text)
}
