package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// run calls f for each dialect, whole and streamed.
func run(t *testing.T, f func(t *testing.T, v vendor, stream bool)) {
	for _, v := range vendors {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%t", v.dialect, stream), func(t *testing.T) { f(t, v, stream) })
		}
	}
}

func serve(t *testing.T, cfg Config) (*Server, string) {
	t.Helper()
	s := New(cfg)
	ts := httptest.NewServer(s)
	t.Cleanup(ts.Close)
	return s, ts.URL
}

// post sends a request and returns the response with its body.
func post(t *testing.T, url string, body any) (*http.Response, []byte, error) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer a-secret-key")
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, nil, err
	}
	defer r.Body.Close()
	b, err = io.ReadAll(r.Body)
	return r, b, err
}

// status is a response's status, if there is a response.
func status(r *http.Response) string {
	if r == nil {
		return "no response"
	}
	return r.Status
}

// events returns an answer's events, or the answer itself.
func events(t *testing.T, b []byte) (out []any) {
	t.Helper()
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		line := strings.TrimPrefix(s.Text(), "data: ")
		if line == "" || line == "[DONE]" || strings.HasPrefix(line, "event: ") {
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, v)
	}
	return out
}

func TestAnswers(t *testing.T) {
	run(t, func(t *testing.T, v vendor, stream bool) {
		s, url := serve(t, Config{})
		r, b, err := post(t, url+"/ann"+v.path(stream), v.body("which colour is the sky?", stream, false))
		if r == nil || err != nil || r.StatusCode != http.StatusOK {
			t.Fatal(r, err)
		}
		ev := events(t, b)
		if got := text(ev, v.text); got != "echo: which colour is the sky?" {
			t.Errorf("the model says %q", got)
		}
		if stream && len(ev) < 3 {
			t.Errorf("a stream of %d events", len(ev))
		}
		got, want := v.usage(ev), s.Stats().Seats["ann"].Usage
		if got != want || got.Input == 0 || got.Output == 0 {
			t.Errorf("the answer reports %+v, and the server counts %+v", got, want)
		}
		if c := s.Stats().Total; c.Calls != 1 || c.Side != 0 || c.Failed != 0 {
			t.Errorf("%+v", c)
		}
	})
}

func TestCalls(t *testing.T) {
	run(t, func(t *testing.T, v vendor, stream bool) {
		_, url := serve(t, Config{})
		_, b, err := post(t, url+v.path(stream), v.body(`please CALL:write:{"path":"a"} now`, stream, true))
		if err != nil || !strings.Contains(string(b), `"fs_write"`) {
			t.Fatalf("no call in %s %v", b, err)
		}
		if ev := events(t, b); stream && text(ev[:min(2, len(ev))], []string{v.name}) != "fs_write" {
			t.Errorf("no name at %s of %s", v.name, b)
		}
		_, b, err = post(t, url+v.path(stream), v.body(`CALL:other:{}`, stream, true))
		if got := text(events(t, b), v.text); err != nil || got != "there is no tool other among fs_write" {
			t.Errorf("%q %v", got, err)
		}
	})
}

func TestFailures(t *testing.T) {
	run(t, func(t *testing.T, v vendor, stream bool) {
		s, url := serve(t, Config{})
		for _, code := range []int{400, 429, 500} {
			r, b, err := post(t, url+v.path(stream), v.body(fmt.Sprintf("FAIL:%d", code), stream, false))
			if r == nil || err != nil || r.StatusCode != code || !strings.Contains(string(b), `"error"`) {
				t.Errorf("%d: %s %s %v", code, status(r), b, err)
			}
			if (r.Header.Get("Retry-After") == "1") != (code == 429) {
				t.Errorf("%d: Retry-After is %q", code, r.Header.Get("Retry-After"))
			}
		}
		for attempt, want := range []int{500, 500, 200} {
			r, _, err := post(t, url+v.path(stream), v.body("FAIL:500:2", stream, false))
			if r == nil || err != nil || r.StatusCode != want {
				t.Errorf("attempt %d: %s %v", attempt+1, status(r), err)
			}
		}
		if _, _, err := post(t, url+v.path(stream), v.body("CUT: the answer", stream, false)); err == nil {
			t.Error("an answer that is cut ends without an error")
		}
		if c := s.Stats().Total; c.Calls != 1 || c.Failed != 6 {
			t.Errorf("%+v", c)
		}
	})
}

