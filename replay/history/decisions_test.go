package history_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
)

func decided() *history.Conversation {
	c := &history.Conversation{ID: "game"}
	for _, p := range []string{"ann human", "bo human", "Rowan agent"} {
		id, kind, _ := strings.Cut(p, " ")
		c.Participants = append(c.Participants, history.Participant{ID: id, Kind: kind})
	}
	for i, s := range []string{"ann one", "ann two", "bo three", "Rowan four", "ann five"} {
		who, text, _ := strings.Cut(s, " ")
		c.Turns = append(c.Turns, history.Turn{Speaker: who, Text: text, Clock: time.Duration(i+1) * time.Second})
	}
	return c
}

// points describes the decision points of a conversation, with the events since the
// previous one and the eligible agents.
func points(t *testing.T, x history.Transcript) (all []string) {
	t.Helper()
	h, err := history.Open(x)
	if err != nil {
		t.Fatal(err)
	}
	cursor := room.PolicyCursor{}
	err = h.Walk(0, nil, func(p *history.Point) error {
		var in policy.Input
		if err := p.Input(&in, cursor); err != nil {
			return err
		}
		var events, eligible []string
		for _, e := range in.Events {
			if e.Kind != policy.KindSystem {
				events = append(events, strings.TrimSpace(e.From+" "+e.Text+strings.Join(e.Silent, ",")))
			}
		}
		for _, a := range in.Agents {
			if a.Eligible {
				eligible = append(eligible, a.ID)
			}
		}
		slices.Sort(eligible)
		cursor.Asked, cursor.Through = true, p.State.Seq
		all = append(all, fmt.Sprintf("%v %s asked %d: %q %s", p.At, h.NameOf(p.Truth), p.Asked, events, strings.Join(eligible, " ")))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := history.Points(x); err != nil || n != len(all) {
		t.Errorf("counted %d points of %d: %v", n, len(all), err)
	}
	return all
}

func check(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRecordedDecisions: each recorded decision is a point of its own at its time. It
// separates messages that would be merged, but adds no choice of a speaker. The policy
// sees the silences, and nothing that came later.
func TestRecordedDecisions(t *testing.T) {
	t.Parallel()
	c := decided()
	c.Decisions = []history.Decision{
		{Before: 1, Agent: "Rowan", Clock: 1500 * time.Millisecond},
		{Before: 2, Agent: "Rowan", Speak: true, Clock: 2500 * time.Millisecond},
		{Before: 4, Agent: "Rowan", Clock: 4500 * time.Millisecond},
	}
	h, err := history.Open(history.Transcript{Name: "game", Conversation: c})
	if err != nil {
		t.Fatal(err)
	}
	seat, _ := h.SeatOf("Rowan")
	asked := fmt.Sprintf("asked %d", seat)
	check(
		t, points(t, history.Transcript{Name: "game", Conversation: c}),
		"1.5s decline "+asked+`: ["ann one"] Rowan`,
		"2.5s Rowan "+asked+`: ["Rowan could speak and did notRowan" "ann two"] Rowan`,
		"3s bo asked -1: [] Rowan bo",
		`4s Rowan asked -1: ["bo three"] Rowan ann`,
		"4.5s decline "+asked+`: ["Rowan four"] Rowan`,
		`5s ann asked -1: ["Rowan could speak and did notRowan"] ann bo`,
	)
}

// TestImpliedDecisions: where a source records silences of a participant and no
// decisions to speak, its turns are these.
func TestImpliedDecisions(t *testing.T) {
	t.Parallel()
	c := decided()
	c.Decisions = []history.Decision{{Before: 3, Agent: "Rowan", Clock: 3 * time.Second}}
	got := points(t, history.Transcript{Name: "game", Conversation: c})
	if len(got) != 5 || !strings.HasPrefix(got[2], "4s Rowan asked ") || strings.Contains(got[2], "asked -1") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// TestNobodySpoke: a silence of all is a choice of a speaker whose truth is a declined
// round, also between turns of one speaker.
func TestNobodySpoke(t *testing.T) {
	t.Parallel()
	c := decided()
	c.Participants[2].Kind = "human"
	if h, err := history.Open(history.Transcript{Conversation: c}); err != nil || h.Mixed() {
		t.Errorf("people alone are a mixed room: %v", err)
	}
	c.Decisions = []history.Decision{{Before: 1, Clock: time.Second}}
	if h, err := history.Open(history.Transcript{Conversation: c}); err != nil || !h.Mixed() {
		t.Errorf("silence means nothing where it is recorded: %v", err)
	}
	check(
		t, points(t, history.Transcript{Name: "game", Conversation: c}),
		`1s decline asked -1: ["ann one"] Rowan bo`,
		`3s bo asked -1: ["nobody spoke" "ann two"] Rowan bo`,
		`4s Rowan asked -1: ["bo three"] Rowan ann`,
		`5s ann asked -1: ["Rowan four"] ann bo`,
	)
}
