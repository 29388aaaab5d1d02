// Package seatcmd holds the commands with which an agent session that already runs
// takes a seat of a room: it awaits its turns and answers them.
package seatcmd

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

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

// A holder holds a seat of a room through the process that runs the room, or for a
// room of another device through the one that is online.
type holder struct {
	*client.Client
	Room, Seat string
	Close      func()
}

// hold finds the room that arg means. The caller closes the holder.
func (a *commands) hold(ctx context.Context, arg, seat string) (*holder, error) {
	id, elsewhere, err := a.findSeat(ctx, arg, seat)
	if err != nil {
		return nil, err
	}
	if elsewhere {
		c, done, err := a.Online()
		return &holder{c, id, seat, done}, err
	}
	c, err := a.Client(id)
	if err != nil {
		return nil, err
	}
	return &holder{c, id, seat, c.Close}, nil
}

// findSeat returns the id of the room that arg means: one of this device, or one of
// another device, which has invited this one to the seat.
func (a *commands) findSeat(ctx context.Context, arg, seat string) (id string, elsewhere bool, err error) {
	if err := checkSeat(seat); err != nil {
		return "", false, err
	}
	id, err = a.FindRoom(ctx, arg)
	if err == nil || a.Remote() || arg == "" {
		return id, false, err
	}
	store, opened := a.Wiring().Peers()
	if opened != nil {
		return "", false, opened
	}
	all, opened := store.List()
	for _, p := range all {
		for _, s := range p.Holds {
			if s.Seat == seat && strings.HasPrefix(s.Room, arg) {
				if elsewhere && s.Room != id {
					return "", false, &problem.Error{Code: "ROOM-AMBIGUOUS", What: "several rooms of other devices have an id that begins with " + arg, Fix: "write more of the id"}
				}
				id, elsewhere = s.Room, true
			}
		}
	}
	if elsewhere {
		err = nil
	}
	return id, elsewhere, cmp.Or(opened, err)
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