// TestResults: behind a tool's result the model answers with it instead of
// ordering the call again.
func TestResults(t *testing.T) {
	order := `CALL:write:{}`
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"messages":[{"role":"user","content":"` + order + `"},{"role":"assistant","tool_calls":[]},{"role":"tool","content":"done 7"}]}`,
		"/v1/responses": `{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"` + order + `"}]},
			{"type":"function_call","name":"write"},{"type":"function_call_output","output":"done 7"}]}`,
		"/v1/messages": `{"messages":[{"role":"user","content":"` + order + `"},
			{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"done 7"}]},{"type":"text","text":"a reminder"}]}]}`,
		"/v1beta/models/m:generateContent": `{"contents":[{"role":"user","parts":[{"text":"` + order + `"}]},
			{"role":"user","parts":[{"functionResponse":{"name":"write","response":{"output":"done 7"}}}]}]}`,
		"/api/chat": `{"stream":false,"messages":[{"role":"user","content":"` + order + `"},{"role":"tool","content":"done 7"}]}`,
	} {
		_, url := serve(t, Config{})
		_, b, err := post(t, url+path, json.RawMessage(body))
		if err != nil || !strings.Contains(string(b), "the tool says: ") || !strings.Contains(string(b), "done 7") {
			t.Errorf("%s: %s %v", path, b, err)
		}
	}
}

func TestWrite(t *testing.T) {
	order := `WRITE:{"path":"/tmp/it's","content":"x"}`
	for tool, want := range map[string]string{
		"Write": "/tmp/it's", "write_file": "/tmp/it's", "write": "/tmp/it's", "exec_command": `'/tmp/it'\''s'`, "shell": "sh",
	} {
		reply := Script(Request{Tools: []string{"read", tool}, Messages: []Message{{"user", "text\n> " + order + " and more"}}})
		if reply.Call == nil || reply.Call.Name != tool {
			t.Fatalf("%s: %+v", tool, reply)
		}
		var args any
		if err := json.Unmarshal(reply.Call.Arguments, &args); err != nil || !strings.Contains(fmt.Sprint(args), want) {
			t.Errorf("%s: %v %v", tool, args, err)
		}
	}
}

// TestSide: what agents ask for themselves is counted apart, and follows no
// directive.
func TestSide(t *testing.T) {
	for name, c := range map[string]struct{ path, body, want string }{
		"opencode": {"/v1/chat/completions", `{"messages":[{"role":"system","content":"You are a title generator."},{"role":"user","content":"FAIL:500"}]}`, "A title"},
		"claude": {"/v1/messages", `{"system":"You are naming a session. Write the title as JSON.","output_config":{"format":{"type":"json_schema"}},
			"messages":[{"role":"user","content":"FAIL:500"}]}`, `{\"title\":\"A title\"}`},
		"codex": {"/v1/responses", `{"text":{"format":{"type":"json_schema"}},"input":"Generate a very short title for FAIL:500"}`, `{\"title\":\"A title\"}`},
		"guess": {"/v1/messages", `{"tools":[{"name":"a"}],"messages":[{"role":"user","content":"[SUGGESTION MODE: Suggest. FAIL:500]"}]}`, "A title"},
		"facts": {"/v1/chat/completions", `{"tools":[{"name":"a"}],"messages":[{"role":"system","content":"You are the memory extraction subagent"},
			{"role":"user","content":"FAIL:500"}]}`, "A title"},
	} {
		s, url := serve(t, Config{})
		_, b, err := post(t, url+c.path, json.RawMessage(c.body))
		if err != nil || !strings.Contains(string(b), c.want) {
			t.Errorf("%s: %s %v", name, b, err)
		}
		if c := s.Stats().Total; c.Side != 1 || c.Calls != 0 || c.Usage != (Usage{}) || c.SideUsage.Input == 0 {
			t.Errorf("%s: %+v", name, c)
		}
	}
	s, url := serve(t, Config{})
	if _, _, err := post(t, url+"/v1/chat/completions", chatBody("write a title", false, false)); err != nil || s.Stats().Total.Side != 0 {
		t.Errorf("a user's own question for a title is a side call (%v)", err)
	}
}

