package check_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/check"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
)

// An agent is an endpoint whose answers are the function speak.
type agent struct {
	speak func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error)
	noise int
}

func (a agent) Speak(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
	return a.speak(ctx, p, f)
}
func (a agent) Close() error { return nil }
func (a agent) Noise() int   { return a.noise }

func good(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
	if p.Kind == endpoint.Bid {
		b := 0.5
		return endpoint.Reply{Bid: &b, Outcome: endpoint.Passed}, nil
	}
	return endpoint.Reply{Outcome: endpoint.Said, Text: "Yes."}, nil
}

// TestCheckFindsFaults breaks one requirement at a time.
func TestCheckFindsFaults(t *testing.T) {
	broken := func(when func(endpoint.Prompt) bool, r endpoint.Reply, err error) agent {
		return agent{speak: func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if when(p) {
				return r, err
			}
			return good(ctx, p, f)
		}}
	}
	newest := func(p endpoint.Prompt) string { return p.CatchUp[len(p.CatchUp)-1].Text }
	has := func(s string) func(endpoint.Prompt) bool {
		return func(p endpoint.Prompt) bool { return strings.Contains(newest(p), s) }
	}
	for name, c := range map[string]struct {
		a    agent
		want string // names of the requirements that fail
	}{
		"good":      {agent{speak: good}, ""},
		"first":     {broken(func(p endpoint.Prompt) bool { return p.Turn == 1 }, endpoint.Reply{}, endpoint.ErrTimeout), "answer"},
		"second":    {broken(func(p endpoint.Prompt) bool { return p.Turn == 2 }, endpoint.Reply{}, endpoint.ErrExited), "sequence"},
		"no text":   {broken(func(p endpoint.Prompt) bool { return p.Turn == 1 }, endpoint.Reply{Outcome: endpoint.Said}, nil), "answer"},
		"outcome":   {broken(func(p endpoint.Prompt) bool { return p.Turn == 1 }, endpoint.Reply{Outcome: "?", Text: "x"}, nil), "answer"},
		"odd":       {broken(has("quoted"), endpoint.Reply{}, endpoint.ErrProtocol), "odd-text"},
		"long":      {broken(has("A long text."), endpoint.Reply{}, endpoint.ErrTimeout), "long-prompt"},
		"limit":     {broken(has("few words"), endpoint.Reply{Outcome: endpoint.Said, Text: strings.Repeat("x", 201)}, nil), "limit"},
		"cancel":    {broken(has("cancelled"), endpoint.Reply{}, endpoint.ErrExited), "cancel"},
		"no bid":    {broken(func(p endpoint.Prompt) bool { return p.Kind == endpoint.Bid }, endpoint.Reply{}, nil), "bid"},
		"noise":     {agent{speak: good, noise: 1}, "clean-output"},
		"violation": {agent{speak: violate}, "no-violations"},
	} {
		t.Run(name, func(t *testing.T) {
			var failed []string
			var names int
			err := check.Run(t.Context(), check.Config{
				Open: func() (check.Endpoint, error) { return c.a, nil },
				Report: func(r check.Result) {
					names++
					if r.OK {
						return
					}
					failed = append(failed, r.Name)
					if r.Fix == "" || r.Detail == "" || r.Requires == "" {
						t.Errorf("%s fails without detail or fix: %+v", r.Name, r)
					}
				},
			})
			if got := strings.Join(failed, " "); got != c.want || names != 10 {
				t.Errorf("%d requirements, %q fail, want %q", names, got, c.want)
			}
			var pe *problem.Error
			if bad := c.want != "" && c.want != "bid"; bad != errors.As(err, &pe) || bad && pe.Code != "AGENT-CHECK" {
				t.Errorf("Run: %v", err)
			}
		})
	}
}

func violate(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
	if p.Turn == 1 {
		if _, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalViolation, Code: "noise"}); err != nil {
			return endpoint.Reply{}, err
		}
	}
	return good(ctx, p, f)
}

// TestOpenFails checks that the error of Open is returned.
func TestOpenFails(t *testing.T) {
	want := errors.New("no such command")
	err := check.Run(t.Context(), check.Config{Open: func() (check.Endpoint, error) { return nil, want }})
	if !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

// TestPlain checks that an agent in plain text is not asked for what only frames
// have.
func TestPlain(t *testing.T) {
	a := agent{noise: 1, speak: func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		if p.Kind == endpoint.Bid {
			t.Error("it is asked for a bid")
		}
		return good(ctx, p, f)
	}}
	var names []string
	err := check.Run(t.Context(), check.Config{
		Plain: true, Open: func() (check.Endpoint, error) { return a, nil },
		Report: func(r check.Result) { names = append(names, r.Name) },
	})
	if got := strings.Join(names, " "); err != nil || got != "answer sequence odd-text long-prompt limit cancel no-violations" {
		t.Errorf("%s: %v", got, err)
	}
}
