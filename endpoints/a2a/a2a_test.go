package a2a_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/folkmoot/moot/endpoints/a2a"
	"github.com/folkmoot/moot/endpoints/endpoint"
)

// TestRequest checks what an agent gets: the instructions and the text of the
// prompt, the id of the request, and a context that is that of the room and the seat.
func TestRequest(t *testing.T) {
	s := serve(t, true, func(w *writer, _ call) { w.results(message("Yes.")) })
	e := s.open(t)
	p := prompt("hello")
	prompts := []func(*endpoint.Prompt){
		func(*endpoint.Prompt) {},
		func(p *endpoint.Prompt) { p.Request, p.Epoch, p.Turn = "req_2", 7, 9 },
		func(p *endpoint.Prompt) { p.Room = "r_2" },
		func(p *endpoint.Prompt) { p.You.ID = "other" },
		func(p *endpoint.Prompt) { p.Host.Device = "d" },
		func(p *endpoint.Prompt) { p.Profile = "p" },
	}
	contexts := map[string]int{}
	for _, change := range prompts {
		p := p
		change(&p)
		if _, err := e.Speak(t.Context(), p, nil); err != nil {
			t.Fatal(err)
		}
		all := s.asked("SendStreamingMessage")
		got := all[len(all)-1]
		m := got.Params.Message
		if got.auth != "Bearer "+token || got.version != "1.0" || m.MessageID != p.Request || m.TaskID != "" || m.Role != "ROLE_USER" || *got.Params.Configuration.HistoryLength != 0 ||
			len(m.Parts) != 1 || m.Parts[0].Text != endpoint.PlainInstructions(p)+"\n\n"+p.Text {
			t.Errorf("the agent got %+v", got)
		}
		if len(m.ContextID) != 32 || strings.Contains(m.ContextID, p.Room) {
			t.Errorf("the context is %q", m.ContextID)
		}
		contexts[m.ContextID]++
	}
	if len(contexts) != len(prompts)-1 {
		t.Errorf("%d rooms and seats have the contexts %v", len(prompts)-1, contexts)
	}
}

// TestBids checks that a bid costs no call.
func TestBids(t *testing.T) {
	s := serve(t, true, func(w *writer, _ call) { w.hang() })
	p := prompt("x")
	p.Kind = endpoint.Bid
	if r, err := s.open(t).Speak(t.Context(), p, nil); err != nil || r.Outcome != endpoint.Passed || r.Bid != nil || len(s.calls) != 0 {
		t.Errorf("got %+v and %v", r, err)
	}
}

