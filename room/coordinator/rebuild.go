package coordinator

import (
	"context"
	"fmt"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// GrantedPrompt returns what the participant that got that turn was handed, rebuilt
// from the log alone, and the event that granted it. The caller compares the
// prompt's digest with the recorded one; a redaction since then changes it.
func GrantedPrompt(ctx context.Context, l Log, id string, turn int) (endpoint.Prompt, room.TurnGranted, error) {
	var s room.State
	t := &messageCache{log: l, room: id}
	at := log.Pos{}
	for {
		entries, err := l.Read(ctx, id, at, page)
		if err != nil {
			return endpoint.Prompt{}, room.TurnGranted{}, err
		}
		for _, e := range entries {
			if b, ok := e.Event.Body.(room.TurnGranted); ok && b.Turn == turn {
				p, err := prompt(ctx, &s, t, b.Participant, b.Window, turn, b.Request, b.Hints)
				return p, b, err
			}
			s.Apply(e.Event)
			at = e.Pos
		}
		if len(entries) < page {
			return endpoint.Prompt{}, room.TurnGranted{}, &problem.Error{
				Code: "ROOM-UNKNOWN", What: fmt.Sprintf("room %s has no turn %d", id, turn),
				Fix: "`moot show " + id + "` lists its turns", Kind: log.ErrNotFound,
			}
		}
	}
}
