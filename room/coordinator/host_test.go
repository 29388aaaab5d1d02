package coordinator_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// patient declines until a new message is posted.
func patient(in policy.Input) policy.Decision {
	if n := len(in.Events); n > 0 && in.Events[n-1].Kind == policy.KindHuman {
		return policy.Speak("a", "a person asked")
	}
	return policy.Decline("nobody asked")
}

func startHost(t *testing.T, l *memory.Log, options ...func(*coordinator.Host)) (*coordinator.Host, func()) {
	h := &coordinator.Host{
		Config: config(l, patient, count), Due: l.Due, IdleAfter: time.Minute,
		Failed: func(id string, err error) { t.Errorf("room %s: %v", id, err) },
	}
	for _, set := range options {
		set(h)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { h.Run(ctx); close(done) }()
	return h, func() { cancel(); <-done }
}

func TestHostUnloadsAndWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		h, stop := startHost(t, l)
		defer stop()
		for i := range 20 {
			s := spec(room.Limits{MaxDeclines: 5, MaxDuration: 10 * time.Hour, DeclineRetry: 10 * time.Minute})
			s.Room, s.Objective = fmt.Sprintf("r%d", i), "" // nothing that would open the conversation
			s.OnRestart = room.RestartContinue
			ps := append(agents("a"), room.Participant{ID: "me", Kind: policy.Human})
			if _, err := h.Create(t.Context(), s, ps, coordinator.RunOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		if n := h.Loaded(); n != 20 {
			t.Fatalf("%d rooms loaded, want 20", n)
		}
		time.Sleep(3 * time.Minute)
		if n := h.Loaded(); n != 0 {
			t.Errorf("%d idle rooms still loaded", n)
		}
		if _, err := h.Do(t.Context(), "r3", room.Command{Actor: "me", Do: room.Say{Text: "hello?"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		r, err := h.Get(t.Context(), "r3")
		if err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Tally.Messages != 2 {
			t.Errorf("the room that was spoken to has %d messages, want the question and an answer", v.Tally.Messages)
		}
		time.Sleep(8 * time.Minute) // every room's delay has passed
		r, err = h.Get(t.Context(), "r7")
		if err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Tally.Declined < 2 {
			t.Errorf("a room that was due was asked %d times, want twice", v.Tally.Declined)
		}
	})
}

// TestOpenLoaded checks that a person who opens a room that is loaded already changes
// and resumes it, and that nothing happens to it without a person.
func TestOpenLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := startHost(t, &memory.Log{})
		defer stop()
		s := spec(room.Limits{MaxDeclines: 5, DeclineRetry: time.Minute})
		s.Room, s.Objective = "r1", ""
		r, err := h.Create(t.Context(), s, append(agents("a"), room.Participant{ID: "me", Kind: policy.Human}), coordinator.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Do(t.Context(), room.Command{Actor: "me", Do: room.Pause{}}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Open(t.Context(), "r1", coordinator.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Phase != room.PhasePaused {
			t.Errorf("opened by no person, the room is %s", v.Phase)
		}
		same, err := h.Open(t.Context(), "r1", coordinator.RunOptions{ResumeAs: "me", ResumeWith: []room.Act{room.Say{Text: "go on"}}})
		if err != nil || same != r {
			t.Fatalf("opened another room, error %v", err)
		}
		if v := r.View(); v.Phase != room.PhaseLive || v.Tally.Messages == 0 {
			t.Errorf("opened by a person, the room is %s with %d messages", v.Phase, v.Tally.Messages)
		}
		if _, err := h.Open(t.Context(), "r1", coordinator.RunOptions{ResumeAs: "me", ResumeWith: []room.Act{room.TakeOver{Participant: "nobody"}}}); err == nil {
			t.Error("a command that the room refuses is not reported")
		}
	})
}

// TestProfileAcrossRooms checks that a profile has one request in flight in all
// rooms together.
func TestProfileAcrossRooms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		busy, most := make(chan int, 1), 0
		busy <- 0
		h := &coordinator.Host{Config: config(l, rotate, exclusive(busy, &most))}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { h.Run(ctx); close(done) }()
		for i := range 3 {
			s := spec(room.Limits{MaxTurns: 3})
			s.Room = fmt.Sprintf("r%d", i)
			ps := agents("a")
			ps[0].Profile = "shared"
			if _, err := h.Create(t.Context(), s, ps, coordinator.RunOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		cancel()
		<-done
		if most != 1 {
			t.Errorf("%d requests of one profile were in flight at a time", most)
		}
	})
}

// exclusive counts the requests in flight and their maximum.
func exclusive(busy chan int, most *int) speakFunc {
	return func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		n := <-busy + 1
		*most = max(*most, n)
		busy <- n
		time.Sleep(time.Second)
		busy <- <-busy - 1
		return count(ctx, p, f)
	}
}

// TestHostRest: a Host that ends pauses the rooms in which an agent is at work, unless
// they go on by themselves, and leaves those that wait as they are.
func TestHostRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		opened := map[string]int{}
		h, stop := startHost(t, l, func(h *coordinator.Host) {
			h.Opened = func(r *coordinator.Room) { opened[r.ID()]++ }
			h.Config = config(l, rotate, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
				if p.Room == "draft" {
					return count(ctx, p, f)
				}
				<-ctx.Done()
				return endpoint.Reply{}, ctx.Err()
			})
		})
		defer stop()
		rooms := map[string]*coordinator.Room{}
		for id, restart := range map[string]string{"work": "", "on": room.RestartContinue, "draft": ""} {
			s, ps := spec(room.Limits{MaxTurns: 3}), agents("a", "b")
			s.Room, s.OnRestart = id, restart
			if id == "draft" {
				ps[0].Mode, ps[1].Mode = room.Manual, room.Manual
			}
			r, err := h.Create(t.Context(), s, ps, coordinator.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			rooms[id] = r
		}
		synctest.Wait()
		if err := h.Rest(t.Context(), "the server ended"); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]room.Phase{"work": room.PhasePaused, "on": room.PhaseLive, "draft": room.PhaseLive} {
			v := rooms[id].View()
			if v.Phase != want || want == room.PhasePaused && v.Ending.Reason != "the server ended" {
				t.Errorf("%s is %s: %+v", id, v.Phase, v.Ending)
			}
			if opened[id] != 1 {
				t.Errorf("%s was opened %d times", id, opened[id])
			}
		}
		if rooms["draft"].View().Draft == nil {
			t.Error("the draft is gone")
		}
	})
}
