package room_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// TestRequestBounds: an agent has a bounded number of permission requests in a turn,
// and of those that wait. One that a person could not see whole is refused.
func TestRequestBounds(t *testing.T) {
	b := opened(t, "a b me/human")
	b.play("speak a go")
	ask := func(p room.Permission) error { return b.act("a", room.Asked{Request: "q1", Permission: p}) }
	for range 8 {
		if err := ask(room.Permission{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(room.Permission{}); err == nil || !strings.Contains(err.Error(), "8 permission requests of a wait") {
		t.Errorf("the ninth: %v", err)
	}
	for range 192 {
		b.play("permit")
		if err := ask(room.Permission{}); err != nil {
			t.Fatal(err)
		}
	}
	b.play("permit")
	if err := ask(room.Permission{}); err == nil || !strings.Contains(err.Error(), "200 permissions in this turn") {
		t.Errorf("the 201st: %v", err)
	}
	b.play("pass", "speak b go")
	for _, p := range []room.Permission{
		{Kind: "execute", Command: strings.Repeat("x", 16_001)},
		{Kind: "execute", Argv: slices.Repeat([]string{"x"}, 8_001)},
		{Kind: "read", Paths: slices.Repeat([]string{"x"}, 101)},
		{Kind: "read", Paths: []string{strings.Repeat("x", 4_097)}},
	} {
		if err := b.act("b", room.Asked{Request: "q2", Permission: p}); err != nil {
			t.Fatal(err)
		}
		a, ok := b.log[len(b.log)-1].Body.(room.PermissionAnswered)
		if !ok || a.Allowed || a.By != endpoint.Unasked || !strings.Contains(a.Reason, "too long") {
			t.Errorf("%d bytes are answered by %+v", len(p.Command), a)
		}
	}
	kept := room.Permission{Kind: "dance", ID: "a\x1b[2Jb", Title: "x\ny\u202e", Command: "a\xff\x1b", Argv: []string{"\u202e"}, Detail: strings.Repeat("é", 3_000), Dir: "/home"}
	if err := b.act("b", room.Asked{Request: "q2", Permission: kept}); err != nil {
		t.Fatal(err)
	}
	got := b.log[len(b.log)-1].Body.(room.PermissionAsked).Permission
	got.Detail = got.Detail[len(got.Detail)-5:]
	want := room.Permission{Kind: "other", ID: "ab", Title: "x y", Command: "a\ufffd\x1b", Argv: []string{"\u202e"}, Detail: "é…"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("stored is %#v, want %#v", got, want)
	}
}

// TestForeignAgentAsks: an agent of another owner gets no permission here.
func TestForeignAgentAsks(t *testing.T) {
	for _, p := range []room.Participant{
		{ID: "a", Kind: policy.Remote}, {ID: "a", Kind: policy.Local, Device: "dev"}, {ID: "a", Kind: policy.Local, Owner: "bob"},
	} {
		b := &bench{T: t}
		if err := b.act(room.ActorHost, room.Open{Spec: room.Spec{Room: "r1"}, Participants: []room.Participant{p}}); err != nil {
			t.Fatal(err)
		}
		b.play("claim", "next a")
		err := b.act("a", room.Asked{Request: "q1", Permission: room.Permission{Kind: "read"}, Answer: &endpoint.Answer{Allowed: true, By: endpoint.RuledBy}})
		if !errors.Is(err, room.ErrDenied) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// TestPermissionsStayHere: no reader below Internal sees what an agent asks, and a
// redaction leaves its kind only.
func TestPermissionsStayHere(t *testing.T) {
	asked := room.PermissionAsked{Turn: 1, ID: "1.1", Permission: room.Permission{Kind: "execute", Title: "secret", Command: "secret", Argv: []string{"secret"}, Paths: []string{"secret"}, Detail: "secret"}}
	answered := room.PermissionAnswered{Turn: 1, ID: "1.1", Allowed: true, By: "me", Reason: "secret"}
	for _, body := range []room.Body{asked, answered} {
		e := room.Event{Seq: 1, Body: body}
		for _, level := range []room.Visibility{room.UserVisible, room.UserRedacted} {
			if seen, ok := e.VisibleAt(level); ok {
				t.Errorf("%s sees %+v", level, seen)
			}
		}
		if b, err := room.MarshalEvent(e.Redacted()); err != nil || strings.Contains(string(b), "secret") || !strings.Contains(string(b), `"1.1"`) {
			t.Errorf("redacted is %s, %v", b, err)
		}
	}
	if got := (room.Event{Body: asked}).Redacted().Body.(room.PermissionAsked).Permission.Kind; got != "execute" {
		t.Errorf("the kind is %q", got)
	}
	b := opened(t, "a b me/human")
	b.play("speak a go", "asks read x")
	if v := b.state.View(room.UserVisible); v.Requests != nil {
		t.Errorf("a watcher sees %+v", v.Requests)
	}
	want := []room.PermissionRequest{{ID: "1.1", Permission: room.Permission{ID: "tool", Kind: "read", Title: "x"}, At: time.Unix(1_800_000_000, 0).UTC(), Timeout: 2 * time.Minute}}
	v := b.state.View(room.Internal)
	if !reflect.DeepEqual(v.Requests, want) || v.Requests[0].Until() != 2*time.Minute {
		t.Errorf("the owner sees %+v", v.Requests)
	}
	v.Requests[0].ID = "changed"
	if b.state.Turn.Requests[0].ID != "1.1" {
		t.Error("the view shares the state")
	}
}

// recordPermissions plays requests with every field, and each kind of answer.
func recordPermissions(r *recorder) {
	a := room.Participant{ID: "ann", Kind: policy.Local, Mode: room.FullAuto, Allow: []room.AllowRule{{Kind: "execute", Argv: []string{"go", "*"}, Paths: []string{"**"}}}}
	r.open(a, bob(), me())
	ask := func(p room.Permission, a *endpoint.Answer) {
		r.do("ann", room.Asked{Request: r.turn().Request, Permission: p, Answer: a})
	}
	r.speak("ann")
	ask(room.Permission{ID: "t1", Kind: "execute", Title: "run the tests", Command: "go test", Argv: []string{"go", "test"}, Paths: []string{"a.go"}, Dir: "/home", Detail: "{}", Always: true}, nil)
	ask(room.Permission{Kind: "read", Paths: []string{"b.go"}}, &endpoint.Answer{Allowed: true, By: endpoint.RuledBy, Reason: "{kind: read}"})
	r.with(room.Command{ID: "p", Actor: "me", Via: strings.Repeat("é", 17), Do: room.Permit{ID: "1.1", Allowed: true, Always: true, Reason: "fine"}})
	r.do(room.ActorHost, room.Permit{ID: "1.1"})
	r.do("me", room.SetMode{Participant: "ann", Mode: room.SemiAuto})
	ask(room.Permission{Kind: "delete", Paths: []string{"b.go"}}, nil)
	ask(room.Permission{Kind: "fetch"}, nil)
	r.do(room.ActorHost, room.Permit{ID: "1.3", Reason: "no"})
	r.clock += 130 * time.Second
	r.do(room.ActorRoom, room.Tick{})
	ask(room.Permission{Kind: "fetch"}, nil)
	r.do("ann", room.Withdrawn{ID: "1.5"})
	ask(room.Permission{Kind: "fetch"}, nil)
	r.reply(said("Done."))
}

// TestRequestTimes: the request whose time is over first is refused first, at that time,
// also if it was made last. A request of another turn changes nothing.
func TestRequestTimes(t *testing.T) {
	b := opened(t, "a b me/human")
	b.play("speak a go", "asks read x")
	if err := b.act("me", room.SetLimits{Limits: room.Limits{PermissionTimeout: 30 * time.Second}}); err != nil {
		t.Fatal(err)
	}
	b.play("asks read y")
	if at, ok := b.state.Deadline(); !ok || at != 30*time.Second {
		t.Errorf("the next refusal is at %v", at)
	}
	b.clock = 30 * time.Second
	b.play("tick")
	if v := b.state.View(room.Internal); len(v.Requests) != 1 || v.Requests[0].ID != "1.1" {
		t.Errorf("there wait %+v", v.Requests)
	}
	b.state.Apply(room.Event{Seq: b.state.Seq + 1, Body: room.PermissionAsked{Turn: 9, ID: "9.1"}})
	if n := len(b.state.Turn.Requests); n != 1 {
		t.Errorf("%d requests wait after one of another turn", n)
	}
}

// TestLongDiff: a person does not allow what cannot be shown whole; a rule may.
func TestLongDiff(t *testing.T) {
	b := opened(t, "a b me/human")
	b.play("speak a go")
	for _, a := range []*endpoint.Answer{nil, {Allowed: true, By: endpoint.RuledBy, Reason: "{kind: edit}"}} {
		if err := b.act("a", room.Asked{Request: "q1", Permission: room.Permission{Kind: "edit", Long: true}, Answer: a}); err != nil {
			t.Fatal(err)
		}
		got := b.log[len(b.log)-1].Body.(room.PermissionAnswered)
		if got.Allowed != (a != nil) || a == nil && (got.By != endpoint.Unasked || !strings.Contains(got.Reason, "too long to be shown")) {
			t.Errorf("it is answered by %+v", got)
		}
	}
}

// TestSignIn: a request to sign in is one of the room, whatever its kind says. It is open
// until it is answered.
func TestSignIn(t *testing.T) {
	b := opened(t, "a b me/human")
	b.play("speak a go")
	if b.state.RequestOpen("1.1") {
		t.Error("a request is open before it was made")
	}
	if err := b.act("a", room.Asked{Request: "q1", SignIn: true, Permission: room.Permission{Kind: "execute", Title: "sign in"}}); err != nil {
		t.Fatal(err)
	}
	if got := b.state.Turn.Requests[0].Permission.Kind; got != room.ActionSignIn {
		t.Errorf("the kind is %q", got)
	}
	if !b.state.RequestOpen("1.1") || b.state.RequestOpen("1.2") {
		t.Error("the request 1.1 alone is open")
	}
	b.play("permit")
	if b.state.RequestOpen("1.1") {
		t.Error("it is open after its answer")
	}
}
