package waste

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// TestMemory checks that the account of a long run takes no more memory than that of a
// shorter one.
func TestMemory(t *testing.T) {
	var a Account
	w := a.Begin(Run{Name: "long/1", Mistake: NoTurn})
	for i := range 4 {
		w.Join(transcripts.Participant{ID: fmt.Sprint("agent", i), Kind: transcripts.KindAgent})
	}
	add := func(from, to int) uint64 {
		for i := from; i < to; i++ {
			text := fmt.Sprintf("number %d of the long list has the price %d in the shop %d, as the page of the shop says today", i, i*7, i*13)
			w.Add(Turn{Speaker: fmt.Sprint("agent", i%4), Text: text, Quote: text})
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := add(0, 5_000)
	after := add(5_000, 30_000)
	if after > before+4<<20 {
		t.Errorf("%d MiB after 5,000 turns, %d MiB after 30,000", before>>20, after>>20)
	}
	w.End()
	if r := a.Report(); r.Turns != 30_000 {
		t.Errorf("%d turns", r.Turns)
	}
}

// TestManyRuns checks that the account of many runs takes no more memory than that of
// fewer: no run is kept.
func TestManyRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("counts many runs")
	}
	var a Account
	add := func(from, to int) uint64 {
		for i := from; i < to; i++ {
			c := &transcripts.Conversation{ID: fmt.Sprint("set/", i), Participants: []transcripts.Participant{{ID: "a", Kind: transcripts.KindAgent}, {ID: "b", Kind: transcripts.KindAgent}}}
			for n := range 40 {
				text := fmt.Sprintf("run %d, turn %d: %s", i, n, strings.Repeat(fmt.Sprint(i*n, " "), 200))
				c.Turns = append(c.Turns, transcripts.Turn{I: n, Speaker: []string{"a", "b"}[n%2], Text: text})
			}
			if err := a.AddConversation(Labels{}.Run(c, "runs.jsonl"), c); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	few := add(0, 50)
	if many := add(50, 200); many > few+2<<20 {
		t.Errorf("%d KiB after 50 runs, %d KiB after 200", few>>10, many>>10)
	}
	if r := a.Report(); r.Runs != 200 {
		t.Errorf("%d runs", r.Runs)
	}
}

// TestRoom checks that a room gives the same account as the conversation that it was
// made of, and that an error of its log is returned.
func TestRoom(t *testing.T) {
	c := conversation("p: buy tea", "a: "+plan, "b: "+plan2, "a: Thanks!", "a: "+plan)
	c.Turns[1].Usage = room.Usage{Known: true, Input: 9, Output: 3}
	var of, in Account
	if err := of.AddConversation(Labels{}.Run(c, ""), c); err != nil {
		t.Fatal(err)
	}
	run := Run{Name: c.ID, Mistake: NoTurn}
	events := c.Events()
	err := in.AddRoom(run, func(yield func(room.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	})
	want := of.Report()
	for i := range want.Kinds {
		for j := range want.Kinds[i].Examples {
			want.Kinds[i].Examples[j].Last = 0 // the length of a room is not known before its end
		}
	}
	if err != nil || fmt.Sprintf("%+v", want) != fmt.Sprintf("%+v", in.Report()) {
		t.Errorf("%v\n%+v\n%+v", err, want, in.Report())
	}
	broken := fmt.Errorf("broken")
	if err := in.AddRoom(run, func(yield func(room.Event, error) bool) { yield(room.Event{}, broken) }); err != broken {
		t.Errorf("%v", err)
	}
	steps := 0
	stopped := Account{Step: func() error {
		if steps++; steps == 3 {
			return broken
		}
		return nil
	}}
	if err := stopped.AddConversation(run, c); err != broken || stopped.Report().Turns != 2 {
		t.Errorf("%v after %d turns", err, stopped.Report().Turns)
	}
}

// TestInternal checks that internal texts are counted and not quoted.
func TestInternal(t *testing.T) {
	c := conversation("a: "+plan, "b: "+plan)
	c.Turns[1].Channel = transcripts.ChannelThought
	var a Account
	events := c.Events()
	_ = a.AddRoom(Run{Name: c.ID, Mistake: NoTurn}, func(yield func(room.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	})
	if x := a.Report().Kinds[ExactDuplicate.place()].Examples; len(x) != 1 || x[0].Text != "(internal)" {
		t.Errorf("%+v", x)
	}
}
