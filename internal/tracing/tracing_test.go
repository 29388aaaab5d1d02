package tracing

import (
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// TestNames compares the names with those of the semantic conventions.
func TestNames(t *testing.T) {
	for ours, theirs := range map[attribute.Key]attribute.Key{
		operationName: semconv.GenAIOperationNameKey, conversationID: semconv.GenAIConversationIDKey, agentName: semconv.GenAIAgentNameKey,
		workflowName: semconv.GenAIWorkflowNameKey, inputTokens: semconv.GenAIUsageInputTokensKey, outputTokens: semconv.GenAIUsageOutputTokensKey, errorType: semconv.ErrorTypeKey,
	} {
		if ours != theirs {
			t.Errorf("%s is %s", ours, theirs)
		}
	}
	if schemaURL != semconv.SchemaURL || invokeAgent != semconv.GenAIOperationNameInvokeAgent.Value.AsString() || invokeWorkflow != semconv.GenAIOperationNameInvokeWorkflow.Value.AsString() {
		t.Error("the schema or an operation differs")
	}
}

// TestEnvironment makes tracers as the variables say.
func TestEnvironment(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for name, c := range map[string]struct {
		env   map[string]string
		on    bool
		fails string // variable that the error names
	}{
		"nothing":             {nil, false, ""},
		"an endpoint":         {map[string]string{endpoint: "http://127.0.0.1:1"}, true, ""},
		"the default address": {map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, true, ""},
		"no exporter":         {map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"}, false, ""},
		"disabled":            {map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}, false, ""},
		"another exporter":    {map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"}, false, "OTEL_TRACES_EXPORTER"},
		"another protocol":    {map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, "OTEL_EXPORTER_OTLP_PROTOCOL"},
		"an address":          {map[string]string{endpoint: "127.0.0.1:4318"}, false, endpoint},
		"wrong headers":       {map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_HEADERS": "secret"}, false, "OTEL_EXPORTER_OTLP_HEADERS"},
		"a wrong time":        {map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TIMEOUT": "10s"}, false, "OTEL_EXPORTER_OTLP_TIMEOUT"},
		"a missing file":      {map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_CERTIFICATE": "none.pem"}, false, "OTEL_EXPORTER_OTLP_CERTIFICATE"},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			tr, err := FromEnvironment(t.Context(), Config{})
			if tr != nil {
				if err := tr.Close(); err != nil {
					t.Error(err)
				}
			}
			if (tr != nil) != c.on || (err != nil) != (c.fails != "") {
				t.Fatalf("%v, %v", tr, err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "secret")) {
				t.Error(err)
			}
		})
	}
}

// granted is a decision with a reason, and the turn that it grants.
var granted = coordinator.Commit{Room: "r_1", Events: []room.Event{{
	At: time.Now(), Body: room.TurnGranted{Turn: 1, Participant: "a", Reason: "REASON", Record: &policy.Record{Policy: "p"}},
}}}

// TestReasons sends the spans of a decision, without and with its reason. The collector
// has a path of its own, and its certificate.
func TestReasons(t *testing.T) {
	for value, want := range map[string]bool{"": false, "true": true} {
		var paths []string
		var body strings.Builder
		web := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			paths = append(paths, r.URL.Path)
			_, _ = io.Copy(&body, r.Body) // an empty body fails the test
		}))
		defer web.Close()
		file := filepath.Join(t.TempDir(), "collector.pem")
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", web.URL+"/own/path")
		t.Setenv("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", file)
		t.Setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value)
		tr, err := FromEnvironment(t.Context(), Config{})
		if err != nil {
			t.Fatal(err)
		}
		tr.Committed(granted)
		if err := tr.Close(); err != nil { // ends what is open
			t.Fatal(err)
		}
		if len(paths) != 1 || paths[0] != "/own/path" || strings.Contains(body.String(), "REASON") != want || !strings.Contains(body.String(), "invoke_agent a") {
			t.Errorf("%v %q", paths, body.String())
		}
	}
}

// TestRefused sends spans to collectors that refuse them: by a status that does not
// change, and by a redirect, which is not followed.
func TestRefused(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusFound} {
		asked := 0
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		}))
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", web.URL)
		c, err := newCollector()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.UploadTraces(t.Context(), nil); err == nil || asked != 1 {
			t.Errorf("%d: %v after %d requests", status, err, asked)
		}
		web.Close()
	}
}

// TestNoCollector sends spans to an address without a collector until its time is over.
// The error does not have the address, which may have a password.
func TestNoCollector(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:secret@127.0.0.1:1")
	c, err := newCollector()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.UploadTraces(ctx, nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
