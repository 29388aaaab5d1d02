package openai_test

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/openai"
	"github.com/folkmoot/moot/problem"
)

// TestRequest checks what a server gets: the owner's instructions and the bytes of
// the prompt.
func TestRequest(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ call) { say(w, "Yes.") })
	zero, half := 0.0, 0.5
	for model, want := range map[string]call{"m": {MaxTokens: 300, Temperature: 0.5}, "m0": {MaxTokens: 300}, "o3-mini": {MaxCompletionTokens: 300}} {
		cfg := openai.Config{BaseURL: s.URL + "/v1/", Model: model, APIKey: key, MaxOutputTokens: 300}
		cfg.Temperature = map[string]*float64{"m": &half, "m0": &zero}[model]
		p, f := prompt("Is <b>it</b> \"there\" 🙂?"), &floor{}
		r, err := openai.New(cfg).Speak(t.Context(), p, f)
		if err != nil || r.Outcome != endpoint.Said || r.Text != "Yes." || r.Reason != "" || r.Usage.Known || f.shown.String() != "Yes." {
			t.Fatalf("got %+v, %v, and %q is shown", r, err, &f.shown)
		}
		c := s.asked()[len(s.asked())-1]
		if c.Model != model || !c.Stream || !c.Options.Usage || c.auth != "Bearer "+key || c.MaxTokens != want.MaxTokens || c.MaxCompletionTokens != want.MaxCompletionTokens || math.Abs(c.Temperature-want.Temperature) > 1e-9 {
			t.Errorf("the server got %+v", c)
		}
		if m := c.Messages; len(m) != 2 || m[0].Role != "system" || m[0].Content != endpoint.PlainInstructions(p) || m[1].Role != "user" || m[1].Content != p.Text {
			t.Errorf("the messages are %+v", m)
		}
	}
}

// TestBids checks that a bid costs no call.
func TestBids(t *testing.T) {
	s := serve(t, hang)
	p := prompt("x")
	p.Kind = endpoint.Bid
	if r, err := s.open(t).Speak(t.Context(), p, nil); err != nil || r.Outcome != endpoint.Passed || r.Bid != nil || len(s.asked()) != 0 {
		t.Errorf("got %+v and %v", r, err)
	}
}

// TestAnswers checks what is said of an answer.
func TestAnswers(t *testing.T) {
	usage := `{"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":90},"completion_tokens_details":{"reasoning_tokens":12}}}`
	stated := endpoint.Usage{Known: true, Input: 120, Output: 30, CachedInput: 90, Reasoning: 12}
	said := func(text, reason string) endpoint.Reply {
		return endpoint.Reply{Outcome: endpoint.Said, Text: text, Reason: reason}
	}
	with := func(r endpoint.Reply, u endpoint.Usage) endpoint.Reply { r.Usage = u; return r }
	for name, c := range map[string]struct {
		events []string
		want   endpoint.Reply
	}{
		"usage":                     {[]string{delta("Yes."), stop, usage, done}, with(said("Yes.", ""), stated)},
		"usage in the last chunk":   {[]string{delta("Yes."), `{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`, done}, with(said("Yes.", ""), endpoint.Usage{Known: true, Input: 5, Output: 1})},
		"usage of nothing":          {[]string{delta("Yes."), stop, `{"choices":[],"usage":{"prompt_tokens":0}}`, done}, said("Yes.", "")},
		"reasoning on top":          {[]string{delta("Yes."), stop, `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":16,"completion_tokens_details":{"reasoning_tokens":10}}}`}, with(said("Yes.", ""), endpoint.Usage{Known: true, Input: 5, Output: 11, Reasoning: 10})},
		"more cached than read":     {[]string{delta("Yes."), stop, `{"choices":[],"usage":{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":9}}}`}, with(said("Yes.", ""), endpoint.Usage{Known: true, Input: 5, CachedInput: 5})},
		"no [DONE]":                 {[]string{delta("Yes."), stop}, said("Yes.", "")},
		"pass":                      {[]string{delta("PA"), delta("SS\n"), stop, done}, endpoint.Reply{Outcome: endpoint.Passed}},
		"length":                    {[]string{delta("Yes, but"), finish("length"), done}, endpoint.Reply{Outcome: endpoint.Said, Text: "Yes, but", Reason: "cut: the model reached its limit of tokens", Cut: true}},
		"content filter":            {[]string{delta("Yes, but"), finish("content_filter"), usage, done}, with(endpoint.Reply{Outcome: endpoint.Refused, Reason: "the server's content filter ended the answer"}, stated)},
		"refusal":                   {[]string{`{"choices":[{"delta":{"refusal":"I can't "}}]}`, `{"choices":[{"delta":{"refusal":"help."}}]}`, stop}, endpoint.Reply{Outcome: endpoint.Refused, Reason: "I can't help."}},
		"text with a tool":          {[]string{delta("Yes."), `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"x"}}]}}]}`, finish("tool_calls")}, said("Yes.", "")},
		"reasoning apart":           {[]string{`{"choices":[{"delta":{"reasoning_content":"Hm.","reasoning":"Hm."}}]}`, delta("Yes."), stop}, said("Yes.", "")},
		"thoughts":                  {[]string{delta("<th"), delta("ink>Hm.</thi"), delta("nk>\n\nYes."), stop}, said("Yes.", "")},
		"thoughts twice":            {[]string{delta("\n<think>\n</think>\n<think>Hm.</think>Yes. <think>No."), stop}, said("Yes. <think>No.", "")},
		"nearly thoughts":           {[]string{delta("<thi"), stop}, said("<thi", "")},
		"another choice":            {[]string{`{"choices":[{"index":1,"delta":{"content":"No."}}]}`, delta("Yes."), stop}, said("Yes.", "")},
		"a key in the answer":       {[]string{delta("It is " + key[:9]), delta(key[9:] + "."), stop}, said("It is [key].", "")},
		"white space around it all": {[]string{delta(" \n Yes. \n"), stop}, said("Yes.", "")},
	} {
		t.Run(name, func(t *testing.T) {
			f := &floor{}
			r, err := serve(t, func(w http.ResponseWriter, _ *http.Request, _ call) { stream(w, c.events...) }).open(t).Speak(t.Context(), prompt("x"), f)
			if err != nil || !reflect.DeepEqual(r, c.want) {
				t.Errorf("got %+v and %v, want %+v", r, err, c.want)
			}
			if strings.Contains(f.shown.String(), "Hm.") {
				t.Errorf("a thought is shown: %q", &f.shown)
			}
		})
	}
}

