package ndjson

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
	"github.com/folkmoot/moot/endpoints/subprocess"
)

var update = flag.Bool("update", false, "rewrite the traces of testdata/*.txtar")

// TestWire runs the scripts of testdata against a wire, over pipes in memory and
// in virtual time, and compares the results with their traces. A script has one
// command on each line:
//
//	ask ID [bid] [KEY=VALUE ...]  start a request; keys are limit, timeout, tools
//	agent TEXT                    the agent writes TEXT and a newline
//	raw "GO STRING"               the agent writes exactly that
//	wait DURATION                 time passes
//	cancel ID                     the request's context is cancelled
//	eof                           the agent closes its output
//	frames                        print requests whole from here on
//
// The section "prompt", JSON, changes the prompt of all requests, which is then
// rendered.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			synctest.Test(t, func(t *testing.T) { got = runScript(t, section(a, "prompt"), section(a, "script")) })
			if *update {
				setSection(a, "trace", got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := section(a, "trace"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func setSection(a *txtar.Archive, name, data string) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(data)
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(data)})
}

// A wireTest is a wire and the two ends of its agent.
type wireTest struct {
	t       *testing.T
	wire    *wire
	prompt  string
	in, out net.Conn // of the agent
	cancels map[string]context.CancelFunc
	wg      sync.WaitGroup

	mu    sync.Mutex
	trace strings.Builder
	now   [3][]string // results of the current command, by kind
	whole bool        // print requests whole
}

// Kinds of trace lines. Lines of one instant have no order, so the trace lists
// them by kind.
const (
	requests = iota
	signals
	results
)

func runScript(t *testing.T, prompt, script string) string {
	ours, in := net.Pipe()
	out, theirs := net.Pipe()
	s := &wireTest{t: t, prompt: prompt, in: in, out: out, cancels: map[string]context.CancelFunc{}}
	q := inflight.NewQueue(func() endpoint.Floor { return s })
	s.wire = newWire(ours, 512, 3, q)
	s.wg.Go(s.readRequests)
	s.wg.Go(func() {
		_ = s.wire.Read(theirs)
		s.wire.End(codedError("AGENT-EXITED", "the agent has ended", "", endpoint.ErrExited))
	})
	for l := range strings.Lines(script) {
		l = strings.TrimRight(l, "\n")
		if l == "" || l[0] == '#' {
			continue
		}
		s.trace.WriteString(l + "\n")
		word, arg, _ := strings.Cut(l, " ")
		s.do(word, arg)
		synctest.Wait()
		s.flush()
	}
	out.Close()
	synctest.Wait()
	ours.Close()
	in.Close()
	s.wg.Wait()
	q.Close(true)
	s.flush()
	return s.trace.String()
}

func (s *wireTest) do(word, arg string) {
	s.t.Helper()
	switch word {
	case "ask":
		s.ask(arg)
	case "agent":
		s.write(arg + "\n")
	case "raw":
		text, err := strconv.Unquote(arg)
		if err != nil {
			s.t.Fatalf("%s: %v", arg, err)
		}
		s.write(text)
	case "wait":
		d, err := time.ParseDuration(arg)
		if err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(d) // virtual
	case "cancel":
		s.cancels[arg]()
	case "eof":
		s.out.Close()
	case "frames":
		s.mu.Lock()
		s.whole = true
		s.mu.Unlock()
	default:
		s.t.Fatalf("unknown command %s", word)
	}
}

func (s *wireTest) write(text string) {
	if _, err := s.out.Write([]byte(text)); err != nil {
		s.t.Errorf("the agent cannot write: %v", err)
	}
}

func (s *wireTest) ask(arg string) {
	words := strings.Fields(arg)
	p := endpoint.Prompt{Kind: endpoint.Turn, Request: words[0], MaxOutputChars: 100}
	if s.prompt != "" {
		if err := json.Unmarshal([]byte(s.prompt), &p); err != nil {
			s.t.Fatal(err)
		}
		p.Request = words[0]
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		n, err := strconv.Atoi(value)
		switch key {
		case "bid":
			p.Kind, err = endpoint.Bid, nil
		case "limit":
			p.MaxOutputChars = n
		case "tools":
			p.AllowToolUse, p.MaxToolRounds = true, n
		case "timeout":
			p.Timeout, err = time.ParseDuration(value)
			ctx, cancel = endpoint.WithClock(s.t.Context(), p.Timeout)
		}
		if err != nil {
			s.t.Fatalf("%s: %v", w, err)
		}
	}
	s.cancels[p.Request] = cancel
	s.wg.Go(func() {
		defer cancel()
		r, left, err := s.wire.ask(ctx, endpoint.Rendered(p))
		if left != nil {
			err = subprocess.ContextError(ctx)
		}
		s.result(p, r, err)
	})
}

