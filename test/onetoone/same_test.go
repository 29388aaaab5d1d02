package onetoone

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/share"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/roundrobin"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/memory"
)

// script returns an agent for TestSame: it speaks, passes, refuses, reports
// usage and confidence, and fails.
func script(name string) agent {
	n := 0
	sure := 0.7
	return func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		n++
		switch n {
		case 2:
			return endpoint.Reply{Outcome: endpoint.Passed, Reason: "nothing to add"}, nil
		case 3:
			return endpoint.Reply{Outcome: endpoint.Refused, Reason: "not mine"}, nil
		case 4:
			return endpoint.Reply{}, fmt.Errorf("%w: out of order", endpoint.ErrAgent)
		}
		return endpoint.Reply{
			Outcome: endpoint.Said, Text: fmt.Sprintf("%s heard %q", name, newest(p)), Confidence: &sure,
			Usage: endpoint.Usage{Known: true, Input: 10, Output: int64(n)},
		}, nil
	}
}

// TestSame runs one scripted room with all seats local, then with all remote, and
// checks that the events differ only in kinds and times.
func TestSame(t *testing.T) {
	local, remote := sameRoom(t, false), sameRoom(t, true)
	if len(local) != len(remote) {
		t.Fatalf("%d events local, %d remote", len(local), len(remote))
	}
	for i := range local {
		if !reflect.DeepEqual(local[i], remote[i]) {
			t.Errorf("event %d\n local %v\nremote %v", i+1, local[i], remote[i])
		}
	}
}

func sameRoom(t *testing.T, far bool) (all []any) {
	t.Helper()
	f := newFlow(t)
	agents := map[string]agent{"a": script("a"), "b": script("b"), "c": script("c")}
	var serve []share.AgentConfig
	seats := []room.Participant{}
	for _, id := range []string{"a", "b", "c"} {
		p := room.Participant{ID: id, Kind: policy.Local, Mode: room.FullAuto}
		if far {
			p.Kind, p.Owner, p.Device = policy.Remote, "bob", f.bob.self.ID().String()
		}
		seats = append(seats, p)
		serve = append(serve, share.AgentConfig{Profile: allows(id, f.ann), Candid: true, Open: func(context.Context) (share.Agent, error) { return agents[id], nil }})
	}
	f.bob.start(serve...)
	f.ann.start()
	l := &memory.Log{}
	r, err := coordinator.Open(t.Context(), coordinator.Config{
		Log: l, Owner: "test", RunOptions: coordinator.RunOptions{Headless: true},
		Policy: func(context.Context, room.PolicyRef) (coordinator.Policy, error) { return rounds{}, nil },
		Endpoint: func(_ context.Context, _ room.Spec, p room.Participant) (coordinator.Endpoint, error) {
			if far {
				return f.ann.seat(f.bob, p.ID, allows("host", f.bob)), nil
			}
			return agents[p.ID], nil
		},
	}, room.Spec{Room: "r1", Secret: "s", Limits: room.Limits{MaxTurns: 18, MaxFailures: 5}, Policy: room.PolicyRef{Use: "roundrobin", Name: "roundrobin"}}, seats)
	must(t, err)
	must(t, r.Run(t.Context()))
	entries, err := l.Read(t.Context(), "r1", log.Pos{}, 1<<20)
	must(t, err)
	for _, e := range entries {
		all = append(all, plain(t, e.Event))
	}
	return all
}

type rounds struct{}

func (rounds) Propose(ctx context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	return roundrobin.New().Decide(&in), policy.Record{}, ctx.Err()
}

// varying are the keys of kinds, times, and ids and digests derived from them.
var varying = []string{"kind", "owner", "device", "at", "clock", "clock_ns", "id", "latency_ns", "timeout_ns", "asked_at_ms", "request", "prompt_sha256", "created_at", "seed", "tokens", "command", "error", "participant_kind"}

// plain returns an event without the keys of varying.
func plain(t *testing.T, e room.Event) any {
	t.Helper()
	b, err := room.MarshalEvent(e)
	must(t, err)
	var v any
	must(t, json.Unmarshal(b, &v))
	return strip(v)
}

func strip(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for _, k := range varying {
			if s, ok := x[k].(string); ok && k == "kind" && s != policy.Local && s != policy.Remote {
				continue
			}
			delete(x, k)
		}
		for k := range x {
			x[k] = strip(x[k])
		}
	case []any:
		for i := range x {
			x[i] = strip(x[i])
		}
	}
	return v
}
