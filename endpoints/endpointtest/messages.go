package endpointtest

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// mailed returns a prompt with two messages that wait for the agent, of which one asks
// for an acknowledgement.
func (h *harness) mailed(text string) endpoint.Prompt {
	p := h.prompt(text)
	p.Duty = endpoint.DutyWorker
	brief := endpoint.Post{ID: "brief", To: "me", Kind: "intent_brief", Text: "Estimate it.", Payload: []byte(`{"tasks":[{"id":"t1"}]}`), RequiresAck: true}
	p.Inbox = []endpoint.Line{{Seq: 99, From: "you", To: "me", Kind: "intent_brief", Text: brief.Line(), ID: brief.ID, Ack: true}}
	p.Mail = []endpoint.Mail{{From: "you", Post: brief}, {From: "you", Post: endpoint.Post{ID: "other", To: "me", Kind: "decision", Text: "Go on."}}}
	return p
}

// raised returns the signals of some kinds.
func (f *floor) raised(kinds ...string) (all []endpoint.Signal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.got {
		if slices.Contains(kinds, s.Kind) {
			all = append(all, s)
		}
	}
	return all
}

// messages checks that the agent gets its mail, and that what it does with it arrives
// before its answer, in order.
func messages(h *harness) {
	r, err := h.Speak(h.Context(), h.mailed("hello"), h.floor)
	if err != nil || r.Text != Answer("hello") {
		h.Fatalf("%+v and %v", r, err)
	}
	all := h.floor.raised(endpoint.SignalAck, endpoint.SignalClaim, endpoint.SignalMessage, endpoint.SignalViolation)
	if len(all) != 3 || !reflect.DeepEqual(all[0].Of, []string{"brief"}) || all[1].Kind != endpoint.SignalClaim || all[1].Code != "t1" || all[2].Post == nil {
		h.Fatalf("raised was %+v", all)
	}
	want := endpoint.Post{ID: "result", To: "you", Kind: "result_bundle", Summary: "40 s", Payload: []byte(`{"task":"t1"}`), Correlation: "brief", RequiresAck: true}
	if !reflect.DeepEqual(*all[2].Post, want) {
		h.Errorf("posted was %+v, want %+v", *all[2].Post, want)
	}
}

func withoutMail(h *harness) {
	h.answers("hello")
	if all := h.floor.raised(endpoint.SignalAck); len(all) > 0 {
		h.Errorf("without mail it acknowledges %+v", all)
	}
}

// refused checks that the agent is told why the room refuses what it raises.
func refused(kind string) func(*harness) {
	return func(h *harness) {
		h.floor.refuse = kind
		r, err := h.Speak(h.Context(), h.mailed("hello"), h.floor)
		if err != nil || r.Outcome != endpoint.Passed || !strings.Contains(r.Reason, "not in this room") {
			h.Errorf("%+v and %v, want a pass because of the refusal", r, err)
		}
	}
}

func handOff(h *harness) {
	r, err := h.say("hello")
	if err != nil || r.Text != Answer("hello") || r.Handoff == nil || *r.Handoff != (endpoint.Handoff{To: "dba", Reason: "hers"}) {
		h.Errorf("%+v (%+v) and %v", r, r.Handoff, err)
	}
}

func call(h *harness) {
	h.answers("hello")
	all := h.floor.raised(endpoint.SignalCall)
	var q struct {
		Agent string `json:"agent_name"`
		Task  string
		Calls []struct {
			Agent string `json:"agent_name"`
			Task  string
		}
	}
	if len(all) != 1 || json.Unmarshal(all[0].Body, &q) != nil {
		h.Fatalf("raised was %+v", all)
	}
	if len(q.Calls) == 1 {
		q.Agent, q.Task = q.Calls[0].Agent, q.Calls[0].Task
	}
	if q.Agent != "dba" || q.Task != "check" {
		h.Errorf("called was %s", all[0].Body)
	}
}

// abilities are the columns of the table of docs/agents.md that says which kinds of
// agents can do what, and the scenarios of the suite that show it.
var abilities = []struct {
	column   string
	scenario Scenario
}{{"inbox, post, acknowledge, claim", Messages}, {"call", Calls}, {"hand off", HandsOff}, {"bid", Bids}}

// Documented compares the row of a kind of agents in the table of docs/agents.md with
// what its agents can do in the suite. A cell that is "no", or that names tools, says
// that the endpoint itself cannot. page is the path of docs/agents.md.
func Documented(t *testing.T, page, kind string, open Opener) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var header, row []string
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) > 1 && cells[1] == abilities[0].column:
			header = cells
		case header != nil && row == nil && strings.Contains(cells[0], "`"+kind+"`"):
			row = cells
		}
	}
	if len(row) != len(abilities)+1 || len(header) != len(row) {
		t.Fatalf("docs/agents.md has no row of %s: %q", kind, row)
	}
	for i, a := range abilities {
		e := open(t, a.scenario)
		if e != nil {
			t.Cleanup(func() { e.Close() })
		}
		cell := row[i+1]
		if can := cell != "no" && !strings.Contains(cell, "tools of moot"); header[i+1] != a.column || can != (e != nil) {
			t.Errorf("docs/agents.md says of %s, %s: %q; the endpoint can: %t", kind, header[i+1], cell, e != nil)
		}
	}
}
