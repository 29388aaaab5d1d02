package callcontext_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/callcontext"
)

// randomMessage makes a message of one of five participants.
func randomMessage(rng *rand.Rand) room.Message {
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	return room.Message{
		From: one("dba", "coder", "ann", "x", "host", "room"), To: one(room.Broadcast, room.Broadcast, "dba", "coder", "ann", "x"),
		Kind: one("utterance", "request", "tool_intent", "tool_result", "decision"), Visibility: room.Visibility(one("", "user_visible", "user_redacted", "internal")),
		Text:    strings.Repeat(one("word ", "Größe\n", "\x1b[31m", "x", "| ", "\u2028"), rng.IntN(60)),
		Summary: one("", "short", "a\nb"),
	}
}

func randomFilter(rng *rand.Rand) (f endpoint.ContextFilter) {
	if n := rng.IntN(12); n < 8 {
		f.LastMessages = &n
	}
	if s := rng.Int64N(2000); s < 1000 {
		f.MaxAgeSeconds = &s
	}
	for _, role := range []string{"user", "assistant", "tool", "system"} {
		if rng.IntN(3) == 0 {
			f.Roles = append(f.Roles, role)
		}
	}
	if rng.IntN(4) == 0 {
		f.Keywords = []string{"WORD", "größe"}[:1+rng.IntN(2)]
	}
	f.IncludeSummary, f.IncludeWorkspace = rng.IntN(2) == 0, rng.IntN(2) == 0
	return f
}

// readable says in another way than the package what both the caller and the called
// agent may read of a message.
func readable(m room.Message) (text string, ok bool) {
	parties := 0
	for _, id := range []string{"dba", "coder"} {
		if m.From == id || m.To == id {
			parties++
		}
	}
	switch {
	case m.Visibility == room.Internal && m.To != room.Broadcast && parties < 2:
		return "", false
	case m.Visibility == room.UserRedacted && parties < 2 || m.Text == "":
		return endpoint.Clean(m.Summary), true
	}
	return endpoint.Clean(m.Text), true
}

// TestProperties builds contexts of random rooms. Whatever the filter: the rendered
// context is within the budget, its messages are in the order of the log, each is
// readable by the caller and by the called agent and has a role that was asked for,
// and every message is given or counted.
func TestProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 7))
	for i := range 20_000 {
		var messages []room.Message
		for range rng.IntN(14) {
			messages = append(messages, randomMessage(rng))
		}
		all := events(messages...)
		in := callcontext.Input{
			Filter: randomFilter(rng), MaxTokens: 1 + rng.IntN(600), Caller: "dba", Called: "coder", Person: func(id string) bool { return id == "ann" },
			Now: now, Workspace: strings.Repeat("  file\n", rng.IntN(100)), Events: newest(all),
		}
		r, err := callcontext.Build(in)
		if err != nil {
			t.Fatal(err)
		}
		if why := broken(in, r, messages); why != "" {
			t.Fatalf("room %d: %s\nfilter %+v, budget %d\nmessages %+v\nresult %+v", i, why, in.Filter, in.MaxTokens, messages, r)
		}
	}
}

// broken returns which property does not hold, "" for none.
func broken(in callcontext.Input, r callcontext.Result, messages []room.Message) string {
	rendered := len(endpoint.Rendered(endpoint.Prompt{Boundary: strings.Repeat("q", 24), Call: &endpoint.Call{Context: r.CallContext}}).Text) -
		len(endpoint.Rendered(endpoint.Prompt{Boundary: strings.Repeat("q", 24), Call: &endpoint.Call{}}).Text)
	if rendered > 4*in.MaxTokens || r.Tokens > in.MaxTokens || r.Tokens < callcontext.Tokens(rendered) {
		return fmt.Sprintf("%d bytes and %d tokens", rendered, r.Tokens)
	}
	roles := in.Filter.Roles
	if roles == nil {
		roles = []string{"user", "assistant"}
	}
	seq := int64(0)
	for _, l := range r.Lines {
		text, ok := readable(messages[l.Seq-1])
		switch {
		case l.Seq <= seq:
			return "the order is wrong"
		case !ok:
			return "a message is not for both"
		case l.Text != text && !(r.LeftOut.Cut && len(r.Lines) == 1 && strings.HasPrefix(text, strings.TrimSuffix(l.Text, "…"))):
			return fmt.Sprintf("the text is %q, not %q", l.Text, text)
		case !slices.Contains(roles, l.Role) || (l.Role == "tool") != strings.HasPrefix(l.Kind, "tool_"):
			return "a role was not asked for"
		}
		seq = l.Seq
	}
	if n := in.Filter.LastMessages; n != nil && len(r.Lines) > *n {
		return "there are more messages than asked for"
	}
	if s := in.Filter.MaxAgeSeconds; s != nil && len(r.Lines) > 0 {
		if age := time.Duration(int64(len(messages))-r.Lines[0].Seq) * time.Minute; age >= time.Duration(*s)*time.Second {
			return "a message is too old"
		}
	}
	counted := len(r.Lines) + r.LeftOut.Private + r.LeftOut.Age + r.LeftOut.Role + r.LeftOut.Keyword + r.LeftOut.Last + r.LeftOut.Budget
	for _, m := range messages {
		if text, ok := readable(m); ok && text == "" {
			counted++ // messages without a text are not
		}
	}
	if counted != len(messages) {
		return fmt.Sprintf("%d messages are given or counted, of %d", counted, len(messages))
	}
	return ""
}

// FuzzBuild: whatever the texts are, the rendered context is within the budget.
func FuzzBuild(f *testing.F) {
	f.Add("hello", "x\n\n", "ann", 100)
	f.Add("\xff\xfe", "\x00", "a\"b\n", 30)
	f.Add(strings.Repeat("\n", 200), "é", "", 60)
	f.Add("000000000", "\x10", "00\xa90", 39) // a sender that is no text
	f.Fuzz(func(t *testing.T, text, folder, from string, tokens int) {
		if tokens < 1 || tokens > 10_000 {
			return
		}
		last := 1
		in := callcontext.Input{
			Filter: endpoint.ContextFilter{LastMessages: &last, IncludeSummary: true, IncludeWorkspace: true}, MaxTokens: tokens, Caller: "dba", Called: "coder", Now: now, Workspace: folder,
			Events: newest(events(said(from, text), said(from, text), said("ann", folder))),
		}
		r, err := callcontext.Build(in)
		if err != nil {
			t.Fatal(err)
		}
		with := endpoint.Rendered(endpoint.Prompt{Boundary: strings.Repeat("q", 32), Call: &endpoint.Call{Context: r.CallContext}}).Text
		without := endpoint.Rendered(endpoint.Prompt{Boundary: strings.Repeat("q", 32), Call: &endpoint.Call{}}).Text
		if n := len(with) - len(without); n > 4*tokens || callcontext.Tokens(n) > r.Tokens {
			t.Errorf("%d bytes for %d tokens, of which %d are counted", n, tokens, r.Tokens)
		}
	})
}
