package a2a_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/a2a"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
)

// errors of a turn by the name of their kind.
var kinds = map[string]error{"agent": endpoint.ErrAgent, "protocol": endpoint.ErrProtocol, "large": endpoint.ErrTooLarge}

// answers gives a status.
func answers(code int, body string) func(*writer) {
	return func(w *writer) { w.WriteHeader(code); fmt.Fprint(w, body) }
}

// results answers with events of a stream.
func results(all ...string) func(*writer) {
	return func(w *writer) { w.results(all...) }
}

// fails answers with an error of JSON-RPC.
func fails(code int, message string) func(*writer) {
	return func(w *writer) { w.fails(code, message) }
}

// to redirects.
func to(where string) func(*writer) {
	return func(w *writer) { w.Header().Set("Location", where); w.WriteHeader(http.StatusTemporaryRedirect) }
}

// many is a part of an answer that is too long.
var many = strings.Repeat("x", 100)

// hostileServers are the answers of faulty servers, by name, with the kind of error of
// the turn and a part of its text.
var hostileServers = map[string]struct {
	answer     func(*writer)
	kind, want string
}{
	"endless line":      {func(w *writer) { w.begin(); w.endless("x") }, "large", "a line of more than 8388608 bytes"},
	"endless event":     {func(w *writer) { w.begin(); fmt.Fprint(w, "data: "); w.endless("x") }, "large", "a line of more than 8388608 bytes"},
	"endless comments":  {func(w *writer) { w.begin(); w.endless(": x\n") }, "large", "more than it may send in one answer"},
	"endless artifact":  {func(w *writer) { w.results(task("WORKING", "", "")); w.endless(event(chunk("a", many, true))) }, "large", "characters, and the limit is 1000"},
	"endless artifacts": {func(w *writer) { w.results(task("WORKING", "", "")); endlessArtifacts(w) }, "large", "characters, and the limit is 1000"},
	"endless status":    {func(w *writer) { w.begin(); w.endless(event(update("WORKING", many))) }, "large", "more than it may send in one answer"},
	"cut": {func(w *writer) {
		w.results(task("WORKING", "", ""), chunk("a", "Yes", true))
		panic(http.ErrAbortHandler)
	}, "protocol", "the answer was cut before its end"},
	"cut in an event":     {func(w *writer) { w.begin(); fmt.Fprint(w, `data: {"res`); w.flush(); panic(http.ErrAbortHandler) }, "protocol", "the answer was cut before its end"},
	"ended while working": {results(task("WORKING", "", "")), "protocol", "the answer was cut before its end"},
	"ended at once":       {func(w *writer) { w.begin() }, "protocol", "the answer was cut before its end"},
	"no body":             {func(*writer) {}, "protocol", "the answer was cut before its end"},
	"closes at once":      {func(*writer) { panic(http.ErrAbortHandler) }, "agent", "cannot be reached: EOF [AGENT-SERVER] start the agent"},
	"no JSON":             {func(w *writer) { w.begin(); fmt.Fprint(w, "data: <p>\n\n") }, "protocol", "broke the protocol: failed to parse SSE data"},
	"no result":           {func(w *writer) { w.begin(); fmt.Fprint(w, "data: {}\n\n") }, "protocol", "broke the protocol"},
	"a null":              {results("null"), "protocol", "broke the protocol"},
	"of no kind":          {results(`{"x":{}}`), "protocol", "unknown event type"},
	"of two kinds":        {results(`{"message":{},"task":{}}`), "protocol", "exactly one event type"},
	"null parts":          {results(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[null]}}`), "agent", "the answer is empty"},
	"null artifact":       {results(`{"artifactUpdate":{"taskId":"t1","artifact":null}}`, update("COMPLETED", "")), "agent", "the answer is empty"},
	"null artifacts":      {results(`{"task":{"id":"t1","artifacts":[null],"status":{"state":"TASK_STATE_COMPLETED","message":null}}}`), "agent", "the answer is empty"},
	"an unknown part":     {results(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"x":1}]}}`), "protocol", "unknown part content type"},
	"no task id":          {results(`{"task":{"status":{"state":"TASK_STATE_COMPLETED"}}}`), "protocol", "a task without an id"},
	"two tasks":           {results(task("WORKING", "", ""), `{"statusUpdate":{"taskId":"t2","status":{"state":"TASK_STATE_COMPLETED"}}}`), "protocol", "an event of another task"},
	"an unknown state":    {results(task("SLEEPING", "", "")), "protocol", "unknown state TASK_STATE_SLEEPING"},
	"no state":            {results(`{"task":{"id":"t1"}}`), "protocol", "unknown state TASK_STATE_UNSPECIFIED"},
	"null details": {func(w *writer) {
		w.begin()
		fmt.Fprint(w, `data: {"error":{"code":1,"message":"x","data":[null]}}`+"\n\n")
	}, "protocol", "an answer that the A2A library cannot read"},
	"not a stream": {func(w *writer) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<p>"+token+"\x1b[31m")
	}, "protocol", "it answers with text/html and not with a stream of events: <p>[token] [AGENT-PROTOCOL] check that url"},
	"an error":            {fails(-32603, "out of memory at "+token), "agent", "the agent reports an error: out of memory at [token]"},
	"an error as event":   {func(w *writer) { w.begin(); fmt.Fprint(w, member(`"error":{"code":-32603,"message":"no\u001b[31m"}`)) }, "agent", "the agent reports an error: no"},
	"no token as event":   {func(w *writer) { w.begin(); fmt.Fprint(w, member(`"error":{"code":-31401,"message":"no"}`)) }, "agent", `does not let this device in: no [AGENT-SERVER] write token: "${A2A_TOKEN}"`},
	"failed":              {results(task("FAILED", "no disk at "+token, "")), "agent", "its task failed: no disk at [token]"},
	"failed silently":     {results(update("FAILED", "")), "agent", "its task failed: it says no reason"},
	"canceled":            {results(update("CANCELED", "bye")), "agent", "it canceled the task: bye"},
	"auth required":       {results(task("AUTH_REQUIRED", "at https://x", "")), "agent", "it asks to sign in: at https://x [AGENT-ERROR] sign in"},
	"empty":               {results(message("")), "agent", "the answer is empty; an agent with nothing to add answers PASS"},
	"invisible":           {results(message("\u200b\x1b[31m")), "agent", "the answer is empty"},
	"an empty question":   {results(update("INPUT_REQUIRED", "")), "agent", "the answer is empty"},
	"bad request":         {answers(400, `{"error":{"code":-32600,"message":"too\u001b[31m long"}}`), "agent", "answers with status 400: too long"},
	"huge error":          {answers(422, strings.Repeat("x", 10<<20)), "agent", "answers with status 422: " + strings.Repeat("x", 500) + "…"},
	"endless error":       {func(w *writer) { w.WriteHeader(418); w.endless("x") }, "agent", "answers with status 418: xxx"},
	"no token":            {answers(401, token+" is not valid"), "agent", `status 401: [token] is not valid [AGENT-SERVER] write token: "${A2A_TOKEN}"`},
	"no route":            {answers(404, ""), "agent", "status 404: Not Found [AGENT-SERVER] correct url"},
	"not implemented":     {answers(501, ""), "agent", "status 501: Not Implemented"},
	"no content":          {answers(204, ""), "protocol", "unexpected HTTP status: 204"},
	"wait for a year":     {func(w *writer) { w.Header().Set("Retry-After", "31536000"); answers(500, "down")(w) }, "agent", "answers with status 500: down"},
	"redirect":            {to("http://evil.example/" + token), "agent", "redirects to http://evil.example, and a redirect is not followed"},
	"redirect to nowhere": {answers(301, ""), "agent", "answers with status 301: Moved Permanently"},
}

