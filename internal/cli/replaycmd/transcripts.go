package replaycmd

import (
	"context"
	"errors"
	"iter"
	"os"

	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
)

// errEnough ends an iteration over transcripts early.
var errEnough = errors.New("enough")

// replayable yields the transcripts for a replay. A room is not read here: the
// replay reads its events one by one, so that a long room need not fit in
// memory. The sequence can be read again, if no argument is stdin.
func replayable(ctx context.Context, s *source.Sources, rated *ratings) iter.Seq2[history.Transcript, error] {
	again := false
	return func(yield func(history.Transcript, error) bool) {
		if again { // what was left out has been told
			s.Quiet()
		}
		again = true
		err := s.Each(ctx, func(o source.Origin) error {
			t, err := streamed(s, o)
			if err != nil {
				return err
			}
			if rated != nil {
				t.Fields = rated.of(&o)
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
func streamed(s *source.Sources, o source.Origin) (history.Transcript, error) {
	t := history.Transcript{Name: o.Room, Length: int(o.Events)}
	switch {
	case o.Talk != nil || o.File != "" && !reopens(o.File):
		return transcriptOf(o)
	case o.File != "":
		t.Events = again(s, o.File)
	default:
		t.Events = source.EventsIn(o.Entries)
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
func again(s *source.Sources, file string) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		f, err := os.Open(file)
		if err != nil {
			yield(room.Event{}, &problem.Error{Code: "TRANSCRIPT-READ", What: "the file cannot be read again", Where: file, Err: err, Fix: "keep the file until the replay ends"})
			return
		}
		defer f.Close()
		err = s.Read(f, file, func(o source.Origin) error {
			for e, err := range source.EventsIn(o.Entries) {
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

// transcriptOf reads all of a transcript.
func transcriptOf(o source.Origin) (history.Transcript, error) {
	t := history.Transcript{Name: o.Room}
	if o.Talk != nil {
		t.Conversation = source.Replayed(o.Talk)
		return t, nil
	}
	var err error
	t.Room, err = source.EventsOf(o.Entries)
	return t, err
}
