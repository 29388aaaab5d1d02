package ndjson

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
	"github.com/folkmoot/moot/endpoints/scripted"
	"github.com/folkmoot/moot/internal/spawn"
)

// A judge is a floor that refuses the message "x", and records the signals.
type judge struct{ got chan endpoint.Signal }

func (j judge) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	j.got <- s
	switch {
	case s.Post != nil && s.Post.ID == "x":
		return endpoint.Answer{Reason: "no manager"}, nil
	case s.Kind == endpoint.SignalAck:
		return endpoint.Answer{Allowed: true, Reasons: make([]string, len(s.Of))}, nil
	case s.Kind == endpoint.SignalCall:
		return endpoint.Answer{Allowed: true, Body: []byte(`{"state":"completed"}`)}, nil
	}
	return endpoint.Answer{Allowed: true}, nil
}

func (judge) Show(string) {}

func (judge) ShowTool(endpoint.ToolCall) {}

// TestServeMessages connects a wire with the agent's side, which follows a script. All
// that a step does arrives before its answer, and a refusal reaches the agent.
func TestServeMessages(t *testing.T) {
	steps, err := scripted.Parse("script", []byte(`{"say":"Done.","ack":["*"],"claim":"t1","messages":[{"to":"dba","text":"psst"}],"post":[{"message_id":"m1","to":"dba","kind":"blocker","text":"It is held."}],"call":[{"agent_name":"dba","task":"Check it."}],"handoff":{"to":"dba","reason":"hers"}}
{"say":"not said","post":[{"message_id":"x","to":"dba","kind":"decision","text":"Do it."}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	agentIn, out := io.Pipe()
	in, agentOut := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Serve(t.Context(), agentIn, agentOut, scripted.New(steps...))
		agentOut.Close()
	}()
	floor := judge{make(chan endpoint.Signal, 20)}
	q := inflight.NewQueue(func() endpoint.Floor { return floor })
	w := newWire(out, defaultMaxLine, 0, q)
	read := make(chan error, 1)
	go func() { read <- w.Read(in) }()
	ask := func(request string) endpoint.Reply {
		mail := []endpoint.Mail{{From: "dba", Post: endpoint.Post{ID: "b1", RequiresAck: true}}, {From: "dba", Post: endpoint.Post{ID: "b2"}}}
		r, _, err := w.ask(t.Context(), endpoint.Prompt{Kind: endpoint.Turn, Request: request, Mail: mail})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := ask("r1"); r.Text != "Done." || r.Handoff == nil || r.Handoff.To != "dba" {
		t.Errorf("got %+v", r)
	}
	var kinds []string
	for range len(floor.got) {
		s := <-floor.got
		kinds = append(kinds, s.Kind+" "+strings.Join(s.Of, ",")+s.Code+s.Detail+string(s.Body))
	}
	want := `ack b1|claim t1|message psst{"text":"psst","to":"dba","type":"desktop.message"}|message It is held.|call {"call_id":"call1","calls":[{"agent_name":"dba","task":"Check it."}],"type":"desktop.call"}`
	if got := strings.Join(kinds, "|"); got != want {
		t.Errorf("raised before the answer:\n%s, want\n%s", got, want)
	}
	if r := ask("r2"); r.Outcome != endpoint.Passed || !strings.Contains(r.Reason, "no manager") {
		t.Errorf("refused: %+v", r)
	}
	out.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := <-read; err != io.EOF {
		t.Error(err)
	}
	w.End(endpoint.ErrExited)
	q.Close(true)
}

// TestServeAnswers checks that the agent's side refuses answers that are none.
func TestServeAnswers(t *testing.T) {
	for _, answer := range []string{"", "x", `{"type":"desktop.local_prompt.request","request_id":"q2"}`, `{"type":"desktop.ack.response"}`} {
		f := &frameFloor{in: newLines(answer + "\n"), out: io.Discard}
		if a, err := f.Raise(t.Context(), endpoint.Signal{Kind: endpoint.SignalClaim, Code: "t1"}); err == nil {
			t.Errorf("%q is taken as %+v", answer, a)
		}
	}
	f := &frameFloor{in: newLines(`{"type":"desktop.ack.response","acks":[{"message_id":"a","allowed":true},{"message_id":"b","allowed":false,"reason":"none"}]}` + "\n"), out: &bytes.Buffer{}}
	a, err := f.Raise(t.Context(), endpoint.Signal{Kind: endpoint.SignalAck, Of: []string{"a", "b"}})
	if err != nil || a.Allowed || a.Reason != "none" || len(a.Reasons) != 2 || a.Reasons[0] != "" {
		t.Errorf("got %+v and %v", a, err)
	}
}

func newLines(text string) *spawn.Lines {
	return spawn.NewLines(strings.NewReader(text), defaultMaxLine)
}
