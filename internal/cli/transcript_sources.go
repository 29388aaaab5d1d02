package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/transcripts"
	"github.com/folkmoot/moot/transcripts/foreign"
)

// sources finds transcripts by what the user calls them: a file, - for stdin,
// or else a room of the data folder, which is read without any lock.
type sources struct {
	dir     string // data folder
	args    []string
	stdin   io.Reader                        // nil when - is only a name
	format  foreign.Format                   // of files; "" is told by what they hold
	note    func(format string, args ...any) // told what was left out of files of other programs; may be nil
	openLog func() (roomLog, error)          // of the data folder, for reading
	db      roomLog                          // opened when the first room is read
}

// An origin is one transcript, wherever it is.
type origin struct {
	room    string
	file    string // "" for a room of the data folder
	form    string // room, portable, neutral or a foreign.Format
	level   transcripts.Level
	events  int64 // 0 when not known
	chain   bool
	entries iter.Seq2[log.Entry, error]
	talk    *transcripts.Conversation // of the neutral form, or made of another program's
	report  *foreign.Report           // of another program's
}

// most is level, or what the origin has at most.
func (o origin) most(level transcripts.Level) transcripts.Level { return levelsUpTo(o.level, level) }

func (s *sources) close() {
	if s.db != nil {
		_ = s.db.Close() // nothing was written
	}
}

// log opens the data folder for reading.
func (s *sources) log() (roomLog, error) {
	if s.db == nil {
		db, err := s.openLog()
		if err != nil {
			return nil, err
		}
		s.db = db
	}
	return s.db, nil
}

// rooms lists the data folder. One that is not there yet holds none.
func (s *sources) rooms(ctx context.Context) ([]log.Info, error) {
	db, err := s.log()
	if errors.Is(err, log.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return db.Rooms(ctx)
}

// each visits all transcripts in order, until visit fails.
func (s *sources) each(ctx context.Context, visit func(origin) error) error {
	for _, name := range s.args {
		if err := s.open(ctx, name, visit); err != nil {
			return err
		}
	}
	return nil
}

// open visits what name stands for.
func (s *sources) open(ctx context.Context, name string, visit func(origin) error) error {
	if name == "-" && s.stdin != nil {
		return s.read(s.stdin, "stdin", visit)
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s.openRoom(ctx, name, visit)
	}
	if err != nil {
		return &problem.Error{Code: "TRANSCRIPT-READ", What: "the file cannot be read", Where: name, Err: err, Fix: "check its name and its permissions"}
	}
	defer f.Close()
	return s.read(f, name, visit)
}

// read visits the transcripts in a file.
func (s *sources) read(r io.Reader, name string, visit func(origin) error) error {
	f, err := foreign.Open(r, name, s.format)
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
		return visit(origin{room: h.Room, file: name, form: "portable", level: h.Level, events: h.Events, chain: h.Chain, entries: t.Entries()})
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
func (s *sources) readForeign(f *foreign.File, name string, visit func(origin) error) error {
	for c, err := range f.Conversations() {
		if err != nil {
			return err
		}
		if s.note != nil && c.Report.LeftOut() > 0 {
			s.note("%s, read as %s: %s", c.ID, f.Format, accounted(c.Report))
		}
		o := neutral(name, string(f.Format), c.Conversation)
		o.report = &c.Report
		if err := visit(o); err != nil {
			return err
		}
	}
	return nil
}

// accounted says in one line what was taken of a source.
func accounted(r foreign.Report) string {
	text := fmt.Sprintf("%s of %s", count(r.Turns, "turn"), count(r.Pieces, "piece"))
	if r.Joined > 0 {
		text += fmt.Sprintf(", %d joined to the turn before", r.Joined)
	}
	if n := r.LeftOut(); n > 0 {
		text += fmt.Sprintf(", %d left out", n)
	}
	return text
}

func neutral(file, form string, c *transcripts.Conversation) origin {
	entries := func(yield func(log.Entry, error) bool) { transcripts.Entries(c.Events())(yield) }
	return origin{room: c.ID, file: file, form: form, level: transcripts.All, entries: entries, talk: c}
}

func (s *sources) openRoom(ctx context.Context, name string, visit func(origin) error) error {
	db, err := s.log()
	var tail log.Pos
	if err == nil {
		tail, err = db.Tail(ctx, name)
	}
	switch {
	case errors.Is(err, log.ErrNotFound), err == nil && tail.Seq == 0:
		return &problem.Error{
			Code: "ROOM-UNKNOWN", What: "there is neither a file nor a room " + name, Where: s.dir,
			Fix: "`moot ls` lists the rooms of the data folder; --data chooses another",
		}
	case err != nil:
		return err
	}
	return visit(origin{
		room: name, form: "room", level: transcripts.All, events: int64(tail.Seq), chain: true, entries: stored(ctx, db, name, tail),
	})
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
			if err != nil {
				yield(log.Entry{}, err)
				return
			}
			for _, e := range entries {
				if at = e.Pos; at.Seq > tail.Seq {
					return
				}
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// one uses the only transcript that name holds, or the conversation of it
// that is asked for.
func (s *sources) one(ctx context.Context, name, conversation string, use func(origin) error) error {
	var found *origin
	others := 0
	err := s.open(ctx, name, func(o origin) error {
		switch {
		case o.talk == nil:
			return use(o) // its entries can be read now only
		case conversation == "" && found != nil:
			others++
		case conversation == "" || conversation == o.room:
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

// eventsOf reads all events of a transcript.
func eventsOf(entries iter.Seq2[log.Entry, error]) ([]room.Event, error) {
	var events []room.Event
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		events = append(events, e.Event)
	}
	return events, nil
}