// TestAnswers checks what is said of an answer, and what watchers see of it.
func TestAnswers(t *testing.T) {
	said := func(text, reason string) endpoint.Reply {
		return endpoint.Reply{Outcome: endpoint.Said, Text: text, Reason: reason}
	}
	parts := func(all string) string {
		return `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[` + all + `]}}`
	}
	for name, c := range map[string]struct {
		results []string
		want    endpoint.Reply
		shown   string
	}{
		"message":                {[]string{message("Yes.")}, said("Yes.", ""), "Yes."},
		"message after a task":   {[]string{task("WORKING", "", ""), message("Yes.")}, said("Yes.", ""), "Yes."},
		"pass":                   {[]string{message("PASS\n")}, endpoint.Reply{Outcome: endpoint.Passed}, "PASS\n"},
		"task":                   {[]string{task("COMPLETED", "", "Yes.")}, said("Yes.", ""), ""},
		"status alone":           {[]string{task("COMPLETED", "Yes.", "")}, said("Yes.", ""), ""},
		"artifact before status": {[]string{task("COMPLETED", "Done.", "Yes.")}, said("Yes.", ""), ""},
		"chunks":                 {[]string{task("SUBMITTED", "", ""), update("WORKING", "Reading."), chunk("a", "Y", false), chunk("a", "es.", true), update("COMPLETED", "")}, said("Yes.", ""), "Reading.\nYes."},
		"two artifacts":          {[]string{chunk("a", "One", false), chunk("b", "Two.", true), chunk("a", ".", true), update("COMPLETED", "")}, said("One.\n\nTwo.", ""), "OneTwo.."},
		"replaced":               {[]string{chunk("a", "No", false), chunk("a", "Yes.", false), update("COMPLETED", "")}, said("Yes.", ""), "NoYes."},
		"removed":                {[]string{chunk("a", "No", false), chunk("a", "", false), update("COMPLETED", "Yes.")}, said("Yes.", ""), "No"},
		"a whole task at last":   {[]string{chunk("a", "Ye", false), task("COMPLETED", "", "Yes.")}, said("Yes.", ""), "Ye"},
		"progress is not said":   {[]string{update("WORKING", "Reading."), update("COMPLETED", "Yes.")}, said("Yes.", ""), "Reading.\n"},
		"question":               {[]string{update("INPUT_REQUIRED", "Which?")}, said("Which?", "the agent asks for input"), ""},
		"question with a draft":  {[]string{task("INPUT_REQUIRED", "Is it good?", "A draft.")}, said("A draft.\n\nIs it good?", "the agent asks for input"), ""},
		"rejected":               {[]string{task("REJECTED", "not\nmine", "")}, endpoint.Reply{Outcome: endpoint.Refused, Reason: "not mine"}, ""},
		"rejected silently":      {[]string{update("REJECTED", "")}, endpoint.Reply{Outcome: endpoint.Refused, Reason: "the agent has rejected the task"}, ""},
		"several parts":          {[]string{parts(`{"text":"One."},{"text":"Two."}`)}, said("One.\n\nTwo.", ""), "One.\n\nTwo."},
		"other parts":            {[]string{parts(`{"raw":"eHg=","mediaType":"image/png"},{"text":"Yes."},{"data":{"x":1}},{"url":"https://x/y","filename":"y\u001b[31m"}`)}, said("Yes.", ""), "[left out: image/png]\n[left out: a part that is no text]\n[left out: y]\nYes."},
		"a token in the answer":  {[]string{message("It is " + token + ".")}, said("It is [token].", ""), "It is [token]."},
	} {
		t.Run(name, func(t *testing.T) {
			f := &floor{}
			s := serve(t, true, func(w *writer, _ call) { w.results(c.results...) })
			e := s.open(t)
			r, err := e.Speak(t.Context(), prompt("x"), f)
			if err != nil || !reflect.DeepEqual(r, c.want) || f.shown.String() != c.shown {
				t.Errorf("got %+v and %v, and shown is %q; want %+v and %q", r, err, &f.shown, c.want, c.shown)
			}
			e.Close()
			if n := len(s.asked("CancelTask")); n > 0 != (r.Reason == "the agent asks for input") {
				t.Errorf("%d tasks were canceled", n)
			}
		})
	}
}

// TestPolling checks an agent that does not stream and answers before its task has
// ended.
func TestPolling(t *testing.T) {
	var polls atomic.Int64
	s := serve(t, false, func(w *writer, c call) {
		switch {
		case c.Method == "SendMessage":
			w.results(task("WORKING", "Reading.", ""))
		case polls.Add(1) == 1:
			w.results(bare("WORKING", "Reading.", "Ye"))
		default:
			w.results(bare("COMPLETED", "", "Yes."))
		}
	})
	f := &floor{}
	r, err := s.open(t).Speak(t.Context(), prompt("x"), f)
	if err != nil || r.Text != "Yes." || f.shown.String() != "Reading.\n" {
		t.Errorf("got %+v and %v, and shown is %q", r, err, &f.shown)
	}
	if got := s.wait(t, "GetTask"); got.Params.ID != "t1" {
		t.Errorf("it asked for %+v", got)
	}
}

