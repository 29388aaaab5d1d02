// Package controlcmd holds the commands that control a room which another process
// runs: the daemon, a `moot run` in another terminal, or a server.
package controlcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Commands returns the commands that control rooms.
func Commands(a *app.App) []*cobra.Command {
	c := &commands{a}
	return []*cobra.Command{
		newAttachCmd(c), newSayCmd(c), newPauseCmd(c), newResumeCmd(c), newStopCmd(c), newCompleteCmd(c),
		newTakeOverCmd(c), newReleaseCmd(c), newNextCmd(c), newModeCmd(c),
		newInboxCmd(c), newApproveCmd(c), newReplyCmd(c), newEditCmd(c), newRejectCmd(c),
		newPostCmd(c), newPullCmd(c), newAckCmd(c),
	}
}

// A sender is what all commands of this package have in common: who acts, and the
// id of the command.
type sender struct{ as, id string }

// flags adds the flags of s to a command, and lets it use servers.
func (s *sender) flags(cmd *cobra.Command) {
	app.AllowServer(cmd)
	cmd.Flags().StringVar(&s.as, "as", "", "which person of the room you are; default: the first of the roster, else the host")
	cmd.Flags().StringVar(&s.id, "id", "", "id of this command: the same one again changes nothing")
}

// A done is the result of a command.
type done struct {
	Room    string            `json:"room"`
	Command string            `json:"command"` // its id
	Events  []json.RawMessage `json:"events"`  // none if nothing changed

	room.View `json:"-"` // before the command
}

// do finds the room that arg means and carries out a command in it, which fill
// completes.
func (a *commands) do(ctx context.Context, arg string, s sender, fill func(room.View, *api.Command)) (done, error) {
	id, err := a.FindRoom(ctx, arg)
	if err != nil {
		return done{}, err
	}
	c, err := a.Client(id)
	if err != nil {
		return done{}, err
	}
	defer c.Close()
	shown, err := c.Show(ctx, id)
	if err != nil {
		return done{}, err
	}
	q := api.Command{ID: cmp.Or(s.id, client.NewID()), As: app.Person(shown.View, s.as)}
	fill(shown.View, &q)
	events, err := c.Do(ctx, id, q)
	if err != nil {
		return done{}, err
	}
	sent, err := api.DoneOf(events)
	return done{Room: id, Command: q.ID, Events: sent.Events, View: shown.View}, err
}

// tell writes the result of a command: said, if it has changed something.
func (a *commands) tell(d done, said string) error {
	if len(d.Events) == 0 {
		said = "nothing changed: the room is " + string(d.Phase) + ", as before"
	}
	return a.Emit(d, func(w io.Writer) error { _, err := io.WriteString(w, said+"\n"); return err })
}

// isSession reports whether id is a seat that an agent session has, which speaks for
// itself.
func isSession(v room.View, id string) bool {
	return slices.ContainsFunc(v.Seats, func(x room.SeatView) bool { return x.ID == id && x.Presence != "" && x.Phase != "taken over" })
}

// isAgent reports whether id is the seat of an agent.
func isAgent(v room.View, id string) bool {
	return slices.ContainsFunc(v.Seats, func(x room.SeatView) bool { return x.ID == id && x.Kind != policy.Human })
}
