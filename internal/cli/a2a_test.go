package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// startA2A starts an A2A agent and puts its URL into $A2A_URL. It wants the token in
// $AGENT_TOKEN, fails the task of a prompt with the text FAIL, and asks back in one
// with ASK. The file calls.jsonl gets each call.
func startA2A(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: a2a")
	}
	calls, err := os.Create(ts.MkAbs("calls.jsonl"))
	ts.Check(err)
	a := &a2aAgent{calls: calls, token: ts.Getenv("AGENT_TOKEN")}
	server := httptest.NewServer(a)
	a.url = server.URL
	ts.Defer(func() {
		server.Close()
		_ = calls.Close() // the script has read what it needs
	})
	ts.Setenv("A2A_URL", server.URL)
}

type a2aAgent struct {
	calls      io.Writer
	url, token string
}

// ServeHTTP answers as the JSON-RPC binding of A2A 1.0 does.
func (a *a2aAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil, r.Header.Get("Authorization") != "Bearer "+a.token:
		http.Error(w, "no valid token: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		return
	case r.Method == http.MethodGet:
		fmt.Fprintf(w, `{"supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, a.url)
		return
	}
	fmt.Fprintf(a.calls, "%s\n", body)
	var q struct {
		ID     string
		Params struct {
			Message struct{ Parts []struct{ Text string } }
		}
	}
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	state, text := "COMPLETED", "Step 2 is safe."
	if prompt := fmt.Sprint(q.Params); strings.Contains(prompt, "FAIL") {
		state, text = "FAILED", "out of order"
	} else if strings.Contains(prompt, "ASK") {
		state, text = "INPUT_REQUIRED", "Which step?"
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%q,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_%s","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":%q}]}}}}}`, q.ID, state, text)
}
