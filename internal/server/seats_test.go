package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/room"
)

const twoSessions = `version: room/v1
name: seats
objective: Choose a date.
policy: {use: roundrobin}
limits: {maxTurns: 3, maxOutputChars: 256}
participants:
  - {id: me, kind: human}
  - {id: ann, mode: full_auto, instructions: You like Mondays., endpoint: {kind: session}}
  - {id: bob, mode: full_auto, endpoint: {kind: session}}
`

// A holder calls the routes of one seat.
type holder struct {
	*client.Client
	path string
}

func (h holder) await(t *testing.T, body api.Await) (turn api.Turn) {
	t.Helper()
	if err := h.Call(t.Context(), http.MethodPost, h.path+"await", body, &turn); err != nil {
		t.Fatal(err)
	}
	return turn
}

func (h holder) post(t *testing.T, verb string, body any) (done api.SeatAnswered, code string) {
	t.Helper()
	err := h.Call(t.Context(), http.MethodPost, h.path+verb, body, &done)
	if code = codeOf(err); err != nil && code == "" {
		t.Fatal(err)
	}
	return done, code
}

// TestSeats checks the turns of two sessions over HTTP: what they are given, what they
// are told when they answer twice, and the end of the room.
func TestSeats(t *testing.T) {
	r, c := hostedRoom(t, twoSessions, server.LocalUser)
	ann, bob := holder{c, "/api/rooms/" + r.ID() + "/seats/ann/"}, holder{c, "/api/rooms/" + r.ID() + "/seats/bob/"}
	if turn := bob.await(t, api.Await{Wait: "0s"}); !turn.Turn && !turn.Again {
		t.Fatalf("%+v", turn)
	}
	turn := bob.await(t, api.Await{Fresh: true}) // ann is away, so that bob begins
	if !turn.Turn || turn.Seat != "bob" || turn.Number != 1 || turn.Epoch == 0 || turn.Deadline.IsZero() || !strings.Contains(turn.Text, "Choose a date.") {
		t.Fatalf("%+v", turn)
	}
	if again := bob.await(t, api.Await{}); again != turn {
		t.Errorf("the same request is %+v, then %+v", turn, again)
	}
	if _, code := ann.post(t, "answer", api.SeatAnswer{Request: turn.Request, Text: "mine"}); code != "SEAT-REQUEST" {
		t.Errorf("the answer of another seat: %s", code)
	}
	if _, code := bob.post(t, "answer", api.SeatAnswer{Text: strings.Repeat("x", 257)}); code != "SEAT-SIZE" {
		t.Errorf("a long answer: %s", code)
	}
	done, code := bob.post(t, "answer", api.SeatAnswer{Request: turn.Request, Epoch: turn.Epoch, Text: "Monday?"})
	if code != "" || done.Outcome != "posted" || done.Number != 1 || done.Seq == 0 {
		t.Errorf("%+v %s", done, code)
	}
	for _, body := range []api.SeatAnswer{{Request: turn.Request, Epoch: turn.Epoch, Text: "Monday?"}, {Text: "Tuesday?"}} {
		if _, code := bob.post(t, "answer", body); code != "SEAT-ANSWERED" {
			t.Errorf("a second answer: %s", code)
		}
	}
	if turn = ann.await(t, api.Await{Wait: "20s"}); !strings.Contains(turn.Text, "You like Mondays.") || !strings.Contains(turn.Text, "Monday?") {
		t.Fatalf("%+v", turn)
	}
	if done, code := ann.post(t, "answer", api.SeatAnswer{Text: " PASS\n"}); code != "" || done.Outcome != "passed" {
		t.Errorf("%+v %s", done, code)
	}
	if turn = bob.await(t, api.Await{}); turn.Number != 3 {
		t.Fatalf("%+v", turn)
	}
	if done, code := bob.post(t, "pass", api.SeatPass{Reason: "nothing to add"}); code != "" || done.Outcome != "passed" {
		t.Errorf("%+v %s", done, code)
	}
	if turn := bob.await(t, api.Await{}); !turn.Ended || !strings.Contains(turn.Why, "maxTurns") {
		t.Errorf("after the end: %+v", turn)
	}
	if v := r.View(); v.Tally.Errors != 0 { // a round may decline while ann is on her way
		t.Errorf("%+v", v.Tally)
	}
}

