package room_test

import (
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
)

// TestFollows checks events that cannot follow from a state, and that those
// before them can.
func TestFollows(t *testing.T) {
	grant := func(turn int) room.Body { return room.TurnGranted{Turn: turn, Participant: "a", Request: "q"} }
	post := func(turn int) room.Body {
		return room.MessagePosted{Turn: turn, Message: room.Message{ID: "m", From: "a", To: room.Broadcast}}
	}
	begin := []room.Body{
		room.Opened{Spec: room.Spec{Room: "r", Limits: room.Limits{MaxTurns: 2}}},
		room.Joined{Participant: room.Participant{ID: "a"}},
		room.Joined{Participant: room.Participant{ID: "me", Kind: "human"}},
		grant(1),
	}
	for want, after := range map[string][]room.Body{
		"":                        {post(1), grant(2), room.Paused{}, room.Resumed{}},
		"opened twice":            {room.Opened{}},
		"turn 1 is open":          {grant(2)},
		"turn 3 after turn 1":     {post(1), grant(3)},
		"past the limit maxTurns": {post(1), grant(2), post(2), grant(3)},
		"no turn is open":         {post(1), post(1)},
		"about turn 2":            {room.TurnPassed{Turn: 2}},
		"the room is stopped":     {post(1), room.Stopped{}, grant(2)},
		"the room is paused":      {post(1), room.Paused{}, grant(2)},
		"a draft that does not":   {room.TurnApproved{Turn: 1, Draft: "d"}},
		"edits a draft":           {room.TurnEdited{Turn: 1}},
		"a room that is live":     {room.Resumed{}},
		"to b, who has no seat":   {post(1), room.TurnGranted{Turn: 2, Participant: "b"}},
		"to me, who cannot have":  {post(1), room.TurnGranted{Turn: 2, Participant: "me"}},
		"limit maxDuration":       {post(1), nil, grant(2)},
		"epoch 1, after epoch 2":  {room.Claimed{}},
		"has the number":          {post(1), nil, nil},
	} {
		s := &room.State{}
		events := append(append([]room.Body{}, begin...), after...)
		got := ""
		for i, b := range events {
			if got != "" {
				t.Errorf("%q: event %d cannot follow: %s", want, i, got)
			}
			e := room.Event{Seq: s.Seq + 1, Body: b}
			switch {
			case b == nil && want == "has the number":
				e.Seq, e.Body = s.Seq+2, room.Claimed{}
			case b == nil:
				continue
			case strings.HasPrefix(want, "limit maxDuration") && i == len(events)-1:
				e.Clock = time.Hour
			case strings.HasPrefix(want, "epoch"):
				e.Epoch = 2
				if i == len(events)-1 {
					e.Epoch = 1
				}
			}
			if got = s.Follows(e); got != "" && want == "has the number" {
				break
			}
			s.Apply(e)
		}
		if want == "" && got != "" || want != "" && !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
