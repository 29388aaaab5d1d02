package seat

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
)

// TestPermissionsStayWithTheOwner: a shared agent is answered by the rules of its
// profile. The host of the room hears of no request and allows nothing, though its
// floor would allow everything.
func TestPermissionsStayWithTheOwner(t *testing.T) {
	asked := []endpoint.Permission{
		{Kind: "read", Paths: []string{"a.go"}},
		{Kind: "read", Paths: []string{"/etc/passwd"}},
		{Kind: "edit", Paths: []string{"a.go"}, Always: true},
		{Kind: "execute", Command: "go test ./..."},
		{Kind: "execute", Command: "go test; id"},
		{Kind: "execute", Command: "go test " + strings.Repeat("x", 20_000)},
	}
	want := []string{
		"true rule {kind: read}", `false room "/etc/passwd" is outside`, "false room in the room of another owner",
		"true rule {kind: execute, argv: [go, test, *]}", "false room in the room of another owner", "false room in the room of another owner",
	}
	p := newPair(t, func(ctx context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		var said []string
		for i := range asked {
			a, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalPermission, Permission: &asked[i]})
			if err != nil || a.Always {
				t.Errorf("%+v: %+v, %v", asked[i], a, err)
			}
			said = append(said, fmt.Sprintf("%t %s %s", a.Allowed, a.By, a.Reason))
		}
		if a, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalPermission}); err != nil || a.Allowed {
			t.Errorf("an empty request: %+v, %v", a, err)
		}
		return endpoint.Reply{Outcome: endpoint.Said, Text: strings.Join(said, "\n")}, nil
	}, func(p *pair) {
		p.dir = t.TempDir()
		p.rules = []endpoint.AllowRule{{Kind: "read"}, {Kind: "execute", Argv: []string{"go", "test", "*"}}}
	})
	f := newFloor()
	reply, err := p.seat.Speak(t.Context(), prompt("req_1", "hello"), f)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(reply.Text, "\n") {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("answer %d is %q, want %q", i+1, line, want[i])
		}
	}
	if len(f.signals) > 0 {
		t.Errorf("the host heard of %+v", f.signals)
	}
}

// TestPermissionOverTheRelay: a device that sends the room's host a permission
// request gets no answer: it breaks the protocol, and the turn goes on.
func TestPermissionOverTheRelay(t *testing.T) {
	release := make(chan struct{})
	var p *pair
	p = newPair(t, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
		e := envelope.Envelope{ID: "req_1", Type: envelope.Permission, Profile: "theirs", Room: "r_1", Epoch: 1, Turn: 1, Body: []byte(`{"permission":{"kind":"execute","command":"id"}}`)}
		send(t, p.hub.Connect(p.guest), p.host, e)
		<-release
		return endpoint.Reply{Outcome: endpoint.Said, Text: "x"}, nil
	})
	f := newFloor()
	go func() {
		if s := <-f.news; s.Kind != endpoint.SignalViolation || s.Code != "unknown_frame" {
			t.Errorf("the room heard of %+v", s)
		}
		close(release)
	}()
	if reply, err := p.seat.Speak(t.Context(), prompt("req_1", "hello"), f); err != nil || reply.Text != "x" {
		t.Errorf("the turn ended with %+v, %v", reply, err)
	}
	if len(f.signals) != 1 {
		t.Errorf("the room heard of %+v", f.signals)
	}
}
