package ndjson_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/check"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/ndjson"
)

const review = "../../examples/review"

var reviewers = map[string][]string{
	"codebase": {"./agents/codebase.sh", "plan.md"},
	"dba":      {"python3", "-B", "./agents/dba.py", "plan.md"},
	"security": {"python3", "-B", "./agents/security.py", "plan.md"},
}

// TestExampleAgents checks that the example agents meet all requirements, bids
// included.
func TestExampleAgents(t *testing.T) {
	for name, command := range reviewers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, "python3")
			err := check.Run(t.Context(), check.Config{
				Bid: hangGuard, Exit: hangGuard,
				Open: func() (check.Endpoint, error) {
					e := ndjson.New(ndjson.Config{Command: command, Dir: review, Grace: hangGuard, Close: hangGuard})
					return e, e.Start(t.Context(), nil)
				},
				Report: func(r check.Result) {
					t.Logf("%-14s ok=%-5t %6s  %s", r.Name, r.OK, r.Took.Round(1e6), r.Detail)
					if !r.OK {
						t.Errorf("%s: %s", r.Name, r.Detail)
					}
				},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestExampleAgentsAnswer checks that the example agents react to messages, quote
// the plan, and pass when they have nothing to add.
func TestExampleAgentsAnswer(t *testing.T) {
	for name, turns := range map[string][][2]string{ // a message, and a part of the answer
		"codebase": {{"Begin.", "5 steps"}, {"Thanks.", ""}, {"@codebase: what is the outcome?", "No-go"}, {"@codebase: sure?", ""}},
		"dba":      {{"How long does step 2 lock?", "`UPDATE orders SET region = 'eu'`"}, {"And step 3?", "For the locks: step 3"}, {"And step 3?", ""}, {"And step 5?", ""}},
		"security": {{"Begin.", "`GRANT ALL ON orders TO app_readonly`"}, {"And now?", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, "python3")
			e := ndjson.New(ndjson.Config{Command: reviewers[name], Dir: review})
			defer e.Close()
			for i, turn := range turns {
				r, err := e.Speak(t.Context(), endpoint.Prompt{
					Kind: endpoint.Turn, Request: name + strconv.Itoa(i), You: endpoint.Seat{ID: name},
					CatchUp: []endpoint.Line{{From: "you", Text: turn[0]}},
				}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if turn[1] == "" != (r.Outcome == endpoint.Passed) || !strings.Contains(r.Text, turn[1]) {
					t.Errorf("told %q: %s %q, want %q", turn[0], r.Outcome, r.Text, turn[1])
				}
			}
		})
	}
}

// TestExampleAgentsMessages checks the functions of the example agents for messages: they
// acknowledge what asks for it, post, and are told of a refusal.
func TestExampleAgentsMessages(t *testing.T) {
	need(t, "python3")
	program := `import sys
sys.path.insert(0, "agents")
import frames

def speak(request):
    return frames.post("lead", "result_bundle", "m1", summary="done", correlation_id=request["objective"]) or "posted", 1

frames.serve(speak)
`
	e := ndjson.New(ndjson.Config{Command: []string{"python3", "-B", "-c", program}, Dir: review})
	defer e.Close()
	mail := []endpoint.Mail{{From: "lead", Post: endpoint.Post{ID: "brief", RequiresAck: true}}, {From: "lead", Post: endpoint.Post{ID: "other"}}}
	for _, c := range []struct{ objective, want string }{{"brief", "posted"}, {"refused", "no manager"}} {
		floor := &recorder{}
		r, err := e.Speak(t.Context(), endpoint.Prompt{Kind: endpoint.Turn, Request: c.objective, Objective: c.objective, Mail: mail}, floor)
		if err != nil || r.Text != c.want {
			t.Errorf("%s: %+v and %v, want %q", c.objective, r, err, c.want)
		}
		if all := floor.got; len(all) != 2 || all[0].Post == nil || all[0].Post.ID != "m1" || !slices.Equal(all[1].Of, []string{"brief"}) {
			t.Errorf("%s: raised was %+v", c.objective, all)
		}
	}
}

// BenchmarkExampleAgents measures a turn with a prompt of 24,000 characters.
func BenchmarkExampleAgents(b *testing.B) {
	for name, command := range reviewers {
		b.Run(name, func(b *testing.B) {
			e := ndjson.New(ndjson.Config{Command: command, Dir: review})
			defer e.Close()
			p := endpoint.Prompt{
				Kind: endpoint.Turn, You: endpoint.Seat{ID: name}, MaxOutputChars: 12_000,
				History: []endpoint.Line{{From: "you", Text: strings.Repeat("history ", 3000)}},
				CatchUp: []endpoint.Line{{From: "you", Text: "And step 3?"}},
			}
			if err := e.Start(b.Context(), nil); err != nil {
				b.Skip(err)
			}
			for i := 0; b.Loop(); i++ {
				p.Request = "req_" + strconv.Itoa(i)
				if _, err := e.Speak(b.Context(), p, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