// TestEcho: an echo orders nothing of the agent that reads it.
func TestEcho(t *testing.T) {
	first := Script(Request{Messages: []Message{{"tool", "SAY:a CALL:x:{} FAIL:500 CUT: HOLD:"}}})
	if again := Script(Request{Messages: []Message{{"user", first.Text}}}); again.Call != nil || again.Status != 0 || again.Cut || again.Hold {
		t.Errorf("%q orders %+v", first.Text, again)
	}
}

func TestLog(t *testing.T) {
	var log bytes.Buffer
	s, url := serve(t, Config{Log: &log})
	if _, _, err := post(t, url+"/bob/v1/chat/completions", chatBody("a private text", false, true)); err != nil {
		t.Fatal(err)
	}
	var line struct {
		Seat, Dialect, Model string
		Bytes, Tools         int
		Keyed, Side          bool
	}
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line.Seat != "bob" || line.Dialect != "chat" || line.Model != "m" || line.Bytes == 0 || line.Tools != 1 || !line.Keyed || line.Side {
		t.Errorf("%+v", line)
	}
	if strings.Contains(log.String(), "secret") || strings.Contains(log.String(), "private") {
		t.Errorf("the log tells too much: %s", &log)
	}
	r, err := http.Get(url + "/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var stats Stats
	if err := json.NewDecoder(r.Body).Decode(&stats); err != nil || stats.Total != s.Stats().Total || stats.Seats["bob"].Calls != 1 {
		t.Errorf("%+v %v", stats, err)
	}
}

func TestHold(t *testing.T) {
	s := New(Config{})
	left := make(chan struct{})
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r)
		close(left)
	}))
	defer ts.Close()
	r, err := http.Post(ts.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"HOLD:"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(r.Body).ReadString('\n'); err != nil {
		t.Error(err)
	}
	r.Body.Close()
	<-left
	if c := s.Stats().Total; c.Failed != 1 || c.Calls != 0 {
		t.Errorf("%+v", c)
	}
}

func TestInvalid(t *testing.T) {
	_, url := serve(t, Config{})
	for _, v := range vendors {
		r, b, err := post(t, url+v.path(false), json.RawMessage(`{"messages":1,"input":2,"contents":3}`))
		if r == nil || err != nil || r.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s %s %v", v.dialect, status(r), b, err)
		}
	}
	if r, _, err := post(t, url+"/other", nil); r == nil || err != nil || r.StatusCode != http.StatusNotFound {
		t.Errorf("%s %v", status(r), err)
	}
}

// FuzzDecode: no request stops the server.
func FuzzDecode(f *testing.F) {
	f.Add(`{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","content":"x"}]}],"tools":[{"function":{"name":"a"}}]}`)
	f.Add(`{"input":[{"type":"function_call_output","output":[{"text":"a"}]}],"stream":true}`)
	f.Add(`{"contents":[{"parts":[{"functionResponse":{"response":{}}}]}],"systemInstruction":{}}`)
	f.Add(`{"messages":[{"role":"user","content":"CALL:a:{WRITE:{} FAIL:429:9"}]}`)
	open := func(req Request) *Reply { // what is cut or held ends with a connection
		reply := Script(req)
		reply.Cut, reply.Hold = false, false
		return reply
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, v := range vendors {
			r := httptest.NewRequest(http.MethodPost, v.path(false), strings.NewReader(body))
			New(Config{Script: open}).ServeHTTP(httptest.NewRecorder(), r)
		}
	})
}
