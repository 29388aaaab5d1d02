// Package source finds transcripts by what the user calls them: a file, - for
// stdin, or a room of the data folder.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"slices"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/transcripts"
	"github.com/folkmoot/moot/transcripts/foreign"
)

// Sources finds transcripts by what the user calls them: a file, - for stdin,
// or else a room of the data folder, which is read without any lock.
type Sources struct {
	Dir     string // data folder
	Args    []string
	stdin   io.Reader                        // nil when - is only a name
	kept    *keptInput                       // see Twice; nil if stdin is read once
	how     foreign.Options                  // how files are read
	Note    func(format string, args ...any) // told what was left out of files of other programs; may be nil
	warn    func(format string, args ...any) // told of lines of which nothing can be used; may be nil
	OpenLog func() (app.RoomLog, error)      // of the data folder, for reading
	db      app.RoomLog                      // opened when the first room is read

	untilDamage bool          // see Single
	decisions   decisionFiles // see readDecisions
	read        progress
}

// An origin is one transcript, wherever it is.
type Origin struct {
	Room    string
	File    string // "" for a room of the data folder
	Form    string // room, portable, neutral or a foreign.Format
	Level   transcripts.Level
	Events  int64 // 0 when not known
	Chain   bool
	Entries iter.Seq2[log.Entry, error]
	Talk    *transcripts.Conversation // in the neutral format, or converted to it
	Report  *foreign.Report           // of another program's

	UntilDamage bool // Entries end where the transcript is damaged, if it is
}

// Most is level, or what the origin has at most.
func (o Origin) Most(level transcripts.Level) transcripts.Level {
	all := transcripts.Levels()
	return all[min(slices.Index(all, o.Level), slices.Index(all, level))]
}

func (s *Sources) Close() {
	if s.db != nil {
		_ = s.db.Close() // nothing was written
	}
	if s.kept != nil {
		s.kept.close()
	}
}

// Log opens the data folder for reading.
func (s *Sources) Log() (app.RoomLog, error) {
	if s.db == nil {
		db, err := s.OpenLog()
		if err != nil {
			return nil, err
		}
		s.db = db
	}
	return s.db, nil
}

