package cli

import (
	"context"
	"strings"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// trusted refuses to go on with a room that was imported: its log, written by
// somebody else, says which programs to start. The person who has read them
// says so.
func (f runFlags) trusted(ctx context.Context, db *sqlite.DB, s *room.State) error {
	imported, err := db.Imported(ctx, f.room)
	if err != nil || !imported || f.trust {
		return err
	}
	var commands []string
	for _, x := range s.Seats {
		e, err := config.ExpandEndpoint(x.Endpoint, s.Spec.Dir, func(string) (string, bool) { return "", true })
		if err == nil && len(e.Command) > 0 {
			commands = append(commands, x.ID+": "+strings.Join(e.Command, " "))
		}
	}
	if len(commands) == 0 {
		return nil
	}
	return &problem.Error{
		Code: "ROOM-IMPORTED", Where: "room " + f.room,
		What: "the room was imported, and to go on would start what its log says: " + strings.Join(commands, "; "),
		Fix:  "if you trust these commands, add --trust-commands",
	}
}
