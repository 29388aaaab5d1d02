package replay_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/report"
	"github.com/folkmoot/moot/replay/score"
	"github.com/folkmoot/moot/room"
)

// sure always chooses one participant, with a confidence that grows with the
// turns.
type sure struct{ id string }

func (s sure) policy() drive.Policy {
	return drive.Policy{Name: "sure-" + s.id, Proposer: native{decide: func(in *policy.Input) policy.Decision {
		d := policy.Speak(s.id, "it is "+s.id)
		confidence := 1 - 1/float64(2+in.Decision)
		d.Confidence = &confidence
		return d
	}}}
}

// longTalk has three agents that take turns, so that each choice of one of them is
// right in every third decision or so.
func longTalk(id string, turns int) *history.Conversation {
	c := &history.Conversation{ID: id}
	names := []string{"ann", "bob", "cid", "dan"}
	for _, name := range names {
		c.Participants = append(c.Participants, history.Participant{ID: name, Kind: history.KindAgent})
	}
	for i := range turns {
		c.Turns = append(c.Turns, history.Turn{Speaker: names[i%3+i/50%2], Text: fmt.Sprintf("%d: %s", i, strings.Repeat("é", 400))})
	}
	return c
}

func browsed(t *testing.T, workers int, all ...*history.Conversation) *report.Report {
	t.Helper()
	c := replay.Config{Policies: []drive.Policy{sure{"ann"}.policy(), sure{"bob"}.policy()}, Workers: workers}
	r, err := replay.Run(t.Context(), c, conversations(all...))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCases: the decisions to read are of the kinds that they say, each has the
// messages before it and the reasons, and the counts are those of all decisions.
func TestCases(t *testing.T) {
	r := browsed(t, 1, small(), longTalk("talk/2", 40))
	all := 0
	for _, row := range r.Confusion[0].Rows {
		all += row.Decisions - row.Same
	}
	for i, k := range r.Kinds {
		kept := 0
		for _, c := range r.Cases {
			if slices.Contains(c.Kinds, i) {
				kept++
				a, b := c.Choices[0], c.Choices[1]
				first := k.Wrong == "sure-ann"
				wrong, other := a, b
				if !first {
					wrong, other = b, a
				}
				if wrong.Same || k.Right != "" && !other.Same || k.Sure && wrong.Confidence < 0.8 {
					t.Errorf("case %+v is not of kind %+v", c, k)
				}
			}
		}
		if kept != k.Kept || k.Kept > k.Decisions || kept == 0 {
			t.Errorf("kind %+v has %d cases", k, kept)
		}
		if k.Wrong == "sure-ann" && k.Right == "" && !k.Sure && k.Decisions != all {
			t.Errorf("%d decisions of sure-ann differ, counted %d", all, k.Decisions)
		}
	}
	if len(r.Kinds) != 6 {
		t.Errorf("kinds %+v", r.Kinds)
	}
	c := r.Cases[slices.IndexFunc(r.Cases, func(c score.Case) bool { return c.Transcript == "talk/1" && c.Point == 2 })]
	last := c.Before[len(c.Before)-1]
	if len(c.Before) != 2 || last.From != "bob" || last.Text != "done" || c.Recorded != "cid" || c.Turn != 3 || c.Choices[0].Reason != "it is ann" {
		t.Errorf("%+v", c)
	}
}

// TestCasesBounded: a report of many decisions keeps few of them, with short
// texts, and does not depend on the number of workers.
func TestCasesBounded(t *testing.T) {
	var talks []*history.Conversation
	for i := range 40 {
		talks = append(talks, longTalk(fmt.Sprint("talk/", i), 200))
	}
	one, four := browsed(t, 1, talks...), browsed(t, 4, talks...)
	if !reflect.DeepEqual(one.Cases, four.Cases) || !reflect.DeepEqual(one.Kinds, four.Kinds) || !reflect.DeepEqual(one.Confusion, four.Confusion) {
		t.Error("the number of workers changes the decisions to read")
	}
	b, err := json.Marshal(one.Cases)
	if err != nil {
		t.Fatal(err)
	}
	if len(one.Cases) < 50 || len(one.Cases) > 400 || len(b) > 2000*len(one.Cases) {
		t.Errorf("%d cases of %d decisions, %d bytes", len(one.Cases), one.Decisions, len(b))
	}
	seen := map[string]bool{}
	for _, c := range one.Cases {
		seen[c.Transcript] = true
		for _, e := range c.Before {
			if !strings.Contains(e.Text, " … ") || strings.ContainsRune(e.Text, '\ufffd') {
				t.Fatalf("text %q", e.Text)
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("the cases are of %d transcripts", len(seen))
	}
}

func TestConfusion(t *testing.T) {
	r := browsed(t, 1, small())
	got := map[string]string{}
	for _, row := range r.Confusion[0].Rows {
		got[row.Recorded] = fmt.Sprint(row.Decisions, row.Same, row.Instead)
	}
	if want := map[string]string{"bob": "1 0 [{ann 1}]", "ann": "1 1 []", "cid": "2 0 [{ann 2}]"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// spendingRoom is a room of two agents with prices, stated usages and latencies:
// each of ann's turns takes 2 s and 100 tokens, each of bob's 4 s and 10 tokens.
func spendingRoom() []room.Event {
	var events []room.Event
	add := func(body room.Body) {
		events = append(events, room.Event{V: 1, Seq: int64(len(events) + 1), Clock: time.Duration(len(events)) * time.Second, Body: body})
	}
	add(room.Opened{Spec: room.Spec{Room: "r", Limits: room.Limits{MaxTurns: 100}, Policy: room.PolicyRef{Name: "ran"}}})
	for _, id := range []string{"ann", "bob", "cid"} {
		add(room.Joined{Participant: room.Participant{ID: id, Kind: policy.Local, Mode: room.FullAuto, Price: room.Price{Input: 1_000_000, Output: 5_000_000}}})
	}
	for n, id := range []string{"ann", "bob", "ann", "bob"} {
		usage, latency := endpoint.Usage{Known: true, Input: 50, Output: 100}, 2*time.Second
		if id == "bob" {
			usage.Output, latency = 10, 4*time.Second
		}
		add(room.TurnGranted{Turn: n + 1, Participant: id, Window: room.Window{Through: int64(len(events))}, Record: &policy.Record{Decision: int64(n + 1), Through: int64(len(events))}})
		add(room.MessagePosted{Turn: n + 1, Usage: usage, Latency: latency, Message: room.Message{
			ID: fmt.Sprint("r.", n), From: id, To: room.Broadcast, Kind: room.KindUtterance, Visibility: room.UserVisible, Turn: n + 1, Text: "text",
		}})
	}
	return events
}

// TestSpending: what chosen turns would have taken is estimated from the recorded
// turns of the seat, or of all seats for one without any.
func TestSpending(t *testing.T) {
	c := replay.Config{Policies: []drive.Policy{sure{"bob"}.policy(), sure{"cid"}.policy()}}
	r, err := replay.Run(t.Context(), c, rooms(spendingRoom()))
	if err != nil {
		t.Fatal(err)
	}
	if x := r.Recorded; x.Completion != 220 || x.ReplyCost != 220*5 || x.TurnMS != 12_000 {
		t.Errorf("recorded: %d tokens, cost %d, %d ms", x.Completion, x.ReplyCost, x.TurnMS)
	}
	for i, want := range [][2]int64{{40, 16_000}, {220, 12_000}} {
		if x := r.Policies[i]; x.Errors > 0 || (x.Completion != want[0] || x.TurnMS != want[1]) {
			t.Errorf("%s: %d tokens, %d ms, want %v", x.Policy, x.Completion, x.TurnMS, want)
		}
	}
	if s := r.Seats[0]; s.Participant != "ann" || s.Turns != 2 || s.Stated != 2 || s.LatencyMS != 4000 || s.PriceOutput != 5_000_000 {
		t.Errorf("%+v", r.Seats)
	}
}

// TestSpendingOfConversation: the usage that a source states is counted, and not
// shown to policies.
func TestSpendingOfConversation(t *testing.T) {
	c := agents()
	for i := range c.Turns {
		c.Turns[i].Usage = endpoint.Usage{Known: true, Output: 7}
	}
	r, err := replay.Run(t.Context(), replay.Config{Policies: []drive.Policy{sure{"ann"}.policy()}}, conversations(c))
	if err != nil {
		t.Fatal(err)
	}
	if r.Recorded.Completion != 6*7 || r.Seats[0].Stated != r.Seats[0].Turns {
		t.Errorf("%d tokens, seats %+v", r.Recorded.Completion, r.Seats)
	}
}