// Rooms lists the data folder. One that is not there yet holds none.
func (s *Sources) Rooms(ctx context.Context) ([]log.Info, error) {
	db, err := s.Log()
	if errors.Is(err, log.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return db.Rooms(ctx)
}

// Each visits all transcripts in order, until visit fails.
// Decisions in files of their own are joined to their conversations.
func (s *Sources) Each(ctx context.Context, visit func(Origin) error) error {
	if err := s.readDecisions(); err != nil {
		return err
	}
	for i, name := range s.Args {
		if s.read.begin(i, len(s.Args)); slices.Contains(s.decisions.names, name) {
			continue
		}
		err := s.open(ctx, name, func(o Origin) error {
			if o.Talk != nil {
				if err := s.decisions.join(o.Talk); err != nil {
					return err
				}
			}
			return visit(o)
		})
		if err != nil {
			return err
		}
	}
	s.read.begin(len(s.Args), len(s.Args))
	return s.decisions.unused()
}

// open visits what name stands for.
func (s *Sources) open(ctx context.Context, name string, visit func(Origin) error) error {
	if name == "-" && s.stdin != nil {
		return s.Read(s.stdin, "stdin", visit)
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s.openRoom(ctx, name, visit)
	}
	if err != nil {
		return &problem.Error{Code: "TRANSCRIPT-READ", What: "the file cannot be read", Where: name, Err: err, Fix: "check its name and its permissions"}
	}
	defer f.Close()
	return s.Read(s.read.file(f), name, visit)
}

// Read visits the transcripts in a file.
func (s *Sources) Read(r io.Reader, name string, visit func(Origin) error) error {
	f, err := foreign.Open(r, name, s.how)
	if err != nil {
		return err
	}
	if f.Format != foreign.Moot {
		return s.readForeign(f, name, visit)
	}
	t, err := transcripts.NewReader(f.MootReader(), name)
	if err != nil {
		return err
	}
	if h := t.Header; t.Portable() {
		o := Origin{Room: h.Room, File: name, Form: "portable", Level: h.Level, Events: h.Events, Chain: h.Chain, Entries: t.Entries()}
		return visit(s.intact(o))
	}
	if t.OnlyDecisions() {
		return &problem.Error{
			Code: "TRANSCRIPT-CONVERSATION", What: "the file has decisions without turns", Where: name,
			Fix: "name it together with the file that holds the turns of its conversations, as moot replay and moot transcript import can",
		}
	}
	if !s.how.Strict {
		return s.readLenient(t, name, visit)
	}
	for c, err := range t.Conversations() {
		if err != nil {
			return err
		}
		if err := visit(neutral(name, "neutral", c)); err != nil {
			return err
		}
	}
	return nil
}

// readForeign visits the conversations of another program.
func (s *Sources) readForeign(f *foreign.File, name string, visit func(Origin) error) error {
	for c, err := range f.Conversations() {
		if err != nil {
			return err
		}
		s.told(c.ID, c.Report)
		o := neutral(name, string(f.Format), c.Conversation)
		o.Report = &c.Report
		if err := visit(o); err != nil {
			return err
		}
	}
	if n, first := f.Faults(); n > 0 && s.warn != nil {
		s.warn("%s: %s behind the last conversation are left out; the first at %s: %s", name, app.Count(n, "piece"), term.Line(first[0].Where), term.Line(first[0].What))
	}
	return nil
}

func neutral(file, form string, c *transcripts.Conversation) Origin {
	entries := func(yield func(log.Entry, error) bool) { transcripts.Entries(c.Events())(yield) }
	return Origin{Room: c.ID, File: file, Form: form, Level: transcripts.All, Entries: entries, Talk: c}
}

func (s *Sources) openRoom(ctx context.Context, name string, visit func(Origin) error) error {
	db, err := s.Log()
	var tail log.Pos
	if err == nil {
		tail, err = db.Tail(ctx, name)
	}
	switch {
	case s.untilDamage && IsDamage(err):
		tail.Seq = math.MaxInt64 // where the intact events end is not known yet
	case errors.Is(err, log.ErrNotFound), err == nil && tail.Seq == 0:
		return &problem.Error{
			Code: "ROOM-UNKNOWN", What: "there is neither a file nor a room " + name, Where: s.Dir,
			Fix: "check the path of the file, whose forms `moot transcript import --help` lists; `moot ls` lists the rooms of the data folder, and --data chooses another",
		}
	case err != nil:
		return err
	}
	o := Origin{
		Room: name, Form: "room", Level: transcripts.All, Events: int64(tail.Seq), Chain: true, Entries: stored(ctx, db, name, tail),
	}
	return visit(s.intact(o))
}

// stored yields the entries of a room up to tail.
func stored(ctx context.Context, db log.Reader, name string, tail log.Pos) iter.Seq2[log.Entry, error] {
	const page = 500
	return func(yield func(log.Entry, error) bool) {
		for at := (log.Pos{}); at.Seq < tail.Seq; {
			entries, err := db.Read(ctx, name, at, page)
			if err == nil && len(entries) == 0 {
				err = log.Corrupt(name, at.Seq+1, "events are missing")
			}
			for _, e := range entries {
				if at = e.Pos; at.Seq > tail.Seq {
					return
				}
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(log.Entry{}, err)
				return
			}
		}
	}
}

// One uses the only transcript that name holds, or the conversation of it
// that is asked for.
func (s *Sources) One(ctx context.Context, name, conversation string, use func(Origin) error) error {
	var found *Origin
	others := 0
	err := s.open(ctx, name, func(o Origin) error {
		switch {
		case o.Talk == nil:
			return use(o) // its entries can be read now only
		case conversation == "" && found != nil:
			others++
		case conversation == "" || conversation == o.Room:
			found = &o
		}
		return nil
	})
	switch {
	case err != nil || found == nil && conversation == "":
		return err
	case found == nil:
		return &problem.Error{Code: "TRANSCRIPT-CONVERSATION", What: "there is no conversation " + conversation, Where: name, Fix: "`moot transcript ls " + name + "` lists them"}
	case others > 0:
		return &problem.Error{
			Code: "TRANSCRIPT-CONVERSATION", What: fmt.Sprintf("the file holds %d conversations", others+1), Where: name,
			Fix: "choose one with --conversation; `moot transcript ls " + name + "` lists them",
		}
	}
	return use(*found)
}

// EventsOf reads all events of a transcript.
func EventsOf(entries iter.Seq2[log.Entry, error]) ([]room.Event, error) {
	var events []room.Event
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		events = append(events, e.Event)
	}
	return events, nil
}
