package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// TestSessionRights checks that the agent of a session has no right that an agent above it
// may not delegate, at each depth, and that people may start any.
func TestSessionRights(t *testing.T) {
	x := newOffice(t, nil)
	rightsOf := func(session string) string {
		t.Helper()
		s := must(coordinator.State(t.Context(), x.host.Log(), session))
		p, ok := s.Seat("agent")
		if !ok {
			t.Fatal("the session has no agent")
		}
		use, delegate := p.Rights()
		return use.String() + "; " + delegate.String()
	}
	all := rightsOf(x.create(x.user, api.NewSession{}))
	for yaml, want := range map[string]string{
		leadRoom: all,
		withKeys("tools: [read, search]", "delegate: [read, edit]"): "read, edit; read, edit",
		withKeys("tools: [read]"):                                   "read; read",
		withKeys("delegate: []"):                                    "none; none",
	} {
		a := must(x.host.Create(t.Context(), moot.Source{YAML: yaml, Dir: x.root}, moot.Options{}))
		child := x.create(x.as(a.ID(), "lead"), api.NewSession{})
		grandchild := x.create(x.as(child, "agent"), api.NewSession{})
		for _, id := range []string{child, grandchild} {
			if got := rightsOf(id); got != want {
				t.Errorf("%s\ngives %s, want %s", yaml, got, want)
			}
		}
	}
	s := must(coordinator.State(t.Context(), x.host.Log(), x.create(x.user, api.NewSession{})))
	for _, nested := range []bool{false, true} {
		s.Spec.Call = &room.CallOf{Agent: "agent", Nested: nested, Delegate: []string{"read"}}
		most, err := s.MayStart("agent")
		if nested && (err != nil || !slices.Equal(most.Names(), []string{"read"})) || !nested && codeOf(err) != "ROOM-CALL-DENIED" {
			t.Errorf("nested %t: %s, %v", nested, most, err)
		}
	}
}

// withKeys is leadRoom with more keys of its agent.
func withKeys(keys ...string) string {
	return strings.Replace(leadRoom, "    mode:", "    "+strings.Join(keys, "\n    ")+"\n    mode:", 1)
}
