package controlcmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// maxText bounds a message that is read from stdin, in bytes.
const maxText = 1 << 20

// newSayCmd posts a message.
func newSayCmd(a *commands) *cobra.Command {
	var s sender
	var to string
	cmd := &cobra.Command{
		Use:   "say ROOM TEXT",
		Short: "Say something in a room that runs",
		Long: "say posts a message in a room that another process runs. TEXT is - for what is on\n" +
			"stdin. --as is a person of the room, a seat that you have taken over, or the seat of your\n" +
			"agent session.",
		Example:           "  moot say r_01k5 \"Is the index safe?\"\n  moot say review \"Please look at 0042\" --to dba\n  git diff | moot say review -",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.CompleteRoom(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.text(cmd, args[1])
			if err != nil {
				return err
			}
			d, err := a.do(cmd.Context(), args[0], s, func(v room.View, q *api.Command) {
				q.Do, q.Text, q.To = "say", text, to
				if isAgent(v, s.as) && !isSession(v, s.as) {
					q.For, q.As = s.as, app.Person(v, "") // who has taken the seat over
				}
			})
			if err != nil {
				return err
			}
			return a.tell(d, "said in "+d.Room)
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&to, "to", "", "the participant whom it is for; default: everybody")
	return cmd
}

// text returns the message that an argument means.
func (a *commands) text(cmd *cobra.Command, arg string) (string, error) {
	if arg == "-" {
		b, err := io.ReadAll(io.LimitReader(a.Stdin, maxText+1))
		if err != nil {
			return "", fmt.Errorf("reading the message: %w", err)
		}
		if len(b) > maxText {
			return "", &problem.Error{Code: "CLI-USAGE", What: "the message on stdin is longer than 1 MiB", Fix: "put it into a file, and say where it is"}
		}
		arg = string(b)
	}
	if strings.TrimSpace(arg) == "" {
		return "", app.Usagef(cmd, "the message is empty")
	}
	return arg, nil
}
