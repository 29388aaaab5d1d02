package mcp

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestAwait checks that a wait reports progress, and that its end has the prompt in
// the text.
func TestAwait(t *testing.T) {
	everywhere(t, func(t *testing.T, transport, revision string) {
		twice := make(chan struct{}, 2)
		f := &fakeAPI{caller: session, answer: func(ctx context.Context, _, _ string, _ []byte) (string, error) {
			for range 2 {
				select {
				case <-twice:
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}
			return `{"turn":true,"request":"q1","deadline":"2026-11-23T12:00:00Z","text":"Say \"hello\"."}`, nil
		}}
		cs := connected(t, f, transport, revision, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			select {
			case twice <- struct{}{}:
			default:
			}
		}})
		p := &sdk.CallToolParams{Name: "await_turn", Arguments: map[string]any{}}
		p.SetProgressToken("p1")
		res, err := cs.CallTool(t.Context(), p)
		if err != nil || res.IsError {
			t.Fatal(err, text(res))
		}
		if got := text(res); !strings.Contains(got, `"q1"`) || !strings.HasSuffix(got, "\n\nSay \"hello\".") {
			t.Errorf("the text is %s", got)
		}
		if got := fmt.Sprint(res.StructuredContent); !strings.Contains(got, "request:q1") {
			t.Errorf("the content is %s", got)
		}
	})
}

// TestCancelled checks that a wait ends when its client does not wait any more, so
// that nobody is taken for live who is not.
func TestCancelled(t *testing.T) {
	everywhere(t, func(t *testing.T, transport, revision string) {
		waits, ended := make(chan struct{}), make(chan struct{})
		f := &fakeAPI{caller: session, answer: func(ctx context.Context, _, _ string, _ []byte) (string, error) {
			close(waits)
			<-ctx.Done()
			close(ended)
			return "", ctx.Err()
		}}
		cs := connected(t, f, transport, revision, nil)
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			<-waits
			stop()
		}()
		if _, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "await_turn", Arguments: map[string]any{}}); err == nil {
			t.Error("a cancelled call has a result")
		}
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("the wait goes on")
		}
	})
}

// TestApproval checks what clients of both eras are told while a person decides about
// an answer, and what they get when they ask again.
func TestApproval(t *testing.T) {
	for _, revision := range revisions {
		for _, ends := range []string{"posted", "rejected", "drafted"} {
			t.Run(revision+" "+ends, func(t *testing.T) {
				asked := 0
				decide := make(chan struct{}, 1)
				f := &fakeAPI{caller: session, answer: func(_ context.Context, method, path string, _ []byte) (string, error) {
					phase, posted := "waiting for approval", ""
					if len(decide) > 0 && ends != "drafted" {
						phase = "idle"
					}
					if len(decide) > 0 && ends == "posted" {
						posted = `{"seq":12,"turn":3,"from":"ann","text":"yes"}`
					}
					switch {
					case method == "POST":
						return `{"request":"q1","number":3,"outcome":"drafted","seq":9}`, nil
					case strings.Contains(path, "messages?after=9"):
						return `{"next":11,"more":true,"messages":[{"seq":10,"turn":2,"from":"ann","text":"no"},{"seq":11,"turn":3,"from":"bob","text":"no"}]}`, nil
					case strings.Contains(path, "messages?after=11"):
						return `{"next":12,"messages":[` + posted + `]}`, nil
					}
					return `{"turn":3,"participants":[{"id":"ann","phase":"` + phase + `"}]}`, nil
				}}
				cs := connected(t, f, "http", revision, &sdk.ClientOptions{
					Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{}},
					ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
						asked++
						decide <- struct{}{}
						return &sdk.ElicitResult{Action: "accept"}, nil
					},
				})
				res := called(t, cs, "answer_turn", `{"request":"q1","text":"yes"}`)
				if revision < firstStateless {
					if asked > 0 || !strings.Contains(text(res), `waiting "3.9"`) {
						t.Fatalf("asked %d times; %s", asked, text(res))
					}
					decide <- struct{}{}
					res = called(t, cs, "answer_turn", `{"waiting":"3.9"}`)
				} else if asked != 1 {
					t.Fatalf("asked %d times; %s", asked, text(res))
				}
				if got := fmt.Sprint(res.StructuredContent); res.IsError || !strings.Contains(got, "outcome:"+ends) {
					t.Errorf("%s; %s", got, text(res))
				}
			})
		}
	}
}

