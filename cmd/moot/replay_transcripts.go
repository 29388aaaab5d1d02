package main

import (
	"context"
	"errors"
	"iter"

	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/transcripts"
)

// errEnough ends a walk over transcripts early.
var errEnough = errors.New("enough")

// replayable yields what replay works on.
func (s *sources) replayable(ctx context.Context) iter.Seq2[replay.Transcript, error] {
	return func(yield func(replay.Transcript, error) bool) {
		err := s.each(ctx, func(o origin) error {
			t, err := transcriptOf(o)
			if err != nil {
				return err
			}
			if !yield(t, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(replay.Transcript{}, err)
		}
	}
}

// transcriptOf reads all of a transcript.
func transcriptOf(o origin) (replay.Transcript, error) {
	t := replay.Transcript{Name: o.room}
	if o.talk != nil {
		t.Talk = talkOf(o.talk)
		return t, nil
	}
	var err error
	t.Room, err = eventsOf(o.entries)
	return t, err
}

// talkOf hands a conversation to replay.
func talkOf(c *transcripts.Conversation) *replay.Talk {
	t := &replay.Talk{ID: c.ID, Objective: c.Objective()}
	for _, p := range c.Participants {
		t.Participants = append(t.Participants, replay.Person{ID: p.ID, Kind: p.Kind, Role: p.Role})
	}
	clocks := c.Clocks()
	for i, turn := range c.Turns {
		t.Turns = append(t.Turns, replay.Turn{Speaker: turn.Speaker, Text: turn.Text, To: turn.Addressees, Clock: clocks[i]})
	}
	return t
}
