package roomcmd

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/preset"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/rights"
)

// newValidateCmd checks room files.
func newValidateCmd(a *commands) *cobra.Command {
	var headless, strict bool
	cmd := &cobra.Command{
		Use:   "validate [FILE...]",
		Short: "Check room files and list every problem with its place",
		Long: "validate checks room files, room.yaml when none is named: first against the\n" +
			"schema (`moot schema room`), then what only the whole file and this machine\n" +
			"show. It ends with 3 when a file has an error; warnings count with --strict.",
		Example: "  moot validate\n  moot validate --headless rooms/*.yaml\n  moot validate -o json room.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"room.yaml"}
			}
			return a.validate(args, headless, strict)
		},
	}
	cmd.Flags().BoolVar(&headless, "headless", false, "also report what prevents the room from running headless")
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings are errors")
	return cmd
}

// A verdict is what is said about one file.
type verdict struct {
	File         string          `json:"file"`
	OK           bool            `json:"ok"`
	Participants int             `json:"participants,omitempty"`
	Policy       string          `json:"policy,omitempty"`
	Notes        []string        `json:"notes,omitempty"` // who can read the room apart from its devices; tool rights that are not enforced
	Problems     config.Problems `json:"problems"`
}

func (a *commands) validate(files []string, headless, strict bool) error {
	verdicts := make([]verdict, len(files))
	bad, problems := 0, 0
	for i, file := range files {
		r, ps := config.Load(file, a.Wiring().RoomOptions(filepath.Dir(file), headless))
		v := verdict{File: file, OK: r != nil && (!strict || len(ps) == 0), Problems: ps}
		if r != nil {
			v.Participants, v.Policy = len(r.Participants), r.Policy.Use
			v.Notes = privacyNotes(r)
		}
		if ps == nil {
			v.Problems = config.Problems{} // [] in JSON
		}
		if !v.OK {
			bad, problems = bad+1, problems+len(ps)
		}
		verdicts[i] = v
	}
	if err := a.Emit(verdicts, func(w io.Writer) error { return printVerdicts(w, verdicts) }); err != nil {
		return err
	}
	if bad == 0 {
		return nil
	}
	return &problem.Error{
		Code: config.CodeInvalid, What: app.Count(problems, "problem") + " in " + app.Count(bad, "file"),
		Fix: "`moot help CODE` explains a code, `moot schema room` the keys",
	}
}

func printVerdicts(w io.Writer, verdicts []verdict) error {
	for _, v := range verdicts {
		if err := v.Problems.Print(w); err != nil {
			return err
		}
		if !v.OK {
			continue
		}
		fmt.Fprintf(w, "%s: ok, %s, policy %s\n", v.File, app.Count(v.Participants, "participant"), v.Policy)
		printNotes(w, v.Notes)
	}
	return nil
}

// privacyNotes says which agents of a room send it to a server that can read it.
func privacyNotes(r *config.Room) (all []string) {
	for _, p := range r.Participants {
		all = appendNote(all, p.Seat)
	}
	return all
}

func appendNote(all []string, p room.Participant) []string {
	for _, note := range []string{config.PrivacyNote(p.Endpoint), toolNote(p)} {
		if note != "" {
			all = append(all, p.ID+": "+note)
		}
	}
	return all
}

// toolNote says which tools an agent may not use and could use all the same.
func toolNote(p room.Participant) string {
	use, _ := p.Rights()
	if p.Kind != policy.Local || use.Has(rights.All) || len(p.Endpoint) == 0 {
		return ""
	}
	tools, why := preset.NotEnforcedAt(p.Endpoint, (rights.All &^ use).Names())
	if len(tools) == 0 {
		return ""
	}
	return "its tools are " + use.String() + "; not enforced: " + strings.Join(tools, ", ") + " (" + why + ")"
}

func printNotes(w io.Writer, notes []string) {
	for _, note := range notes {
		fmt.Fprintf(w, "  %s\n", endpoint.CleanLine(note, 300))
	}
}
