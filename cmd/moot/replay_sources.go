package main

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"

	"github.com/folkmoot/moot/internal/problem"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/sqlite"
	"github.com/folkmoot/moot/transcripts"
)

// sources finds transcripts by what the user calls them: a file, or else a
// room of the data folder, which is read without any lock.
type sources struct {
	dir  string // data folder
	args []string
	db   *sqlite.DB // opened when the first room is read
}

func (s *sources) close() {
	if s.db != nil {
		_ = s.db.Close() // nothing was written
	}
}

// log opens the data folder for reading.
func (s *sources) log() (log.Reader, error) {
	if s.db == nil {
		db, err := sqlite.Open(sqlite.Config{Dir: s.dir, ReadOnly: true})
		if err != nil {
			return nil, err
		}
		s.db = db
	}
	return s.db, nil
}

// unknown says that name is neither a file nor a room.
func (s *sources) unknown(name string) error {
	return &problem.Error{
		Code: "ROOM-UNKNOWN", What: "there is neither a file nor a room " + name, Where: s.dir,
		Fix: "`moot ls` lists the rooms of the data folder; --data chooses another",
	}
}

// open calls file for a file and stored for a room, whichever name is.
func (s *sources) open(ctx context.Context, name string, file func(*transcripts.Reader) error, stored func(log.Reader, log.Pos) error) error {
	f, err := os.Open(name)
	if err == nil {
		defer f.Close()
		r, err := transcripts.NewReader(f, name)
		if err != nil {
			return err
		}
		return file(r)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return &problem.Error{Code: "TRANSCRIPT-READ", What: "the file cannot be read", Where: name, Err: err, Fix: "check its name and its permissions"}
	}
	db, err := s.log()
	if errors.Is(err, log.ErrNotFound) {
		return s.unknown(name)
	}
	if err != nil {
		return err
	}
	tail, err := db.Tail(ctx, name)
	if errors.Is(err, log.ErrNotFound) || err == nil && tail.Seq == 0 {
		return s.unknown(name)
	}
	if err != nil {
		return err
	}
	return stored(db, tail)
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

// transcripts yields what replay works on.
func (s *sources) transcripts(ctx context.Context) iter.Seq2[replay.Transcript, error] {
	return func(yield func(replay.Transcript, error) bool) {
		for _, name := range s.args {
			stop := false
			give := func(t replay.Transcript) { stop = stop || !yield(t, nil) }
			err := s.open(ctx, name, func(r *transcripts.Reader) error {
				return replayable(r, name, func(t replay.Transcript) bool { give(t); return !stop })
			}, func(db log.Reader, tail log.Pos) error {
				events, err := eventsOf(stored(ctx, db, name, tail))
				if err == nil {
					give(replay.Transcript{Name: name, Room: events})
				}
				return err
			})
			if stop {
				return
			}
			if err != nil {
				yield(replay.Transcript{}, err)
				return
			}
		}
	}
}

// replayable yields what a file holds until yield says no.
func replayable(r *transcripts.Reader, name string, yield func(replay.Transcript) bool) error {
	if r.Portable() {
		events, err := eventsOf(r.Entries())
		if err == nil {
			yield(replay.Transcript{Name: r.Header.Room, Room: events})
		}
		return err
	}
	for c, err := range r.Conversations() {
		if err != nil {
			return err
		}
		if !yield(replay.Transcript{Name: c.ID, Talk: talkOf(c)}) {
			return nil
		}
	}
	return nil
}

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

// talkOf hands a conversation to replay.
func talkOf(c *transcripts.Conversation) *replay.Talk {
	t := &replay.Talk{ID: c.ID, Objective: c.Objective()}
	for _, p := range c.Participants {
		t.Participants = append(t.Participants, replay.Person(p))
	}
	clocks := c.Clocks()
	for i, turn := range c.Turns {
		t.Turns = append(t.Turns, replay.Turn{Speaker: turn.Speaker, Text: turn.Text, To: turn.Addressees, Clock: clocks[i]})
	}
	return t
}