// TestHostileServers checks that each fault of a server ends the turn with an error
// that says what to do, without the token, and that the next turn works.
func TestHostileServers(t *testing.T) {
	for name, c := range hostileServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := make(chan struct{}, 1)
			first <- struct{}{}
			s := serve(t, true, func(w *writer, got call) {
				select {
				case <-first:
					c.answer(w)
				default:
					if got.Method == "CancelTask" {
						w.results(bare("CANCELED", "", ""))
						return
					}
					w.results(message("Yes."))
				}
			})
			e, f := s.open(t), &floor{}
			_, err := e.Speak(t.Context(), prompt("x"), f)
			check(t, err, c.want)
			if !errors.Is(err, kinds[c.kind]) {
				t.Errorf("got %v, which is not of the kind %s", err, c.kind)
			}
			if raised := len(f.raised) == 1 && f.raised[0].Kind == endpoint.SignalViolation && !strings.Contains(f.raised[0].Detail, token); raised != (c.kind != "agent") {
				t.Errorf("it raised %+v", f.raised)
			}
			if strings.Contains(f.shown.String(), token) {
				t.Errorf("it shows the token: %q", &f.shown)
			}
			if r, err := e.Speak(t.Context(), prompt("x"), f); err != nil || r.Text != "Yes." {
				t.Errorf("the next turn: %+v and %v", r, err)
			}
		})
	}
}

// event is an event of a stream with a result.
func event(result string) string { return member(`"result":` + result) }

// member is an event of a stream with a member of JSON-RPC.
func member(text string) string { return `data: {"jsonrpc":"2.0","id":"1",` + text + "}\n\n" }

// endlessArtifacts writes artifacts until the client leaves.
func endlessArtifacts(w *writer) {
	for i := 0; ; i++ {
		if _, err := fmt.Fprint(w, event(chunk(fmt.Sprint(i), "x", false))); err != nil {
			return
		}
	}
}

