package replay_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
)

// sure chooses whoever spoke most, as sure as that share, and declines where
// it is not sure at all.
type sure struct{}

func (sure) Propose(_ context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	best, total := -1, 1
	for i, a := range in.Agents {
		total += a.Turns
		if a.Eligible && (best < 0 || a.Turns > in.Agents[best].Turns) {
			best = i
		}
	}
	share := float64(in.Agents[best].Turns) / float64(total)
	if share < 0.1 {
		return policy.Decline("nobody stands out"), policy.Record{}, nil
	}
	d := policy.Speak(in.Agents[best].ID, in.Agents[best].ID+" speaks most")
	d.Confidence = &share
	return d, policy.Record{}, nil
}

// long is a report of twelve talks of a thousand rounds.
func long(t *testing.T) *replay.Report {
	t.Helper()
	r, err := replay.Run(t.Context(), replay.Config{Subjects: []replay.Subject{
		{Name: "sure", Policy: sure{}}, {Name: "round-robin", Baseline: "round-robin"},
	}}, func(yield func(replay.Transcript, error) bool) {
		for i := range 12 {
			if !yield(replay.Transcript{Name: fmt.Sprint("talk/", i), Talk: chatter(fmt.Sprint("talk/", i), 1000)}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// chatter is a talk of five for so many turns, none of a speaker in a row.
func chatter(id string, turns int) *replay.Talk {
	names := []string{"ann", "bob", "cid", "dan", "eve"}
	talk := &replay.Talk{ID: id}
	for _, name := range names {
		talk.Participants = append(talk.Participants, replay.Person{ID: name, Kind: replay.KindAgent})
	}
	x, last := uint32(len(id)+7), 0
	for i := range turns {
		x = x*1664525 + 1013904223
		last = (last + 1 + int(x>>24)%(len(names)-1)) % len(names)
		text := fmt.Sprintf("%s, what of number %d? It was said that the answer is known.", names[(last+1)%len(names)], i)
		talk.Turns = append(talk.Turns, replay.Turn{Speaker: names[last], Text: text})
	}
	return talk
}
