package scripted_test

import (
	"errors"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/endpointtest"
	"github.com/folkmoot/moot/endpoints/scripted"
	"github.com/folkmoot/moot/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func say(text string) scripted.Step { return scripted.Step{Text: endpointtest.Answer(text)} }

func share(f float64) *float64 { return &f }

// TestConformance runs the suite of all endpoints with a script for each scenario.
// A script cannot break a protocol, so those cases are skipped.
func TestConformance(t *testing.T) { endpointtest.Run(t, open) }

// TestDocumentedAbilities compares docs/agents.md with the suite.
func TestDocumentedAbilities(t *testing.T) {
	endpointtest.Documented(t, "../../docs/agents.md", "scripted", open)
}

// open returns an agent with the script of a scenario, or nil.
func open(t *testing.T, s endpointtest.Scenario) endpointtest.Endpoint {
	echoes := map[string][]scripted.Step{
		"sequence": {say("one"), say("two"), say("three")},
		"check":    {say("any"), say("any"), say("any"), say("any"), say("any"), say("any")},
		"close":    {say("hello")}, "close_unused": nil, "cancelled_before": nil,
		"unknown_usage_is_not_zero": {say("hello")},
	}
	working := scripted.Step{Text: "x", Acts: scripted.Acts{Messages: []scripted.Message{{Text: "working"}}}}
	switch s {
	case endpointtest.Echo:
		if steps, ok := echoes[path.Base(t.Name())]; ok {
			return scripted.New(steps...)
		}
	case endpointtest.Empty:
		return scripted.New(scripted.Step{Outcome: endpoint.Said})
	case endpointtest.Passes:
		return scripted.New(scripted.Step{Outcome: endpoint.Passed, Reason: "nothing to add"})
	case endpointtest.Refuses:
		return scripted.New(scripted.Step{Outcome: endpoint.Refused, Reason: "not mine"})
	case endpointtest.Errors:
		return scripted.New(scripted.Step{Outcome: scripted.Fail, Reason: "out of order"})
	case endpointtest.Stated:
		return scripted.New(scripted.Step{Text: "x", Usage: endpoint.Usage{Known: true, Input: 120, Output: 30}, Confidence: share(0.75)})
	case endpointtest.Bids:
		step := say("then speak")
		step.Bid = share(0.25)
		return scripted.New(step)
	case endpointtest.SideMessage:
		step := say("hello")
		step.Messages = []scripted.Message{{To: "dba", Text: "psst"}}
		return scripted.New(step)
	case endpointtest.Messages:
		return follow(t, `{"say":"echo: hello","ack":["*"],"claim":"t1","post":[{"message_id":"result","to":"you","kind":"result_bundle","summary":"40 s","payload":{"task":"t1"},"correlation_id":"brief","requires_ack":true}]}`)
	case endpointtest.HandsOff:
		return follow(t, `{"say":"echo: hello","handoff":{"to":"dba","reason":"hers"}}`)
	case endpointtest.Calls:
		return follow(t, `{"say":"echo: hello","call":[{"agent_name":"dba","task":"check"}]}`)
	case endpointtest.Hang, endpointtest.Stubborn:
		if path.Base(t.Name()) != "hangs" { // a scripted agent never hangs after its turn
			hang := working
			hang.Delay = time.Hour
			return scripted.New(hang)
		}
	}
	return nil
}

func follow(t *testing.T, script string) endpointtest.Endpoint {
	t.Helper()
	steps, err := scripted.Parse("script", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	return scripted.New(steps...)
}

// TestOversize checks the limit of characters.
func TestOversize(t *testing.T) {
	e := scripted.New(scripted.Step{Text: strings.Repeat("ü", 11)}, scripted.Step{Text: strings.Repeat("ü", 10)})
	if _, err := e.Speak(t.Context(), endpoint.Prompt{MaxOutputChars: 10}, nil); !errors.Is(err, endpoint.ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
	if r, err := e.Speak(t.Context(), endpoint.Prompt{MaxOutputChars: 10}, nil); err != nil || r.Outcome != endpoint.Said {
		t.Errorf("got %+v and %v", r, err)
	}
	if r, err := e.Speak(t.Context(), endpoint.Prompt{}, nil); err != nil || r.Outcome != endpoint.Passed {
		t.Errorf("out of steps: %+v and %v", r, err)
	}
}

// TestDefaultBids checks the bids of steps that state none.
func TestDefaultBids(t *testing.T) {
	e := scripted.New(scripted.Step{Text: "x"}, scripted.Step{Outcome: endpoint.Passed})
	for i, want := range []float64{0.5, 0, 0} {
		for range 2 { // a bid takes no step
			r, err := e.Speak(t.Context(), endpoint.Prompt{Kind: endpoint.Bid}, nil)
			if err != nil || r.Bid == nil || *r.Bid != want {
				t.Errorf("before step %d it bids %v (%v), want %v", i, r.Bid, err, want)
			}
		}
		if _, err := e.Speak(t.Context(), endpoint.Prompt{Kind: endpoint.Turn}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestParse checks that the text form and the JSON form of one script give the
// same steps.
func TestParse(t *testing.T) {
	want := []scripted.Step{
		{
			Outcome: endpoint.Said, Text: "One.\nTwo.", Bid: share(0.9), Confidence: share(0.8), Delay: 50 * time.Millisecond,
			Usage: endpoint.Usage{Known: true, Input: 120, Output: 30},
			Acts:  scripted.Acts{Messages: []scripted.Message{{To: "dba", Text: "Psst."}, {Text: "Hear ye."}}},
		},
		{Outcome: endpoint.Passed, Reason: "nothing new"},
		{Outcome: endpoint.Refused, Reason: "not mine"},
		{Outcome: scripted.Fail, Reason: "out of order", Delay: time.Second},
		{Outcome: endpoint.Passed},
	}
	for _, name := range []string{"all.txt", "all.jsonl"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := scripted.Parse(name, b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got\n%+v, want\n%+v", name, got, want)
		}
	}
}

// TestParseProblems checks the errors of malformed scripts.
func TestParseProblems(t *testing.T) {
	for script, want := range map[string]string{
		"shout Hello":                       "s:1: the script has the unknown word \"shout\"",
		"say":                               "s:1: the script says nothing",
		"say x\n\n  more\nbid 2\nsay y":     "s:4: the script has \"2\"",
		"bid NaN\nsay x":                    "s:1: the script has \"NaN\"",
		"delay -1s\nsay x":                  "s:1: the script has \"-1s\"",
		"usage 1\nsay x":                    "s:1: the script has \"1 \"",
		"message dba\nsay x":                "s:1: the script has a message without text",
		"say x\ndelay 1s":                   "s:2: the script ends with \"delay\"",
		"  more":                            "s:1: the script continues a text",
		"pass\n  more":                      "s:2: the script continues a text",
		`{"say":"x","pass":""}`:             "s:1: the script has a step with two outcomes",
		`{"bid":1}`:                         "s:1: the script has a step without an outcome",
		`{"say":"x","shout":1}`:             "s:1: the script cannot be read",
		`{"say":"x"} {"say":"y"}`:           "s:1: the script has more than one object",
		`{"say":"x"}` + "\n" + `say y`:      "s:2: the script cannot be read",
		`{"say":"x","usage":[1]}`:           "s:1: the script has a usage",
		`{"say":"x","messages":[{"to":1}]}`: "s:1: the script cannot be read",
		"say \xff":                          "s:1: the script is not valid UTF-8",
	} {
		_, err := scripted.Parse("s", []byte(script))
		var pe *problem.Error
		if !errors.As(err, &pe) || pe.Code != "AGENT-SCRIPT" || pe.Fix == "" || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", script, err, want)
		}
	}
}

// FuzzParse checks that the steps of arbitrary scripts are within their bounds.
func FuzzParse(f *testing.F) {
	f.Add([]byte("bid 0.5\nsay Hello.\n  There.\n# no\npass"))
	f.Add([]byte(`{"say":"x","bid":0.5,"usage":[1,2],"messages":[{"to":"a","text":"b"}],"delay":"1ms"}`))
	f.Fuzz(func(t *testing.T, script []byte) {
		steps, err := scripted.Parse("s", script)
		if err != nil && steps != nil {
			t.Fatal("steps and an error")
		}
		for _, s := range steps {
			if s.Delay < 0 || s.Outcome == "" || s.Outcome == endpoint.Said && s.Text == "" || s.Bid != nil && !(*s.Bid >= 0 && *s.Bid <= 1) {
				t.Fatalf("bad step %+v", s)
			}
		}
	})
}