// TestOtherCredential checks that a session of the protocol does not stand for a
// credential: another one cannot use it.
func TestOtherCredential(t *testing.T) {
	s := New(Config{})
	defer s.Close()
	one, two := &fakeAPI{caller: session}, &fakeAPI{caller: admin}
	web := httptest.NewServer(s.Handler(func(r *http.Request) Client {
		if r.Header.Get("Test-Who") == "two" {
			return Client{ID: "two", API: two}
		}
		return Client{ID: "one", API: one}
	}))
	defer web.Close()
	send := func(who, session, body string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), "POST", web.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Test-Who": who, "Mcp-Session-Id": session} {
			req.Header.Set(k, v)
		}
		resp, err := web.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp
	}
	resp := send("one", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	id := resp.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatal("an old client gets no session")
	}
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_rooms","arguments":{}}}`
	if resp := send("two", id, call); resp.StatusCode != http.StatusForbidden {
		t.Errorf("another credential gets %s", resp.Status)
	}
	if resp := send("one", id, call); resp.StatusCode != http.StatusOK {
		t.Errorf("the own credential gets %s", resp.Status)
	}
	if len(one.seen()) != 1 || len(two.seen()) != 0 {
		t.Errorf("calls: %v and %v", one.seen(), two.seen())
	}
}

// TestIdle checks that a session which an old client has left is closed.
func TestIdle(t *testing.T) {
	s := New(Config{Idle: time.Millisecond})
	defer s.Close()
	web := httptest.NewServer(s.Handler(func(*http.Request) Client { return Client{ID: "one", API: &fakeAPI{caller: session}} }))
	defer web.Close()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	cs, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: web.URL}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		return // closed before the handshake was over
	}
	_ = cs.Wait() // ends with the session
	cs.Close()
}

// FuzzDraftID checks that each id has one form.
func FuzzDraftID(f *testing.F) {
	for _, s := range []string{"", "3.9", "03.9", "3", "3.9.1", "-1.2", "9999999999999999999.1", "+3.9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := parseDraftID(s); err == nil && (d.String() != s || d.Turn < 1 || d.Seq < 1) {
			t.Errorf("%q is %v", s, d)
		}
	})
}

// FuzzRequest checks that a request of any form is answered, and that no tool asks the
// API for a path outside the ones that it is for.
func FuzzRequest(f *testing.F) {
	for _, d := range tools {
		f.Add(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"room":"r/../x","seat":"?","text":"t","sessionId":"..","message":"m","cwd":"/","request":"q"}}}`, d.name))
	}
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	f.Add(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	f.Add(`[]`)
	s := New(Config{})
	f.Cleanup(func() { s.Close() })
	f.Fuzz(func(t *testing.T, body string) {
		a := &fakeAPI{caller: caller{Scope: "talk", Room: "r_1", Seat: "ann", Session: "r_1.ann"}}
		h := s.Handler(func(*http.Request) Client { return Client{ID: "one", API: a} })
		for _, revision := range []string{"2026-07-28", "2025-06-18"} {
			req := httptest.NewRequest("POST", "/mcp", bytes.NewReader([]byte(body)))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Header.Set("Mcp-Protocol-Version", revision)
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			h.ServeHTTP(httptest.NewRecorder(), req.WithContext(ctx))
			stop()
		}
		for _, call := range a.seen() {
			_, path, _ := strings.Cut(call, " ")
			path, _, _ = strings.Cut(path, " ")
			path, _, _ = strings.Cut(path, "?")
			if n := strings.Count(path, "/"); !strings.HasPrefix(path, "/api/rooms") && !strings.HasPrefix(path, "/api/sessions") || n < 2 || n > 6 || strings.Contains(path, "/..") || strings.Contains(path, "//") {
				t.Errorf("a tool asks for %s", call)
			}
		}
	})
}