// TestSeatRefused checks which callers may not hold a seat, and requests that are no
// use.
func TestSeatRefused(t *testing.T) {
	var caller server.Caller
	r, c := hostedRoom(t, twoSessions, func(*http.Request) (server.Caller, error) { return caller, nil })
	path := "/api/rooms/" + r.ID() + "/seats/"
	for i, want := range []struct {
		caller server.Caller
		seat   string
		body   any
		code   string
	}{
		{server.Caller{Name: "a", Scope: server.Talk, Seat: "bob"}, "ann", api.Await{}, "API-FORBIDDEN"},
		{server.Caller{Name: "a", Scope: server.Talk}, "ann", api.Await{}, "API-FORBIDDEN"},
		{server.Caller{Name: "a", Scope: server.Control}, "ann", api.Await{}, "API-FORBIDDEN"},
		{server.Caller{Name: "a", Scope: server.Read, Seat: "ann"}, "ann", api.Await{}, "API-FORBIDDEN"},
		{server.Caller{}, "ann", api.Await{}, "API-UNAUTHORIZED"},
		{server.Caller{Name: "a", Scope: server.Admin}, "me", api.Await{}, "SEAT-KIND"},
		{server.Caller{Name: "a", Scope: server.Admin}, "ghost", api.Await{}, "SEAT-KIND"},
		{server.Caller{Name: "a", Scope: server.Talk, Seat: "ann"}, "ann", api.Await{Wait: "soon"}, "API-REQUEST"},
		{server.Caller{Name: "a", Scope: server.Talk, Seat: "ann"}, "ann", api.Await{Wait: "-1s"}, "API-REQUEST"},
		{server.Caller{Name: "a", Scope: server.Talk, Seat: "ann"}, "ann", map[string]any{"wait": "1s", "seat": "bob"}, "API-REQUEST"},
	} {
		caller = want.caller
		if got := codeOf(c.Call(t.Context(), http.MethodPost, path+want.seat+"/await", want.body, nil)); got != want.code {
			t.Errorf("%d: %q, want %q", i, got, want.code)
		}
	}
	caller = server.Caller{Name: "a", Scope: server.Admin}
	if got := codeOf(c.Call(t.Context(), http.MethodPost, "/api/rooms/r_none/seats/ann/await", api.Await{}, nil)); got != "ROOM-UNKNOWN" {
		t.Errorf("no room: %s", got)
	}
	if got := codeOf(c.Call(t.Context(), http.MethodPost, path+"ann/answer", api.SeatAnswer{Text: "early"}, nil)); got != "SEAT-REQUEST" {
		t.Errorf("an answer before a turn: %s", got)
	}
}

// TestSeatTakenOver checks that the older of two awaits is told.
func TestSeatTakenOver(t *testing.T) {
	r, c := hostedRoom(t, twoSessions, server.LocalUser)
	if _, err := r.Do(t.Context(), moot.Command{Actor: room.ActorHost, Do: room.Pause{}}); err != nil {
		t.Fatal(err)
	}
	path := "/api/rooms/" + r.ID() + "/seats/ann/await"
	older := make(chan error, 1)
	go func() { older <- c.Call(t.Context(), http.MethodPost, path, api.Await{Wait: "50s"}, nil) }()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for u := range r.Watch(ctx, 0, room.Internal) {
		if b, ok := u.Event.Body.(room.PresenceChanged); ok && b.Presence == room.Live {
			break
		}
	}
	newer := make(chan error, 1)
	go func() {
		turn := api.Turn{}
		err := c.Call(t.Context(), http.MethodPost, path, api.Await{Wait: "50s"}, &turn)
		if err == nil && !turn.Ended {
			err = fmt.Errorf("%+v", turn)
		}
		newer <- err
	}()
	if got := codeOf(<-older); got != "SEAT-AWAIT" {
		t.Errorf("the older await: %s", got)
	}
	if _, err := r.Do(t.Context(), moot.Command{Actor: room.ActorHost, Do: room.Stop{}}); err != nil {
		t.Fatal(err)
	}
	if err := <-newer; err != nil {
		t.Errorf("the newer await: %v", err)
	}
}

// TestHandOff checks a hand-off over HTTP: it is for the seat that has the turn, and a
// refused one is told with its reason while the turn goes on.
func TestHandOff(t *testing.T) {
	r, c := hostedRoom(t, twoSessions, server.LocalUser)
	path := "/api/rooms/" + r.ID() + "/seats/"
	ann, bob := holder{c, path + "ann/"}, holder{c, path + "bob/"}
	ann.await(t, api.Await{Wait: "0s"}) // ann is there, and bob has the turn or comes after her
	turn := bob.await(t, api.Await{Wait: "0s"})
	first, second, to := ann, bob, "bob"
	if turn.Turn {
		first, second, to = bob, ann, "ann"
	}
	for !turn.Turn {
		turn = first.await(t, api.Await{})
	}
	var got api.HandedOff
	handOff := func(h holder, to string) string {
		got = api.HandedOff{}
		return codeOf(h.Call(t.Context(), http.MethodPost, h.path+"handoff", api.HandOff{To: to, Reason: "why"}, &got))
	}
	if code := handOff(second, "me"); code != "SEAT-REQUEST" {
		t.Errorf("a seat without the turn: %s", code)
	}
	standing := func(s room.Standing) {
		t.Helper()
		if _, err := r.Do(t.Context(), moot.Command{Actor: room.ActorHost, Do: room.SetStanding{Participant: to, Standing: s}}); err != nil {
			t.Fatal(err)
		}
	}
	from := "ann"
	if to == "ann" {
		from = "bob"
	}
	for _, c := range []struct {
		to, want string
		standing room.Standing
	}{
		{"me", "me is no agent", room.Active},
		{"ghost", "is no participant of the room", room.Active},
		{from, from + " cannot hand off to itself", room.Active},
		{to, to + " is muted", room.Muted},
		{to, to + " is suspended", room.Suspended},
	} {
		if c.standing != room.Active {
			standing(c.standing)
		}
		if code := handOff(first, c.to); code != "" || got.Accepted || !strings.Contains(got.Refused, c.want) {
			t.Errorf("to %s: %s %+v, want %s", c.to, code, got, c.want)
		}
		if c.standing != room.Active {
			standing(room.Active)
		}
	}
	second.await(t, api.Await{Wait: "0s"}) // it comes back
	if code := handOff(first, to); code != "" || !got.Accepted || got.Refused != "" {
		t.Errorf("to %s: %s %+v", to, code, got)
	}
	if done, code := first.post(t, "answer", api.SeatAnswer{Request: turn.Request, Text: "go on"}); code != "" || done.Outcome != "posted" {
		t.Errorf("the answer: %+v %s", done, code)
	}
}
