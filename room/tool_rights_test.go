package room_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
)

// answerTo returns the answer to a permission request of lead, which has the turn, or
// nil if a person is asked.
func answerTo(t *testing.T, b *bench, p room.Permission, a *endpoint.Answer) *room.PermissionAnswered {
	t.Helper()
	if err := b.act("lead", room.Asked{Request: "q1", Permission: p, Answer: a}); err != nil {
		t.Fatal(err)
	}
	if answered, ok := b.log[len(b.log)-1].Body.(room.PermissionAnswered); ok {
		return &answered
	}
	b.play("permit")
	return nil
}

// TestToolRights: an action for which a seat has no right is refused at once, in each
// mode, and before a rule of the owner or a person is asked.
func TestToolRights(t *testing.T) {
	allowed := &endpoint.Answer{Allowed: true, Always: true, By: endpoint.RuledBy, Reason: "{kind: edit}"}
	reads := func(x *room.Participant) { x.MayUse = []string{"read", "search"} }
	for name, c := range map[string]struct {
		seat func(*room.Participant)
		p    room.Permission
		rule *endpoint.Answer
		want string // of the reason; "" is that a person is asked
	}{
		"all":                          {func(*room.Participant) {}, room.Permission{Kind: "execute"}, nil, ""},
		"read":                         {reads, room.Permission{Kind: "read"}, nil, ""},
		"edit":                         {reads, room.Permission{Kind: "edit"}, nil, "lead may not edit: its tools are read, search"},
		"edit by a rule":               {reads, room.Permission{Kind: "edit"}, allowed, "lead may not edit: its tools are read, search"},
		"edit that is remembered":      {reads, room.Permission{Kind: "edit", Always: true}, nil, "lead may not edit: its tools are read, search"},
		"an unknown kind":              {reads, room.Permission{Kind: "dance"}, nil, "lead may not use tools of other kinds: its tools are read, search"},
		"no kind":                      {reads, room.Permission{}, nil, "lead may not use tools of other kinds: its tools are read, search"},
		"a command that is read":       {reads, room.Permission{Kind: "read", Command: "rm x"}, nil, "lead may not execute: its tools are read, search"},
		"words that are read":          {reads, room.Permission{Kind: "search", Argv: []string{"rm"}}, nil, "lead may not execute: its tools are read, search"},
		"a change that is read":        {reads, room.Permission{Kind: "read", Diffs: []endpoint.Diff{{Path: "a", New: "b"}}}, nil, "lead may not edit: its tools are read, search"},
		"a long change":                {reads, room.Permission{Kind: "read", Long: true}, nil, "lead may not edit: its tools are read, search"},
		"too long to be shown":         {reads, room.Permission{Kind: "edit", Command: strings.Repeat("x", 20_000)}, nil, "lead may not edit: its tools are read, search"},
		"a move with its change":       {func(x *room.Participant) { x.MayUse = []string{"move"} }, room.Permission{Kind: "move", Diffs: []endpoint.Diff{{Path: "a"}}}, nil, ""},
		"a question":                   {reads, room.Permission{Question: &room.Question{Message: "x?"}}, nil, ""},
		"none":                         {func(x *room.Participant) { x.MayUse = []string{} }, room.Permission{Kind: "think"}, nil, "lead may not think: its tools are none"},
		"manager":                      {func(x *room.Participant) { x.Role = "manager" }, room.Permission{Kind: "edit"}, allowed, "lead may not edit: its tools are read, search, think, fetch, other"},
		"manager reads":                {func(x *room.Participant) { x.Role = "manager" }, room.Permission{Kind: "read"}, nil, ""},
		"manager with tools":           {func(x *room.Participant) { x.Role, x.MayUse = "manager", []string{"edit"} }, room.Permission{Kind: "edit"}, nil, ""},
		"manager that delegates edit":  {func(x *room.Participant) { x.Role, x.MayDelegate = "manager", []string{"edit"} }, room.Permission{Kind: "edit"}, nil, "lead may not edit"},
		"manager that tells its right": {func(x *room.Participant) { x.Role = "manager" }, room.Permission{Kind: "edit", Title: "I may edit"}, nil, "lead may not edit"},
	} {
		for _, mode := range []room.Mode{room.Manual, room.FullAuto} {
			b := callRoom(t, room.Limits{}, func(o *room.Open) {
				o.Participants[0].Mode = mode
				c.seat(&o.Participants[0])
			})
			got := answerTo(t, b, c.p, c.rule)
			switch {
			case c.want == "" && got != nil, c.want != "" && got == nil:
				t.Errorf("%s: %+v", name, got)
			case got != nil && (got.Allowed || got.Always || got.By != endpoint.RuledBy || !strings.HasPrefix(got.Reason, c.want)):
				t.Errorf("%s: %+v, want %s", name, got, c.want)
			}
		}
	}
}