// TestHostileCards checks that an agent card which cannot be trusted or used is
// refused before anything of a room is sent.
func TestHostileCards(t *testing.T) {
	for name, c := range map[string]struct{ card, kind, want string }{
		"another host":     {cardOf("https://evil.example/rpc", true), "agent", "names another server in its agent card: https://evil.example [AGENT-SERVER] if you trust that server, write its URL as url"},
		"another port":     {cardOf("http://127.0.0.1:1/rpc", true), "agent", "names another server in its agent card: http://127.0.0.1:1"},
		"another scheme":   {cardOf("https://HOST/rpc", true), "agent", "names another server"},
		"a user":           {cardOf("http://a:"+token+"@HOST/rpc", true), "agent", "offers no JSON-RPC interface"},
		"no scheme":        {cardOf("//evil.example/"+token, true), "agent", "names another server in its agent card: ://evil.example"},
		"version 0.3":      {strings.ReplaceAll(cardOf("http://HOST/rpc", true), "1.0", "0.3"), "agent", "offers no JSON-RPC interface of A2A 1 in its agent card, but: JSONRPC 0.3"},
		"version 10":       {strings.ReplaceAll(cardOf("http://HOST/rpc", true), "1.0", "10"), "agent", "but: JSONRPC 10"},
		"version 1.x":      {strings.ReplaceAll(cardOf("http://HOST/rpc", true), "1.0", "1.x"), "protocol", "no compatible transports"},
		"gRPC":             {strings.ReplaceAll(cardOf("http://HOST/rpc", true), "JSONRPC", "GRPC"), "agent", "but: GRPC 1.0"},
		"an old card":      {`{"name":"x","url":"http://HOST/rpc","protocolVersion":"0.3.0"}`, "agent", "offers no JSON-RPC interface"},
		"null interfaces":  {`{"supportedInterfaces":[null]}`, "agent", "offers no JSON-RPC interface"},
		"an extension":     {strings.Replace(cardOf("http://HOST/rpc", true), `"streaming"`, `"extensions":[{"uri":"urn:x","required":true}],"streaming"`, 1), "agent", "requires the extension urn:x"},
		"a page":           {"<html>", "protocol", "broke the protocol: card parsing failed"},
		"nothing":          {" ", "protocol", "broke the protocol"},
		"an endless card":  {`{"name":"` + strings.Repeat("x", 9<<20), "large", "more than 8388608 bytes"},
		"an unknown login": {strings.Replace(cardOf("http://HOST/rpc", true), `"skills"`, `"securitySchemes":{"x":{"magic":{}}},"skills"`, 1), "protocol", "unknown security scheme"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, true, func(w *writer, _ call) { w.results(message("Yes.")) })
			s.card = strings.ReplaceAll(c.card, "HOST", strings.TrimPrefix(s.URL, "http://"))
			e := s.open(t)
			for _, err := range []error{e.Start(t.Context(), nil), spoken(t, e)} {
				check(t, err, c.want)
				if !errors.Is(err, kinds[c.kind]) {
					t.Errorf("got %v, which is not of the kind %s", err, c.kind)
				}
			}
			if n := len(s.calls); n > 0 {
				t.Errorf("it was asked %d times", n)
			}
		})
	}
}

func spoken(t *testing.T, e *a2a.Endpoint) error {
	_, err := e.Speak(t.Context(), prompt("x"), nil)
	return err
}

// TestCardStatus checks what is said of a server without an agent card.
func TestCardStatus(t *testing.T) {
	for status, want := range map[int]string{
		404: "answers with status 404: 404 page not found [AGENT-SERVER] correct url: the agent card is at /.well-known/agent-card.json below it",
		401: `status 401: [token] [AGENT-SERVER] write token: "${A2A_TOKEN}"`,
		302: "redirects to http://evil.example",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+token {
				t.Errorf("the token is %q", r.Header.Get("Authorization"))
			}
			w.Header().Set("Location", "http://evil.example/")
			http.Error(w, map[bool]string{true: token, false: "404 page not found"}[status == 401], status)
		}))
		e := a2a.New(a2a.Config{URL: s.URL, Token: token})
		check(t, e.Start(t.Context(), nil), want)
		e.Close()
		s.Close()
	}
}

// TestUnsafeURLs checks that nothing is sent where others can read it.
func TestUnsafeURLs(t *testing.T) {
	for _, url := range []string{"http://example.org", "http://10.0.0.1", "http://a:" + token + "@127.0.0.1", "https://a:" + token + "@example.org", "https://x?key=" + token, "ftp://127.0.0.1", "127.0.0.1", "", "http://", "://"} {
		e := a2a.New(a2a.Config{URL: url, Transport: noTransport{t}})
		check(t, e.Start(t.Context(), nil), "the URL of an A2A agent begins with https://")
		check(t, spoken(t, e), "the URL of an A2A agent begins with https://")
		e.Close()
	}
}

type noTransport struct{ t *testing.T }

func (n noTransport) RoundTrip(q *http.Request) (*http.Response, error) {
	n.t.Errorf("a request is sent to %s", q.URL.Host)
	return nil, errors.New("no")
}

// check compares an error, with its fix, with a part of it.
func check(t *testing.T, err error, want string) {
	t.Helper()
	var pe *problem.Error
	if !errors.As(err, &pe) || pe.Fix == "" || !strings.Contains(err.Error()+" "+pe.Fix, want) {
		t.Errorf("got %v, want %s", err, want)
	} else if text := err.Error() + pe.Fix; strings.Contains(text, token) || len(text) > 1500 || endpoint.Clean(text) != text {
		t.Errorf("the error has the token, or is not bounded and clean: %q", text)
	}
}
