package a2a_test

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"

	api "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/folkmoot/moot/endpoints/a2a"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/endpointtest"
)

// An executor is an agent of the Go SDK. It streams an artifact in two parts, asks
// back when it is asked "?", and waits for its end when it is told to.
type executor struct {
	mu       sync.Mutex
	contexts []string
}

// Execute answers a message.
func (x *executor) Execute(ctx context.Context, c *a2asrv.ExecutorContext) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		x.mu.Lock()
		x.contexts = append(x.contexts, c.ContextID)
		x.mu.Unlock()
		text := endpointtest.Newest(c.Message.Parts[0].Text())
		if c.StoredTask == nil && !yield(api.NewSubmittedTask(c, c.Message), nil) {
			return
		}
		if text == "?" && c.StoredTask == nil {
			yield(api.NewStatusUpdateEvent(c, api.TaskStateInputRequired, api.NewMessageForTask(api.MessageRoleAgent, c, api.NewTextPart("Which?"))), nil)
			return
		}
		if !yield(api.NewStatusUpdateEvent(c, api.TaskStateWorking, api.NewMessageForTask(api.MessageRoleAgent, c, api.NewTextPart("working"))), nil) {
			return
		}
		if text == "wait" {
			<-ctx.Done()
			return
		}
		first := api.NewArtifactEvent(c, api.NewTextPart("echo: "))
		_ = yield(first, nil) && yield(api.NewArtifactUpdateEvent(c, first.Artifact.ID, api.NewTextPart(text)), nil) &&
			yield(api.NewStatusUpdateEvent(c, api.TaskStateCompleted, nil), nil)
	}
}

// Cancel ends a task.
func (x *executor) Cancel(_ context.Context, c *a2asrv.ExecutorContext) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		yield(api.NewStatusUpdateEvent(c, api.TaskStateCanceled, nil), nil)
	}
}

// TestSDKServer checks that an agent of the Go SDK and this client understand each
// other: answers, a question that the next turn continues, and the end of a task.
func TestSDKServer(t *testing.T) {
	for name, streams := range map[string]bool{"streamed": true, "whole": false} {
		t.Run(name, func(t *testing.T) {
			x := &executor{}
			mux := http.NewServeMux()
			s := httptest.NewServer(mux)
			defer s.Close()
			mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(x)))
			mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(&api.AgentCard{
				Name: "x", Version: "1", Capabilities: api.AgentCapabilities{Streaming: streams},
				SupportedInterfaces: []*api.AgentInterface{api.NewAgentInterface(s.URL+"/rpc", api.TransportProtocolJSONRPC)},
			}))
			e := a2a.New(a2a.Config{URL: s.URL})
			defer e.Close()
			if err := e.Start(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			for i, c := range []struct{ text, want, reason string }{{"one", "echo: one", ""}, {"?", "Which?", "the agent asks for input"}, {"this", "echo: this", ""}, {"two", "echo: two", ""}} {
				p := prompt(c.text)
				p.Request += strings.Repeat("x", i)
				r, err := e.Speak(t.Context(), p, nil)
				if err != nil || r.Outcome != endpoint.Said || r.Text != c.want || r.Reason != c.reason {
					t.Errorf("asked %s: %+v and %v", c.text, r, err)
				}
			}
			x.mu.Lock()
			defer x.mu.Unlock()
			for _, id := range x.contexts {
				if id != x.contexts[0] {
					t.Errorf("the contexts of one room are %v", x.contexts)
				}
			}
		})
	}
}

// TestNoGRPC checks that gRPC, which the module of the library has too, is not linked into
// the command, and protocol buffers only by the metrics.
func TestNoGRPC(t *testing.T) {
	for target, prefix := range map[string]string{"../../cmd/moot": "google.golang.org/grpc", ".": "google.golang.org/"} {
		out, err := exec.Command("go", "list", "-deps", target).Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, prefix) {
				t.Errorf("%s would link %s", target, line)
			}
		}
	}
}
