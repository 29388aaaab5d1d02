package prompts_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/folkmoot/moot/endpoints/a2a"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/share"
)

// a2aWay is a server of the Agent2Agent protocol that records its prompts.
func a2aWay(t *testing.T) *way {
	t.Helper()
	var mu sync.Mutex
	var got []request
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("GET /.well-known/agent-card.json", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, server.URL)
	})
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Params struct {
				Message struct{ Parts []struct{ Text string } }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Params.Message.Parts) != 1 {
			http.Error(w, "one part is wanted", http.StatusBadRequest)
			return
		}
		text := q.Params.Message.Parts[0].Text
		how := endpoint.PlainInstructions(endpoint.Prompt{}) + "\n\n"
		before, prompt, _ := strings.Cut(text, how)
		if !instructed(before + strings.TrimSpace(how)) {
			prompt = fmt.Sprintf("the agent is told %q", before)
		}
		mu.Lock()
		got = append(got, request{text: prompt})
		mu.Unlock()
		fmt.Fprint(w, `{"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"noted"}]}}}`)
	})
	return &way{
		open: func() (share.Agent, error) { return a2a.New(a2a.Config{URL: server.URL}), nil },
		asked: func(*testing.T) []request {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(got)
		},
	}
}
