package history

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
)

// small has three participants, and two turns to merge.
func small() *Conversation {
	return &Conversation{
		ID:           "talk/1",
		Participants: []Participant{{ID: "cid", Kind: KindAgent}, {ID: "ann", Kind: KindHuman}, {ID: "bob", Kind: KindTool}},
		Turns: []Turn{
			{Speaker: "ann", Text: "bob, please", To: []string{"bob"}},
			{Speaker: "bob", Text: "done"},
			{Speaker: "cid", Text: "I saw it"},
			{Speaker: "ann", Text: "thanks", To: []string{"cid"}},
			{Speaker: "ann", Text: "cid?", To: []string{"bob", "ann"}},
			{Speaker: "cid", Text: "yes"},
		},
	}
}

func TestMerge(t *testing.T) {
	var got []string
	for turn, err := range mergeTurns(newMerger(small()).turns) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %q %v", turn.Speaker, turn.Text, turn.To))
	}
	want := `ann "bob, please" [bob] bob "done" [] cid "I saw it" [] ann "thanks\ncid?" [cid bob ann] cid "yes" []`
	if s := strings.Join(got, " "); s != want {
		t.Errorf("merged to\n%s, want\n%s", s, want)
	}
}

func TestMergeLeavesTheConversation(t *testing.T) {
	c := small()
	m := newMerger(c)
	m.order()
	for _, err := range m.events(func([]string, room.Usage) {}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if ids := fmt.Sprint(m.participants); ids != "[{bob  tool } {ann  human } {cid  agent }]" || c.Participants[0].ID != "cid" {
		t.Errorf("participants %s of %v", ids, c.Participants)
	}
	if to := c.Turns[3].To; len(to) != 1 {
		t.Errorf("merging changed the addressees: %v", to)
	}
}

// TestOpenTooSmall: a conversation of two participants, or of one speaker, has
// nothing to decide.
func TestOpenTooSmall(t *testing.T) {
	two := small()
	two.Participants = two.Participants[:2]
	one := small()
	one.Turns = []Turn{{Speaker: "ann"}, {Speaker: "ann"}}
	for _, c := range []*Conversation{two, one} {
		if h, err := Open(Transcript{Conversation: c}); h != nil || err != nil {
			t.Errorf("%d participants, %d turns: %v, %v", len(c.Participants), len(c.Turns), h, err)
		}
	}
}

// TestWindowSums compares the prefix sums with the windows of the room, for
// random texts.
func TestWindowSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 30 {
		c := small()
		c.Turns = nil
		for n := range 5 + rng.IntN(300) {
			size := rng.IntN(60)
			switch rng.IntN(12) {
			case 0:
				size = 0
			case 1:
				size = 1000 + rng.IntN(40_000)
			}
			c.Turns = append(c.Turns, Turn{Speaker: []string{"ann", "bob", "cid"}[n%3], Text: strings.Repeat("x", size)})
		}
		h, err := Open(Transcript{Name: fmt.Sprint(i), Conversation: c})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Walk(100, nil, compareWindows); err != nil {
			t.Fatalf("conversation %d: %v", i, err)
		}
	}
}

func compareWindows(p *Point) error {
	usual := p.State.Bounds
	for _, b := range []room.Context{usual, {Tokens: 1000, SummaryTokens: 250}, {Tokens: 4000, SummaryTokens: 1000}, {Tokens: 1, SummaryTokens: 1}} {
		b.HistoryTurns, b.HistoryChars, b.LineChars = usual.HistoryTurns, usual.HistoryChars, usual.LineChars
		tokens, omitted := p.Window(0, b)
		state := *p.State
		state.Bounds = b
		w := state.WindowFor(p.History.Seats[0].ID)
		want := 0
		for _, o := range w.Omitted {
			want += o.Messages
		}
		if tokens != w.Tokens || omitted != want {
			return fmt.Errorf("decision point %d, %d tokens: %d and %d left out, want %d and %d", p.N, b.Tokens, tokens, omitted, w.Tokens, want)
		}
	}
	return nil
}
