// Package seatcmd holds the commands with which an agent session that already runs
// takes a seat of a room: it awaits its turns and answers them.
package seatcmd

import (
	"context"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/problem"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Commands returns the commands for agent sessions.
func Commands(a *app.App) []*cobra.Command {
	c := &commands{a}
	return []*cobra.Command{newAwaitCmd(c), newAnswerCmd(c), newPassCmd(c), newHookCmd(c)}
}

// A holder holds a seat of a room through the process that runs the room.
type holder struct {
	*client.Client
	Room, Seat string
}

// hold finds the room that arg means. The caller closes the holder.
func (a *commands) hold(ctx context.Context, arg, seat string) (*holder, error) {
	if err := checkSeat(seat); err != nil {
		return nil, err
	}
	id, err := a.FindRoom(ctx, arg)
	if err != nil {
		return nil, err
	}
	c, err := a.Client(id)
	if err != nil {
		return nil, err
	}
	return &holder{c, id, seat}, nil
}

// checkSeat reports a command line that names no seat.
func checkSeat(seat string) error {
	if seat != "" {
		return nil
	}
	return &problem.Error{Code: "CLI-USAGE", What: "--as is missing", Fix: "name the seat that you have: --as ID; `moot show ROOM` lists the participants"}
}

// post calls a route of the seat.
func (h *holder) post(ctx context.Context, verb string, in, out any) error {
	return h.Call(ctx, http.MethodPost, "/api/rooms/"+url.PathEscape(h.Room)+"/seats/"+url.PathEscape(h.Seat)+"/"+verb, in, out)
}

// seatFlag adds the flag that names the seat.
func seatFlag(cmd *cobra.Command, seat *string) {
	app.AllowServer(cmd)
	cmd.Flags().StringVar(seat, "as", "", "the seat that you have: a participant with endpoint {kind: session}")
}