// TestStart checks the proof that a server has the model.
func TestStart(t *testing.T) {
	for name, c := range map[string]struct {
		model  string
		status int
		body   string
		want   string // of the error; "" is none
	}{
		"listed":          {"m", 200, `{"data":[{"id":"x"},{"id":"m"}]}`, ""},
		"latest":          {"m", 200, `{"data":[{"id":"m:latest"}]}`, ""},
		"more fields":     {"m", 200, `{"object":"list","data":[{"id":"m","created":1.5,"permission":{}}],"x":1}`, ""},
		"no models":       {"m", 200, `{"data":[]}`, ""},
		"no list":         {"m", 404, `404 page not found`, ""},
		"not allowed":     {"m", 405, ``, ""},
		"another":         {"m2", 200, `{"data":[{"id":"x"},{"id":"m"}]}`, `has no model "m2": it does not list it; it has x, m [AGENT-SERVER] write one that it has; ` + "`ollama pull`"},
		"too many":        {"m2", 200, `{"data":[` + strings.Repeat(`{"id":"x"},`, 500) + `{"id":"m"}]}`, `x, and 491 more [AGENT-SERVER]`},
		"a page":          {"m", 200, `<html>`, "broke the protocol: its list of models cannot be read"},
		"an endless list": {"m", 200, `{"data":[` + strings.Repeat(" ", 9<<20), "is too large"},
		"no key":          {"m", 401, `{"error":{"message":"Incorrect API key provided: ` + key + `."}}`, `answers with status 401: Incorrect API key provided: [key]. [AGENT-SERVER] write apiKey: "${OPENAI_API_KEY}"`},
		"forbidden":       {"m", 403, ``, "answers with status 403"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, hang)
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer "+key {
					t.Errorf("the key is %q", r.Header.Get("Authorization"))
				}
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			})
			e := openai.New(openai.Config{BaseURL: s.URL + "/v1", Model: c.model, APIKey: key})
			defer e.Close()
			check(t, e.Start(t.Context(), nil), c.want)
		})
	}
}

// check compares an error, with its fix, with a part of it; "" wants none.
func check(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("got %v", err)
		}
		return
	}
	var pe *problem.Error
	if !errors.As(err, &pe) || pe.Fix == "" || !strings.Contains(err.Error()+" "+pe.Fix, want) {
		t.Errorf("got %v, want %s", err, want)
	} else if text := err.Error() + pe.Fix; strings.Contains(text, key) || len(text) > 1500 || endpoint.Clean(text) != text {
		t.Errorf("the error has the key, or is not bounded and clean: %q", text)
	}
}
