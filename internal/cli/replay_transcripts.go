package cli

import (
	"context"
	"errors"
	"iter"
	"os"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/transcripts"
)

// errEnough ends an iteration over transcripts early.
var errEnough = errors.New("enough")

// replayable yields the transcripts for a replay. A room is not read here: the
// replay reads its events one by one, so that a long room need not fit in
// memory.
func (s *sources) replayable(ctx context.Context) iter.Seq2[history.Transcript, error] {
	return func(yield func(history.Transcript, error) bool) {
		err := s.each(ctx, func(o origin) error {
			t, err := s.streamed(o)
			if err != nil {
				return err
			}
			if !yield(t, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(history.Transcript{}, err)
		}
	}
}

// streamed returns a transcript whose events are read on demand, if the room or
// the file can be read again.
func (s *sources) streamed(o origin) (history.Transcript, error) {
	t := history.Transcript{Name: o.room}
	switch {
	case o.talk != nil || o.file != "" && !reopens(o.file):
		return transcriptOf(o)
	case o.file != "":
		t.Events = s.again(o.file)
	default:
		t.Events = eventsIn(o.entries)
	}
	return t, nil
}

// reopens reports whether a file can be opened again.
func reopens(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// again returns a sequence that reads the room in a file from its start each
// time.
func (s *sources) again(file string) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		f, err := os.Open(file)
		if err != nil {
			yield(room.Event{}, &problem.Error{Code: "TRANSCRIPT-READ", What: "the file cannot be read again", Where: file, Err: err, Fix: "keep the file until the replay ends"})
			return
		}
		defer f.Close()
		err = s.read(f, file, func(o origin) error {
			for e, err := range eventsIn(o.entries) {
				if !yield(e, err) || err != nil {
					return errEnough
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(room.Event{}, err)
		}
	}
}

// eventsIn yields the events in entries.
func eventsIn(entries iter.Seq2[log.Entry, error]) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		for e, err := range entries {
			if !yield(e.Event, err) || err != nil {
				return
			}
		}
	}
}

// transcriptOf reads all of a transcript.
func transcriptOf(o origin) (history.Transcript, error) {
	t := history.Transcript{Name: o.room}
	if o.talk != nil {
		t.Conversation = replayedConversation(o.talk)
		return t, nil
	}
	var err error
	t.Room, err = eventsOf(o.entries)
	return t, err
}

// replayedConversation converts a conversation for replay.
func replayedConversation(c *transcripts.Conversation) *history.Conversation {
	t := &history.Conversation{ID: c.ID, Objective: c.Objective()}
	for _, p := range c.Participants {
		t.Participants = append(t.Participants, history.Participant{ID: p.ID, Name: p.Name, Kind: p.Kind, Role: p.Role})
	}
	clocks := c.Clocks()
	t.Turns = make([]history.Turn, 0, len(c.Turns))
	for i, turn := range c.Turns {
		t.Turns = append(t.Turns, history.Turn{Speaker: turn.Speaker, Text: turn.Text, To: turn.Addressees, Clock: clocks[i]})
	}
	return t
}
