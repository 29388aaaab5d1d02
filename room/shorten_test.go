package room

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestShorten checks that a shortened state gives the same windows, or reports that
// it cannot.
func TestShorten(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var whole, short State
	apply := func(e Event) {
		whole.Apply(e)
		short.Apply(e)
	}
	seq := int64(0)
	add := func(b Body) {
		seq++
		apply(Event{V: 1, Seq: seq, Body: b})
	}
	ids := []string{"ann", "bob", "cid", "dan"}
	add(Opened{Spec: Spec{Room: "r"}})
	for i, id := range ids {
		add(Joined{Participant: Participant{ID: id, Remembers: i%2 == 0}})
	}
	exact, refused := 0, 0
	for n := range 9000 {
		m := Message{From: ids[rng.IntN(3)], To: Broadcast, Kind: KindUtterance, Visibility: UserVisible, Text: strings.Repeat("x", rng.IntN(90))}
		if n > 1000 && n < 6000 || rng.IntN(4) == 0 { // dan hears little, and nothing for long
			m.To, m.Visibility = ids[rng.IntN(3)], Internal
		}
		add(TurnGranted{Turn: n + 1, Participant: m.From, Window: whole.WindowFor(m.From)})
		add(MessagePosted{Turn: n + 1, Message: m})
		short.Shorten(2000)
		if kept := short.Messages.N - short.Messages.gone; kept < min(2000, short.Messages.N) {
			t.Fatalf("%d messages are kept", kept)
		}
		if n%50 > 0 {
			continue
		}
		for _, id := range ids {
			want := whole.WindowFor(id)
			got, ok := short.TryWindowFor(id)
			if ok && !reflect.DeepEqual(got, want) {
				t.Fatalf("after %d messages %s would be handed %+v, want %+v", n, id, got, want)
			}
			if ok {
				exact++
			} else {
				refused++
			}
		}
	}
	if len(short.Messages.C) > 6 || len(short.Public.C) > 6 || exact != 629 || refused != 91 {
		t.Errorf("%d chunks are kept, %d windows were told and %d refused", len(short.Messages.C), exact, refused)
	}
}

// TestShortenKeepsEnough checks windows at the edge of what a shortened state has.
func TestShortenKeepsEnough(t *testing.T) {
	var s State
	apply := func(b Body) { s.Apply(Event{V: 1, Seq: s.Seq + 1, Body: b}) }
	say := func(v Visibility) {
		apply(MessagePosted{Message: Message{From: "ann", To: "bob", Visibility: v, Text: "1234"}})
	}
	const messages = 3 * chunkLen
	apply(Opened{Spec: Spec{Room: "r", Context: Context{Tokens: messages - chunkLen - 1, SummaryTokens: 1}}})
	for _, id := range []string{"ann", "bob", "cid"} {
		apply(Joined{Participant: Participant{ID: id}})
	}
	say(Internal) // cid's first chunk now ends with the first message that is kept
	for range messages - 1 {
		say(UserVisible)
	}
	want := s.WindowFor("cid")
	s.Shorten(messages - chunkLen)
	if got, ok := s.TryWindowFor("cid"); s.Messages.gone != chunkLen || !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("%d messages are dropped, told %t", s.Messages.gone, ok)
	}

	s = State{}
	apply(Opened{Spec: Spec{Room: "r"}})
	for _, id := range []string{"ann", "bob", "cid"} {
		apply(Joined{Participant: Participant{ID: id}})
	}
	for range messages {
		say(Internal)
	}
	say(UserVisible)
	s.Shorten(10)
	if w, ok := s.TryWindowFor("cid"); !ok || len(w.Verbatim) != 1 {
		t.Errorf("cid, who may read one message, gets %+v, told %t", w, ok)
	}
	if _, ok := s.TryWindowFor("bob"); ok && s.WindowFor("bob").Omitted == nil {
		t.Error("bob's window is told without its oldest messages")
	}
}