func (s *wireTest) result(p endpoint.Prompt, r endpoint.Reply, err error) {
	if err != nil {
		s.note(results, "%s failed: %v", p.Request, err)
		return
	}
	line := fmt.Sprintf("%s %s %q", p.Request, r.Outcome, r.Text)
	if r.Reason != "" {
		line += fmt.Sprintf(" reason %q", r.Reason)
	}
	if r.Usage.Known {
		line += fmt.Sprintf(" usage %d+%d", r.Usage.Input, r.Usage.Output)
	}
	if r.Tools != nil {
		line += fmt.Sprintf(" tools %+v", r.Tools)
	}
	if u := r.Usage; u.CachedInput > 0 || u.Reasoning > 0 {
		line += fmt.Sprintf(" cached %d reasoning %d", u.CachedInput, u.Reasoning)
	}
	if r.Usage.CostKnown {
		line += fmt.Sprintf(" cost %d", r.Usage.Cost)
	}
	if r.Confidence != nil {
		line += fmt.Sprintf(" confidence %v", *r.Confidence)
	}
	if r.Handoff != nil {
		line += fmt.Sprintf(" hands off to %q %q", r.Handoff.To, r.Handoff.Reason)
	}
	if r.Bid != nil {
		line += fmt.Sprintf(" bid %v", *r.Bid)
	}
	s.note(results, "%s", line)
}

// readRequests prints the requests that the agent gets.
func (s *wireTest) readRequests() {
	dec := json.NewDecoder(s.in)
	for {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return
		}
		var head struct {
			Type      string
			RequestID string `json:"request_id"`
		}
		if err := json.Unmarshal(raw, &head); err != nil {
			s.t.Error(err)
		}
		s.mu.Lock()
		whole := s.whole || head.RequestID == ""
		s.mu.Unlock()
		if whole {
			s.note(requests, "-> %s", raw)
		} else {
			s.note(requests, "-> %s %s", head.Type, head.RequestID)
		}
	}
}

// Raise prints a signal and allows it, but for a decision. A permission to fetch waits a minute, one to
// delete waits for ever, and one to edit is refused.
func (s *wireTest) Raise(ctx context.Context, sig endpoint.Signal) (endpoint.Answer, error) {
	if p := sig.Permission; p != nil {
		s.note(signals, "permission %+v", *p)
		switch p.Kind {
		case endpoint.ActionFetch:
			time.Sleep(time.Minute)
		case endpoint.ActionEdit:
			return endpoint.Answer{Always: true, Reason: "not now"}, nil
		case endpoint.ActionDelete:
			<-ctx.Done()
			return endpoint.Answer{}, ctx.Err()
		}
		return endpoint.Answer{Allowed: true, Always: p.Always}, nil
	}
	if sig.Post != nil {
		b, _ := json.Marshal(sig.Post)
		s.note(signals, "post %s", b)
		if sig.Post.Kind == "decision" {
			return endpoint.Answer{Reason: "only a manager decides"}, nil
		}
		return endpoint.Answer{Allowed: true}, nil
	}
	switch sig.Kind {
	case endpoint.SignalAck:
		s.note(signals, "ack of %q", sig.Of)
		a := endpoint.Answer{Allowed: true, Reasons: make([]string, len(sig.Of))}
		for i, id := range sig.Of {
			if strings.HasPrefix(id, "x") {
				a.Allowed, a.Reason, a.Reasons[i] = false, "no message "+id, "no message "+id
			}
		}
		return a, nil
	case endpoint.SignalClaim:
		s.note(signals, "claim of %q", sig.Code)
		return endpoint.Answer{Allowed: sig.Code != "t2", Reason: map[string]string{"t2": "it is dba's"}[sig.Code]}, nil
	case endpoint.SignalCall:
		return s.call(ctx, sig)
	}
	s.note(signals, "%s code %q to %q: %q", sig.Kind, sig.Code, sig.To, sig.Detail)
	return endpoint.Answer{Allowed: true}, nil
}

// call prints a call and allows it, but for one of eve. One of ann waits for ever.
func (s *wireTest) call(ctx context.Context, sig endpoint.Signal) (endpoint.Answer, error) {
	s.note(signals, "call %s", sig.Body)
	var q struct {
		Agent string `json:"agent_name"`
	}
	_ = json.Unmarshal(sig.Body, &q) // what is no text is no name
	switch q.Agent {
	case "eve":
		return endpoint.Answer{Reason: "no participant eve"}, nil
	case "ann":
		<-ctx.Done()
		return endpoint.Answer{}, ctx.Err()
	}
	return endpoint.Answer{Allowed: true, Body: []byte(`{"result":"done"}`)}, nil
}

// Show is not used by this endpoint.
func (s *wireTest) Show(delta string) { s.t.Errorf("live text %q", delta) }

// ShowTool is not used by this endpoint.
func (s *wireTest) ShowTool(c endpoint.ToolCall) { s.t.Errorf("live tool call %+v", c) }

func (s *wireTest) note(kind int, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now[kind] = append(s.now[kind], fmt.Sprintf(format, args...))
}

func (s *wireTest) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for kind, lines := range s.now {
		for _, l := range lines {
			s.trace.WriteString("\t" + l + "\n")
		}
		s.now[kind] = nil
	}
}