// TestCancel checks that a task is cancelled whenever its turn ends before it does.
func TestCancel(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(w *writer)
		want   error
	}{
		"by the room":   {func(w *writer) { w.results(task("WORKING", "working", "")); w.hang() }, context.Canceled},
		"too large":     {func(w *writer) { w.results(chunk("a", strings.Repeat("x", 1001), false)); w.hang() }, endpoint.ErrTooLarge},
		"cut":           {func(w *writer) { w.results(task("WORKING", "", "")) }, endpoint.ErrProtocol},
		"auth required": {func(w *writer) { w.results(task("AUTH_REQUIRED", "", "")) }, endpoint.ErrSignIn},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := serve(t, true, func(w *writer, got call) {
				if got.Method == "CancelTask" {
					w.results(bare("CANCELED", "", ""))
					return
				}
				c.answer(w)
			})
			if _, err := s.open(t).Speak(ctx, prompt("x"), cancelling{cancel}); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if got := s.wait(t, "CancelTask"); got.Params.ID != "t1" || got.auth != "Bearer "+token {
				t.Errorf("it canceled %+v", got)
			}
		})
	}
}

// A cancelling floor cancels the turn once its agent works.
type cancelling struct{ cancel func() }

func (cancelling) Raise(context.Context, endpoint.Signal) (endpoint.Answer, error) {
	return endpoint.Answer{}, nil
}

func (c cancelling) Show(text string) {
	if strings.Contains(text, "working") {
		c.cancel()
	}
}

func (cancelling) ShowTool(endpoint.ToolCall) {}

// TestCancelHangs checks that an agent which does not answer the end of a task holds
// up neither the turn nor, for long, Close.
func TestCancelHangs(t *testing.T) {
	s := serve(t, true, func(w *writer, c call) {
		if c.Method == "SendStreamingMessage" {
			w.results(task("WORKING", "working", ""))
		}
		w.hang()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := s.open(t)
	if _, err := e.Speak(ctx, prompt("x"), cancelling{cancel}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s.wait(t, "CancelTask")
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestQuestion checks that the next turn of the same room continues a task that waits
// for input, and that no other turn does.
func TestQuestion(t *testing.T) {
	s := serve(t, true, func(w *writer, c call) {
		if c.Method == "CancelTask" {
			w.results(bare("CANCELED", "", ""))
			return
		}
		w.results(update("INPUT_REQUIRED", "Which?"))
	})
	e := s.open(t)
	other := prompt("x")
	other.Room = "r_2"
	for i, p := range []endpoint.Prompt{prompt("x"), prompt("x"), other, prompt("x")} {
		if _, err := e.Speak(t.Context(), p, nil); err != nil {
			t.Fatal(err)
		}
		if got := s.asked("SendStreamingMessage")[i].Params.Message.TaskID; got != map[bool]string{true: "t1"}[i == 1] {
			t.Errorf("turn %d continues %q", i, got)
		}
	}
}

// TestStart checks that a start reads the agent card again.
func TestStart(t *testing.T) {
	s := serve(t, false, func(w *writer, _ call) { w.results(message("Yes.")) })
	e := s.open(t)
	for _, want := range []string{"SendMessage", "SendStreamingMessage"} {
		if err := e.Start(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Speak(t.Context(), prompt("x"), nil); err != nil || len(s.asked(want)) != 1 {
			t.Errorf("no %s, and %v", want, err)
		}
		s.card = cardOf(s.URL+"/rpc", true)
	}
	s.card = fmt.Sprintf(`{"supportedInterfaces":[{"protocolBinding":"GRPC","url":"x"},{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.3"}]}`, strings.ToUpper(s.URL)+"/rpc")
	if err := e.Start(t.Context(), nil); err != nil {
		t.Error(err)
	}
	e.Close()
	if err := e.Start(t.Context(), nil); !errors.Is(err, endpoint.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestWeakToken checks that a word that a server was given as its token stays in
// texts.
func TestWeakToken(t *testing.T) {
	s := serve(t, true, func(w *writer, _ call) { w.results(message("An agent.")) })
	e := a2a.New(a2a.Config{URL: s.URL, Token: "agent"})
	defer e.Close()
	if r, err := e.Speak(t.Context(), prompt("x"), nil); err != nil || r.Text != "An agent." {
		t.Errorf("got %+v and %v", r, err)
	}
}
