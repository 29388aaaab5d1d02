package moot

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/folkmoot/moot/room"
)

// A private agent has live text.
type private struct{}

func (private) Speak(_ context.Context, p Prompt, f Floor) (Reply, error) {
	f.Show("live text")
	return Reply{Outcome: Said, Text: fmt.Sprintf("turn %d", p.Turn)}, nil
}

func (private) Close() error { return nil }

const privately = `
version: room/v1
participants:
  - {id: me, kind: human}
  - {id: a, mode: full_auto, endpoint: {kind: go, name: private}}
  - {id: b, mode: full_auto, endpoint: {kind: go, name: private}}
policy: {use: silent}
limits: {maxTurns: 3}
`

func openPrivate(t *testing.T, data string) *Host {
	t.Helper()
	h, err := Open(Config{
		Data: data, Cache: t.TempDir(), Policies: map[string]Policy{"silent": PolicyFunc(longestSilent)},
		Endpoints: map[string]func(context.Context, Participant) (Endpoint, error){"private": func(context.Context, Participant) (Endpoint, error) { return private{}, nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// seen returns the messages and the number of the last event of a watch, and whether
// it had live text.
func seen(t *testing.T, updates iter.Seq2[Update, error]) (texts []string, last int64, live bool) {
	t.Helper()
	for u, err := range updates {
		if err != nil {
			t.Fatal(err)
		}
		if u.Event == nil {
			live = live || u.Delta != ""
			continue
		}
		last = u.Event.Seq
		if m, ok := u.Event.Body.(room.MessagePosted); ok {
			texts = append(texts, m.Message.Text)
		}
	}
	return texts, last, live
}

// TestWatchLevels checks that a watch ends with the room, that only readers of
// internal messages get these and live text, and that a watch of a stored room does
// not load it.
func TestWatchLevels(t *testing.T) {
	data := t.TempDir()
	h := openPrivate(t, data)
	r, err := h.Create(t.Context(), Source{YAML: privately}, Options{First: []Act{room.Say{Text: "among us", Visibility: room.Internal}}})
	if err != nil {
		t.Fatal(err)
	}
	texts, tail, _ := seen(t, h.Watch(t.Context(), r.ID(), 0, room.Internal))
	if len(texts) != 4 || texts[0] != "among us" {
		t.Errorf("at internal level: %q", texts)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}

	h = openPrivate(t, data)
	texts, _, live := seen(t, h.Watch(t.Context(), r.ID(), 0, room.UserVisible))
	if len(texts) != 3 || texts[0] != "turn 1" || live {
		t.Errorf("at user_visible level: %q, live text %v", texts, live)
	}
	if texts, _, _ := seen(t, h.Watch(t.Context(), r.ID(), tail, room.UserVisible)); len(texts) != 0 {
		t.Errorf("after the end: %q", texts)
	}
	if n := h.rooms.Loaded(); n != 0 {
		t.Errorf("%d rooms were loaded to be watched", n)
	}
	for _, err := range h.Watch(t.Context(), r.ID(), tail+1, room.Internal) {
		var p *Error
		if !errors.As(err, &p) || p.Code != "ROOM-SEQ" {
			t.Errorf("after an event that is not there: %v", err)
		}
	}
}

// TestLiveText checks who gets live text of a room that runs.
func TestLiveText(t *testing.T) {
	h := openPrivate(t, t.TempDir())
	r, err := h.Create(t.Context(), Source{YAML: privately}, Options{First: []Act{room.Pause{}}})
	if err != nil {
		t.Fatal(err)
	}
	type result struct{ live bool }
	results := map[room.Visibility]chan result{room.Internal: make(chan result, 1), room.UserVisible: make(chan result, 1)}
	for level, out := range results {
		ready := make(chan struct{})
		go func() {
			first := true
			_, _, live := seen(t, func(yield func(Update, error) bool) {
				for u, err := range h.Watch(t.Context(), r.ID(), 0, level) {
					if first {
						close(ready)
						first = false
					}
					if !yield(u, err) {
						return
					}
				}
			})
			out <- result{live}
		}()
		<-ready
	}
	if _, err := h.Do(t.Context(), r.ID(), Command{Actor: room.ActorHost, Do: room.Resume{}}); err != nil {
		t.Fatal(err)
	}
	if x := <-results[room.Internal]; !x.live {
		t.Error("readers of internal messages got no live text")
	}
	if x := <-results[room.UserVisible]; x.live {
		t.Error("readers of visible messages got live text")
	}
}

// TestFollowLoads checks that a watch of a room that is not loaded goes on when the
// room is, and that Follow outlasts a limit.
func TestFollowLoads(t *testing.T) {
	data := t.TempDir()
	h := openPrivate(t, data)
	r, err := h.Create(t.Context(), Source{YAML: privately}, Options{First: []Act{room.Pause{}}})
	if err != nil {
		t.Fatal(err)
	}
	id := r.ID()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h = openPrivate(t, data)
	var did []Act
	for u, err := range h.Follow(t.Context(), id, 0, room.UserVisible) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Event == nil {
			continue
		}
		var do Act
		switch u.Event.Body.(type) {
		case room.Paused:
			do = room.Resume{}
		case room.Stopped:
			limits := r.View().Limits
			limits.MaxTurns = 5
			do = room.SetLimits{Limits: limits}
			if len(did) == 2 {
				do = room.Stop{}
			}
		}
		if do == nil {
			continue
		}
		if _, stop := do.(room.Stop); stop {
			break
		}
		did = append(did, do)
		if _, err := h.Do(t.Context(), id, Command{Actor: "me", Do: do}); err != nil {
			t.Fatal(err)
		}
	}
	if len(did) != 2 {
		t.Errorf("the watch saw the causes of %v", did)
	}
	if v, err := h.View(t.Context(), id, room.UserVisible); err != nil || v.Turn != 5 {
		t.Errorf("the room has had %d turns: %v", v.Turn, err)
	}
}

// TestFollowHeadless checks that Follow ends with a headless room, which no person can
// continue while it runs.
func TestFollowHeadless(t *testing.T) {
	h := openPrivate(t, t.TempDir())
	r, err := h.Create(t.Context(), Source{YAML: privately}, Options{Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	if texts, _, _ := seen(t, h.Follow(t.Context(), r.ID(), 0, room.UserVisible)); len(texts) != 3 {
		t.Errorf("%q", texts)
	}
}

// TestStopEndsWatches checks that a watch of a room that is not loaded ends with the
// Host.
func TestStopEndsWatches(t *testing.T) {
	data := t.TempDir()
	h := openPrivate(t, data)
	r, err := h.Create(t.Context(), Source{YAML: privately}, Options{First: []Act{room.Pause{}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h = openPrivate(t, data)
	for u, err := range h.Watch(t.Context(), r.ID(), 0, room.UserVisible) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := u.Event.Body.(room.Paused); ok {
			go h.Stop()
		}
	}
}

// TestRepeatedCommand checks that a command that is sent twice is done once, and
// that its id is not taken by others.
func TestRepeatedCommand(t *testing.T) {
	h := openPrivate(t, t.TempDir())
	r, err := h.Create(t.Context(), Source{YAML: privately}, Options{First: []Act{room.Pause{}}})
	if err != nil {
		t.Fatal(err)
	}
	say := Command{ID: "c1", Actor: "me", Do: room.Say{Text: "hello"}}
	first, err := h.Do(t.Context(), r.ID(), say)
	if err != nil || len(first) != 1 {
		t.Fatalf("%v, %v", first, err)
	}
	again, err := h.Do(t.Context(), r.ID(), say)
	if err != nil || len(again) != 1 || again[0].ID != first[0].ID {
		t.Errorf("again: %v, %v", again, err)
	}
	say.Actor = room.ActorHost
	if _, err := h.Do(t.Context(), r.ID(), say); !errors.Is(err, room.ErrTaken) {
		t.Errorf("the command of another actor: %v", err)
	}
	if v := r.View(); v.Tally.Messages != 1 {
		t.Errorf("%d messages were posted", v.Tally.Messages)
	}
}

// longestSilent gives the floor to the eligible agent whose last turn is the oldest.
func longestSilent(in *Input) Decision {
	best := -1
	for i, a := range in.Agents {
		if a.Eligible && (best < 0 || a.LastTurn < in.Agents[best].LastTurn) {
			best = i
		}
	}
	if best < 0 {
		return Decline("nobody may speak")
	}
	return Speak(in.Agents[best].ID, "was silent longest")
}
