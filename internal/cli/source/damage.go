package source

import (
	"errors"
	"slices"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// damageCodes are the codes of errors after which the events before can still
// be read.
var damageCodes = []string{"LOG-CORRUPT", "LOG-SHORT", "LOG-IO", "LOG-EVENT", "TRANSCRIPT-CHAIN", "TRANSCRIPT-READ"}

// IsDamage reports whether err says that a transcript is not what was stored.
func IsDamage(err error) bool {
	p, ok := errors.AsType[*problem.Error](err)
	return ok && slices.Contains(damageCodes, p.Code)
}

// intact returns o with the entries before its damage only, if the user wants
// that. The damage is told to the user. Without one intact event it stays an
// error.
func (s *Sources) intact(o Origin) Origin {
	if !s.untilDamage {
		return o
	}
	all := o.Entries
	o.Events, o.UntilDamage = 0, true // the number of events is not known yet
	o.Entries = func(yield func(log.Entry, error) bool) {
		read := 0
		for e, err := range all {
			switch {
			case IsDamage(err) && read > 0:
				s.Note("%s: %s; the %s before that are intact", o.Room, app.ReportOf(err).What, app.Count(read, "event"))
				return
			case err == nil && read == 0 && !startsRoom(o, e.Event):
				err = log.Corrupt(o.Room, 1, "it is the first event of another room")
			}
			read++
			if !yield(e, err) || err != nil {
				return
			}
		}
		s.Note("%s: no damage was found", o.Room)
	}
	return o
}

// startsRoom reports whether an event can be the first of a room of the data
// folder: with a damaged index, the events could be another room's.
func startsRoom(o Origin, e room.Event) bool {
	b, ok := e.Body.(room.Opened)
	return o.File != "" || !ok || b.Spec.Room == o.Room
}
