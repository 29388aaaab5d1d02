package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/openai"
)

// errors of a turn by the name of their kind.
var kinds = map[string]error{"agent": endpoint.ErrAgent, "protocol": endpoint.ErrProtocol, "large": endpoint.ErrTooLarge}

// status answers with a status.
func status(code int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { w.WriteHeader(code); fmt.Fprint(w, body) }
}

// events answers with events of a stream.
func events(all ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { stream(w, all...) }
}

// usage is an event that states usage.
const usage = `{"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":30}}`

// hostileServers are the answers of faulty servers, by name, with the kind of error of
// the turn and a part of its text.
var hostileServers = map[string]struct {
	answer     func(http.ResponseWriter)
	kind, want string
}{
	"endless line":   {func(w http.ResponseWriter) { stream(w); endless(w, "x") }, "large", "a line of more than 1048576 bytes"},
	"endless stream": {func(w http.ResponseWriter) { stream(w); endless(w, "data: "+delta("x")+"\n\n") }, "large", "1001 characters, and the limit is 1000"},
	"endless thoughts": {func(w http.ResponseWriter) {
		stream(w, delta("<think>"))
		endless(w, "data: "+delta(strings.Repeat("Hm. ", 9000))+"\n\n")
	}, "large", "more than it may send in one answer"},
	"endless null":           {func(w http.ResponseWriter) { stream(w); endless(w, "data: null\n"+strings.Repeat(" ", 9000)+"\n") }, "large", "more than it may send in one answer"},
	"cut":                    {func(w http.ResponseWriter) { stream(w, delta("Yes")); panic(http.ErrAbortHandler) }, "protocol", "the stream was cut before the end of the answer"},
	"cut before the first":   {func(w http.ResponseWriter) { stream(w); panic(http.ErrAbortHandler) }, "protocol", "the stream was cut before the end"},
	"ended without a reason": {events(delta("Yes"), done), "protocol", "the stream was cut before the end"},
	"ended at once":          {events(done), "protocol", "the stream was cut before the end"},
	"no body":                {func(http.ResponseWriter) {}, "protocol", "the stream was cut before the end"},
	"closes at once":         {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "agent", "cannot be reached: EOF; if it is Ollama, `ollama serve` starts it [AGENT-SERVER] start the server"},
	"invalid JSON":           {events(`{"choices":`), "protocol", "unexpected end of JSON input"},
	"another type":           {events(`{"choices":[{"delta":{"content":["x"]}}]}`), "protocol", "broke the protocol"},
	"huge numbers":           {events(`{"choices":[],"usage":{"prompt_tokens":99999999999999999999}}`), "protocol", "broke the protocol"},
	"absurd usage":           {events(delta("x"), stop, `{"choices":[],"usage":{"prompt_tokens":9999999999}}`), "protocol", "its usage is out of range"},
	"negative output":        {events(`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":-5,"total_tokens":9}}`), "protocol", "its usage is out of range"},
	"not a stream": {func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<p>"+key+"\x1b[31m")
	}, "protocol", "it answers with text/html and not with a stream of events: <p>[key] [AGENT-PROTOCOL] check that baseURL"},
	"a whole answer": {func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[]}`)
	}, "protocol", "it answers with application/json"},
	"error in the stream":     {events(delta("Yes"), `{"error":{"message":"out of memory at `+key+`"}}`, ""), "agent", "the model server reports an error: out of memory at [key]"},
	"error as the reason":     {events(delta("Yes"), finish("error")), "agent", "the server ended it with an error"},
	"empty":                   {events(stop, done), "agent", "the answer is empty; an agent with nothing to add answers PASS"},
	"invisible":               {events(delta("\u200b\x1b[31m"), stop, done), "agent", "the answer is empty"},
	"thoughts without an end": {events(delta("<think>Hm."), finish("length"), usage, done), "agent", "it reached its limit of tokens before it said anything [AGENT-ERROR] raise maxOutputTokens"},
	"a tool":                  {events(`{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}`, finish("tool_calls"), usage, done), "agent", "it called a tool and has none"},
	"bad request":             {status(400, `{"error":{"message":"too\u001b[31m long","code":"x"}}`), "agent", "answers with status 400: too long [AGENT-SERVER] correct what it names"},
	"another form of error":   {status(400, `{"error":"invalid model"}`), "agent", "answers with status 400: invalid model"},
	"huge error":              {status(422, strings.Repeat("x", 10<<20)), "agent", "answers with status 422: " + strings.Repeat("x", 500) + "…"},
	"endless error":           {func(w http.ResponseWriter) { w.WriteHeader(418); endless(w, "x") }, "agent", "answers with status 418: xxx"},
	"no key":                  {status(401, `{"error":{"message":"`+key+` is not valid"}}`), "agent", `status 401: [key] is not valid [AGENT-SERVER] write apiKey: "${OPENAI_API_KEY}"`},
	"a key in parts":          {status(401, `{"error":{"message":"`+key[:8]+"\u200b"+key[8:]+` is not valid"}}`), "agent", "status 401: [key] is not valid"},
	"no route":                {status(404, "404 page not found"), "agent", "status 404: 404 page not found [AGENT-SERVER] correct what it names; if the prompt is too long for the model, lower context.tokens, and baseURL often ends in /v1"},
	"wait for a year": {func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "31536000")
		status(429, `{"error":{"message":"quota"}}`)(w)
	}, "agent", "answers with status 429: quota [AGENT-SERVER] wait, raise the limit"},
	"redirect": {func(w http.ResponseWriter) {
		w.Header().Set("Location", "http://evil.example/"+key)
		status(307, "")(w)
	}, "agent", "redirects to http://evil.example, and a redirect is not followed"},
	"redirect to a password": {func(w http.ResponseWriter) {
		w.Header().Set("Location", "http://a:"+key+"@evil.example/")
		status(302, "")(w)
	}, "agent", "redirects to http://evil.example"},
	"redirect to nowhere": {status(301, ""), "agent", "answers with status 301: Moved Permanently"},
	"not modified":        {status(304, ""), "agent", "answers with status 304: Not Modified"},
}

// TestHostileServers checks that each fault of a server ends the turn with an error
// that says what to do, without the key, and that the next turn works.
func TestHostileServers(t *testing.T) {
	for name, c := range hostileServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := make(chan struct{}, 1)
			first <- struct{}{}
			e := serve(t, func(w http.ResponseWriter, _ *http.Request, _ call) {
				select {
				case <-first:
					c.answer(w)
				default:
					say(w, "Yes.")
				}
			}).open(t)
			f := &floor{}
			_, err := e.Speak(t.Context(), prompt("x"), f)
			check(t, err, c.want)
			if !errors.Is(err, kinds[c.kind]) {
				t.Errorf("got %v, which is not of the kind %s", err, c.kind)
			}
			if raised := len(f.raised) == 1 && f.raised[0].Kind == endpoint.SignalViolation && !strings.Contains(f.raised[0].Detail, key); raised != (c.kind != "agent") {
				t.Errorf("it raised %+v", f.raised)
			}
			if r, err := e.Speak(t.Context(), prompt("x"), f); err != nil || r.Text != "Yes." {
				t.Errorf("the next turn: %+v and %v", r, err)
			}
		})
	}
}

// endless writes a text until the client leaves.
func endless(w http.ResponseWriter, text string) {
	block := []byte(strings.Repeat(text, 1+1000/len(text)))
	for {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

// TestFailedUsage checks that a failed turn has the usage that the server stated.
func TestFailedUsage(t *testing.T) {
	e := serve(t, func(w http.ResponseWriter, _ *http.Request, _ call) {
		stream(w, stop, `{"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":30}}`, done)
	}).open(t)
	if r, err := e.Speak(t.Context(), prompt("x"), nil); err == nil || r.Usage != (endpoint.Usage{Known: true, Input: 120, Output: 30}) {
		t.Errorf("got %+v and %v", r, err)
	}
}

// TestNoModel checks that the error of a model that is missing names those that the
// server has.
func TestNoModel(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ call) {
		http.Error(w, `{"error":{"message":"model \"m2\" not found"}}`, http.StatusNotFound)
	})
	e := openai.New(openai.Config{BaseURL: s.URL + "/v1", Model: "m2", APIKey: key})
	_, err := e.Speak(t.Context(), prompt("x"), nil)
	check(t, err, `has no model "m2": it answers with status 404: model "m2" not found; it has m, llama3.2:latest [AGENT-SERVER] write one that it has; `+"`ollama pull` adds one to Ollama")
	if !errors.Is(err, endpoint.ErrAgent) {
		t.Errorf("got %v", err)
	}
}

// TestSecretURL checks that the errors of a URL with a password do not have it.
func TestSecretURL(t *testing.T) {
	for base, want := range map[string]string{
		"http://ann:" + key + "@127.0.0.1:1/v1?key=" + key: "the model server at http://127.0.0.1:1/v1 cannot be reached",
		"http://127.0.0.1:1/" + key + "\x7f":               "the model server at (not a URL) cannot be reached",
	} {
		_, err := openai.New(openai.Config{BaseURL: base, Model: "m"}).Speak(t.Context(), prompt("x"), nil)
		check(t, err, want)
		check(t, openai.New(openai.Config{BaseURL: base, Model: "m"}).Start(t.Context(), nil), want)
	}
}

// TestNoServer checks the errors of a server that does not run, or never answers.
func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/v1"
	e := openai.New(openai.Config{BaseURL: url, Model: "m", APIKey: key})
	silent := prompt("x")
	silent.Timeout = 20 * time.Millisecond
	if _, err = e.Speak(t.Context(), silent, nil); !errors.Is(err, endpoint.ErrTimeout) {
		t.Errorf("a server that never answers: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := e.Start(ctx, nil); !errors.Is(err, endpoint.ErrTimeout) {
		t.Errorf("a server that never answers at the start: %v", err)
	}
	l.Close()
	check(t, e.Start(t.Context(), nil), "the model server at "+url+" cannot be reached: dial tcp")
	_, err = e.Speak(t.Context(), prompt("x"), nil)
	check(t, err, "connection refused; if it is Ollama, `ollama serve` starts it [AGENT-SERVER] start the server, or correct baseURL")
}
