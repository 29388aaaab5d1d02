package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/folkmoot/moot/internal/problem"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// An imported room.
type imported struct {
	Room   string `json:"room"`
	Events int    `json:"events"`
	Chain  bool   `json:"chain"` // the one of the file
	File   string `json:"file"`
}

func (a *app) importFiles(ctx context.Context, files []string) error {
	db, err := sqlite.Open(sqlite.Config{Dir: a.settings.Data})
	if err != nil {
		return err
	}
	defer db.Close()
	src := sources{dir: a.settings.Data, args: files}
	defer src.close()
	all := []imported{}
	err = src.each(ctx, func(o origin) error {
		i, err := a.importOne(ctx, db, o)
		if err == nil {
			all = append(all, i)
		}
		return err
	})
	if eerr := a.emit(all, func(w io.Writer) error {
		for _, i := range all {
			if _, err := fmt.Fprintf(w, "imported %s: %s\n", i.Room, count(i.Events, "event")); err != nil {
				return err
			}
		}
		return nil
	}); err == nil {
		err = eerr
	}
	return err
}

// importOne stores a transcript as a room, all of it or nothing.
func (a *app) importOne(ctx context.Context, db *sqlite.DB, o origin) (imported, error) {
	i := imported{Room: o.room, Chain: o.chain, File: o.file}
	if o.file == "" {
		return i, &problem.Error{Code: "TRANSCRIPT-READ", What: o.room + " is a room and no file", Fix: "import takes files; `moot transcript export` writes them"}
	}
	var entries []log.Entry
	for e, err := range o.entries {
		if err != nil {
			return i, err
		}
		entries = append(entries, e)
	}
	i.Events = len(entries)
	if i.Events == 0 {
		return i, &problem.Error{Code: "TRANSCRIPT-READ", What: "the transcript has no events", Where: o.file, Fix: "export it again"}
	}
	err := store(ctx, db, o, entries)
	if errors.Is(err, log.ErrConflict) {
		err = &problem.Error{
			Code: "ROOM-EXISTS", What: "there is a room " + o.room, Where: a.settings.Data, Err: err,
			Fix: "remove it with `moot rm " + o.room + "`, or import into another folder with --data",
		}
	}
	if err == nil {
		a.warnOfCommands(o.room, entries)
	}
	return i, err
}

func store(ctx context.Context, db *sqlite.DB, o origin, entries []log.Entry) error {
	if o.chain {
		return db.Restore(ctx, o.room, entries)
	}
	events := make([]room.Event, len(entries))
	for i, e := range entries {
		if e.Event.Body == nil {
			return &problem.Error{Code: "TRANSCRIPT-READ", What: fmt.Sprintf("of event %d nothing is left", e.Seq), Where: o.file, Fix: "export the room with --level all"}
		}
		raw, err := room.MarshalEvent(e.Event)
		if err != nil {
			return err
		}
		if e.Raw != nil && !bytes.Equal(raw, e.Raw) {
			return &problem.Error{
				Code: "TRANSCRIPT-NEWER", What: fmt.Sprintf("event %d says what this moot does not know", e.Seq), Where: o.file,
				Fix: "import it with the release that wrote it, or a newer one",
			}
		}
		events[i] = e.Event
	}
	_, dup, err := db.Append(ctx, o.room, log.Pos{}, time.Time{}, events...)
	if err == nil && dup {
		err = log.ErrConflict
	}
	return err
}

// warnOfCommands tells what running the room would start: its log may be a
// stranger's.
func (a *app) warnOfCommands(name string, entries []log.Entry) {
	for _, e := range entries {
		b, ok := e.Event.Body.(room.Joined)
		if ok && b.Participant.Kind == policy.Local && b.Participant.Endpoint != nil {
			a.note("%s: `moot run --room` would start for %s: %s", name, b.Participant.ID, b.Participant.Endpoint)
		}
	}
}
