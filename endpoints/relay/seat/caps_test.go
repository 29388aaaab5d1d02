package seat

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/share"
)

// TestCaps checks that the lower of the host's limit and the cap of the profile
// applies, and that the agent's prompt says so.
func TestCaps(t *testing.T) {
	for name, c := range map[string]struct {
		caps                share.Caps
		chars, rounds       int
		tools               bool
		wantChars, wantTool int
		wantTools           bool
	}{
		"nothing is set":        {share.Caps{}, 0, 0, false, 12_000, 3, false},
		"tools are not allowed": {share.Caps{}, 500, 9, true, 500, 3, false},
		"the host is higher":    {share.Caps{AllowTools: true, MaxOutputChars: 700, MaxToolRounds: 2}, 100_000, 90, true, 700, 2, true},
		"the host is lower":     {share.Caps{AllowTools: true, MaxOutputChars: 70_000, MaxToolRounds: 20}, 600, 1, true, 600, 1, true},
		"the host allows none":  {share.Caps{AllowTools: true, MaxToolRounds: 20}, 600, 4, false, 600, 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			var got endpoint.Prompt
			p := newPair(t, func(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
				got = p
				return endpoint.Reply{Outcome: endpoint.Said, Text: strings.Repeat("x", c.wantChars)}, nil
			}, func(p *pair) { p.caps = c.caps })
			q := prompt("req_1", "hello")
			q.MaxOutputChars, q.MaxToolRounds, q.AllowToolUse = c.chars, c.rounds, c.tools
			if _, err := p.seat.Speak(t.Context(), q, newFloor()); err != nil {
				t.Fatal(err)
			}
			if got.MaxOutputChars != c.wantChars || got.MaxToolRounds != c.wantTool || got.AllowToolUse != c.wantTools {
				t.Errorf("the agent is given %d characters, %d rounds, tools %t", got.MaxOutputChars, got.MaxToolRounds, got.AllowToolUse)
			}
			if strings.Contains(got.Text, "Use no tools.") == c.wantTools {
				t.Errorf("the prompt says\n%s", got.Text)
			}
		})
	}
}

// TestMaxMinutes checks that an agent whose minutes of the day are used is not
// asked, over a restart of the share, and that a turn gets at most what is left.
func TestMaxMinutes(t *testing.T) {
	asked := 0
	var timeout time.Duration
	p := newPair(t, func(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
		asked, timeout = asked+1, p.Timeout
		return endpoint.Reply{Outcome: endpoint.Said, Text: "yes"}, nil
	}, func(p *pair) { p.caps.MaxMinutes = 2 })
	if err := p.guestQuota.AddWork(p.guestProfile, p.host, 110*time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := p.seat.Speak(t.Context(), prompt("req_1", "hello"), newFloor()); err != nil || asked != 1 || timeout > 10*time.Second {
		t.Fatalf("asked %d times with %v, %v", asked, timeout, err)
	}
	worked, err := p.guestQuota.Worked(p.guestProfile, p.host)
	if err != nil || worked <= 110*time.Second {
		t.Errorf("it has worked %v, %v", worked, err)
	}
	if err := p.guestQuota.AddWork(p.guestProfile, p.host, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	p.stopShare()
	p.startShare(t)
	if _, err := p.seat.Speak(t.Context(), prompt("req_2", "hello"), newFloor()); !errors.Is(err, endpoint.ErrLimited) || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	reasons := ""
	for len(p.audited) > 0 {
		reasons += (<-p.audited).Reason
	}
	if reasons != "RELAY-MINUTES" {
		t.Errorf("the audit has the reasons %q", reasons)
	}
}
