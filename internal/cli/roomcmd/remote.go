package roomcmd

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/sight"
	"github.com/folkmoot/moot/room"
)

// remoteBriefs lists the rooms of the server that --server names.
func (a *commands) remoteBriefs(ctx context.Context) ([]api.RoomBrief, error) {
	c, err := a.Client("")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Rooms(ctx)
}

// showRemote shows a room of the server that --server names.
func (a *commands) showRemote(ctx context.Context, id string, last int) error {
	c, err := a.Client(id)
	if err != nil {
		return err
	}
	defer c.Close()
	shown, err := c.Show(ctx, id)
	if err != nil {
		return err
	}
	out := standing{View: shown.Decode(), InForce: shown.InForce, Process: shown.Process}
	p := a.Printer()
	var events []room.Event
	for e, err := range c.Events(ctx, id, 0) { // from the first one, which has the names
		if err != nil {
			return err
		}
		if text := p.Event(e); text != "" {
			out.Timeline = app.KeepLast(append(out.Timeline, text), last)
		}
		if b, ok := e.Body.(room.Joined); ok {
			out.Notes = appendNote(out.Notes, b.Participant)
		}
		events = app.KeepLast(append(events, e), last)
	}
	if out.Events, err = encoded(events); err != nil {
		return err
	}
	return a.Emit(out, func(w io.Writer) error { return a.printStanding(w, out) })
}

// remoteSight is [sight.Of] at the server that --server names.
func (a *commands) remoteSight(ctx context.Context, id string, turn int) (sight.Sight, error) {
	c, err := a.Client(id)
	if err != nil {
		return sight.Sight{}, err
	}
	defer c.Close()
	var s sight.Sight
	err = c.Call(ctx, http.MethodGet, "/api/rooms/"+url.PathEscape(id)+"/turns/"+strconv.Itoa(turn), nil, &s)
	if err != nil {
		return s, err
	}
	for _, b := range s.Permissions {
		e, err := room.UnmarshalEvent(b)
		if err != nil {
			return s, err
		}
		s.Asked = append(s.Asked, e)
	}
	return s, nil
}