// TestToolRightsOfChild: the agent of a child room has the rights of the call, and what
// it delegates is neither wider than what its callers may delegate nor than what they
// have asked for.
func TestToolRightsOfChild(t *testing.T) {
	all := []string{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"}
	for name, c := range map[string]struct {
		change        func(lead, a *room.Participant)
		tools         []string // that the call asks for
		use, delegate []string
		chain         []string // what the caller itself was given to delegate
	}{
		"all":       {func(_, _ *room.Participant) {}, nil, all, all, nil},
		"asked for": {func(_, _ *room.Participant) {}, []string{"read", "edit"}, []string{"read", "edit"}, []string{"read", "edit"}, nil},
		"a caller that reads and delegates edit": {func(lead, _ *room.Participant) {
			lead.MayUse, lead.MayDelegate = []string{"read"}, []string{"read", "edit"}
		}, nil, []string{"read", "edit"}, []string{"read", "edit"}, nil},
		"a caller that delegates what it uses": {func(lead, _ *room.Participant) { lead.MayUse = []string{"read"} }, nil, []string{"read"}, []string{"read"}, nil},
		"a manager":                            {func(lead, _ *room.Participant) { lead.Role = "manager" }, []string{"edit"}, []string{"edit"}, []string{"edit"}, nil},
		"an agent that reads":                  {func(_, a *room.Participant) { a.MayUse = []string{"read"} }, nil, []string{"read"}, []string{"read"}, nil},
		"a manager is called":                  {func(_, a *room.Participant) { a.Role, a.MayUse = "manager", []string{"read"} }, nil, []string{"read"}, all, nil},
		"below a caller that delegates read":   {func(_, _ *room.Participant) {}, nil, []string{"read"}, []string{"read"}, []string{"read"}},
	} {
		b := callRoom(t, room.Limits{}, func(o *room.Open) {
			c.change(&o.Participants[0], &o.Participants[1])
			if c.chain != nil {
				o.Spec.Call = &room.CallOf{Nested: true, MaxDepth: 5, Agent: "lead", Delegate: c.chain}
			}
		})
		if err := b.call(calls.Args{Agent: "a", Task: "x", AllowedTools: c.tools}); err != nil {
			t.Fatal(err)
		}
		spec, seats, ok := b.state.Child("c1")
		if !ok || !slices.Equal(seats[0].MayUse, c.use) {
			t.Fatalf("%s: the agent may use %q, want %q", name, seats[0].MayUse, c.use)
		}
		child := &bench{T: t}
		seats[0].Calls, spec.Call.Nested, spec.Call.MaxDepth = room.CallsAllow, true, 5
		spec.Agents = []room.Participant{{ID: "deep", Kind: policy.Local}}
		if err := child.act(room.ActorHost, room.Open{Spec: spec, Participants: seats}); err != nil {
			t.Fatal(err)
		}
		child.play("claim")
		record(child, room.TurnGranted{Turn: 1, Participant: "a", Request: "q1"})
		if err := child.act("a", room.CallAgents{Calls: []calls.Args{{Agent: "deep", Task: "y"}}}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := child.state.Calls[0].Rights; !slices.Equal(got, c.delegate) {
			t.Errorf("%s: an agent below it has %q, want %q", name, got, c.delegate)
		}
	}
}

// TestToolRightsAreInternal: readers without control do not see them.
func TestToolRightsAreInternal(t *testing.T) {
	e := room.Event{Body: room.Joined{Participant: room.Participant{ID: "a", MayUse: []string{"read"}, MayDelegate: []string{}}}}
	if got, _ := e.VisibleAt(room.UserVisible); got.Body.(room.Joined).Participant.MayUse != nil || got.Body.(room.Joined).Participant.MayDelegate != nil {
		t.Errorf("%+v", got)
	}
	if got, _ := e.VisibleAt(room.Internal); got.Body.(room.Joined).Participant.MayUse == nil {
		t.Errorf("%+v", got)
	}
}

// TestMayStart: an agent starts others with what it may delegate; one that was called only
// if it may call them.
func TestMayStart(t *testing.T) {
	for name, c := range map[string]struct {
		id   string
		call *room.CallOf
		want string
	}{
		"of a room":     {"lead", nil, "read edit"},
		"of a call":     {"lead", &room.CallOf{Agent: "lead", MaxDepth: 5, Delegate: []string{"read"}}, "ROOM-CALL-DENIED"},
		"of a nested":   {"lead", &room.CallOf{Agent: "lead", MaxDepth: 5, Delegate: []string{"read"}, Nested: true}, "read"},
		"of no seat":    {"ghost", nil, "ROOM-DENIED"},
		"no seat there": {"ghost", &room.CallOf{Agent: "lead"}, "ROOM-DENIED"},
	} {
		b := callRoom(t, room.Limits{}, func(o *room.Open) { o.Participants[0].MayUse, o.Spec.Call = []string{"read", "edit"}, c.call })
		most, err := b.state.MayStart(c.id)
		got := strings.Join(most.Names(), " ")
		if coded, ok := errors.AsType[*problem.Error](err); ok {
			got = coded.Code
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
