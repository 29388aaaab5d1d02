// Package endpointtest is the test suite of all endpoints: one request in flight,
// one result, deadlines, cancellation, malformed output, late and duplicate
// answers, limits, exit, restart and close.
//
// The test of an endpoint states how to open it with an agent of a given
// behaviour:
//
//	func TestConformance(t *testing.T) {
//		endpointtest.Run(t, func(t *testing.T, s endpointtest.Scenario) endpointtest.Endpoint {
//			return New(...)
//		})
//	}
package endpointtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/check"
	"github.com/folkmoot/moot/endpoints/endpoint"
)

// An Endpoint is the endpoint under test.
type Endpoint = check.Endpoint

// An Opener returns an endpoint whose agent behaves as s states, with a short
// grace period for agents that hang. It returns nil if its kind of agent cannot
// behave so; the case is then skipped. The suite closes the endpoint.
type Opener func(t *testing.T, s Scenario) Endpoint

// A Scenario is the behaviour of an agent. Unless the scenario states otherwise,
// the agent answers every prompt with [Answer] of its newest message.
type Scenario string

// Scenarios.
const (
	Echo        Scenario = "echo"
	Empty       Scenario = "empty"       // answers with an empty text
	Passes      Scenario = "passes"      // answers that it has nothing to add, with the reason "nothing to add"
	Refuses     Scenario = "refuses"     // answers that it will not, with the reason "not mine"
	Errors      Scenario = "errors"      // reports an error with the reason "out of order"
	Stated      Scenario = "stated"      // states usage 120 and 30, and confidence 0.75
	Bids        Scenario = "bids"        // bids 0.25
	SideMessage Scenario = "asides"      // raises the side message "psst" to dba before its answer
	Hang        Scenario = "hang"        // raises the side message "working" and never answers
	Late        Scenario = "late"        // in its first turn raises "working" and answers 50 ms later
	Duplicate   Scenario = "duplicate"   // answers twice
	Foreign     Scenario = "foreign"     // answers an unknown request before its own
	Noisy       Scenario = "noisy"       // writes a few lines that are no frames before its answer, and all kinds of line ends
	Flooding    Scenario = "flooding"    // writes too many lines that are no frames in place of its first answer
	Torn        Scenario = "torn"        // its first answer is an incomplete frame
	Oversize    Scenario = "oversize"    // its first answer has one character more than allowed
	Overlong    Scenario = "overlong"    // its first answer is over the limit of a line
	Negative    Scenario = "negative"    // its first answer states negative usage
	Exits       Scenario = "exits"       // writes "goodbye" to standard error and exits with status 3 in place of its first answer
	ExitsHalf   Scenario = "exits-half"  // like Exits, in the middle of a frame
	ExitsAfter  Scenario = "exits-after" // exits right after its first answer
	Restarts    Scenario = "restarts"    // like Exits, and the endpoint may restart it once
	Deaf        Scenario = "deaf"        // never reads its input
	Complaining Scenario = "complaining" // floods standard error before each answer
	Stubborn    Scenario = "stubborn"    // raises "working", never answers, and ignores SIGTERM, as does its child process
	WrongTools  Scenario = "wrong-tools" // claims tool rounds, which are not allowed
	Mortal      Scenario = "mortal"      // like ExitsAfter, and may be restarted any number of times
)

// Answer returns the answer of an agent to a text.
func Answer(text string) string { return "echo: " + text }

// Run runs the suite.
func Run(t *testing.T, open Opener) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := open(t, c.agent)
			if e == nil {
				t.Skipf("this kind of agent cannot behave as %q", c.agent)
			}
			h := &harness{T: t, Endpoint: e, floor: newFloor(), limit: 60 * time.Second}
			t.Cleanup(func() { e.Close() })
			c.run(h)
		})
	}
}

type testCase struct {
	name  string
	agent Scenario
	run   func(*harness)
}

// A harness is one endpoint under test.
type harness struct {
	*testing.T
	Endpoint
	floor *floor
	turn  int
	limit time.Duration
}

func (h *harness) prompt(text string) endpoint.Prompt {
	h.turn++
	p := endpoint.Prompt{
		Kind: endpoint.Turn, Request: fmt.Sprintf("req_%s_%d", strings.ReplaceAll(h.Name(), "/", "_"), h.turn),
		Room: "r", Session: "s", Profile: "p", Turn: h.turn, Mode: "full_auto",
		You: endpoint.Seat{ID: "me"}, Seats: []endpoint.Seat{{ID: "me"}, {ID: "you"}}, Boundary: "0123456789abcdef",
		Objective: "Test.", CatchUp: []endpoint.Line{{Seq: int64(h.turn), From: "you", Text: text}},
		MaxOutputChars: 1000, Timeout: h.limit,
	}
	return p
}

func (h *harness) say(text string) (endpoint.Reply, error) {
	return h.Speak(h.Context(), h.prompt(text), h.floor)
}

// answers fails the test unless the next prompt gets its own answer.
func (h *harness) answers(text string) {
	h.Helper()
	r, err := h.say(text)
	if err != nil {
		h.Fatalf("asked %q: %v", text, err)
	}
	if r.Outcome != endpoint.Said || r.Text != Answer(text) {
		h.Fatalf("asked %q, and it %s %q", text, r.Outcome, r.Text)
	}
}

// A floor records the signals, and lets a test wait for one.
type floor struct {
	mu   sync.Mutex
	news chan struct{} // closed and replaced at each signal
	got  []endpoint.Signal
}

func newFloor() *floor { return &floor{news: make(chan struct{})} }

// Raise records s and allows it.
func (f *floor) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got = append(f.got, s)
	close(f.news)
	f.news = make(chan struct{})
	return endpoint.Answer{Allowed: true}, nil
}

// Show drops live text.
func (f *floor) Show(string) {}

// wait returns the first signal of a kind, or fails the test.
func (f *floor) wait(t testing.TB, kind string) endpoint.Signal {
	t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	for {
		f.mu.Lock()
		news, all := f.news, f.got
		f.mu.Unlock()
		for _, s := range all {
			if s.Kind == kind {
				return s
			}
		}
		select {
		case <-news:
		case <-deadline.C:
			t.Fatalf("no signal of kind %s; got %+v", kind, all)
		}
	}
}
