package a2a_test

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/folkmoot/moot/endpoints/a2a"
	"github.com/folkmoot/moot/endpoints/endpointtest"
)

// TestConformance runs the suite of all endpoints, with an agent that streams and
// with one that does not. An A2A agent is no process, cannot bid, raise messages or
// state its usage: those cases are skipped.
func TestConformance(t *testing.T) {
	for name, streams := range map[string]bool{"streamed": true, "whole": false} {
		t.Run(name, func(t *testing.T) { endpointtest.Run(t, opener(streams)) })
	}
}

// TestDocumentedAbilities compares docs/agents.md with the suite.
func TestDocumentedAbilities(t *testing.T) {
	endpointtest.Documented(t, "../../docs/agents.md", "a2a", opener(true))
}

func opener(streams bool) endpointtest.Opener {
	return func(t *testing.T, s endpointtest.Scenario) endpointtest.Endpoint {
		if s == endpointtest.Deaf {
			e := a2a.New(a2a.Config{URL: deaf(t)})
			t.Cleanup(func() { e.Close() })
			return e
		}
		behave := behaviour(s, streams)
		if behave == nil || strings.HasSuffix(t.Name(), "/hangs") { // that case expects the end of a process
			return nil
		}
		var calls atomic.Int64
		return serve(t, streams, func(w *writer, c call) { behave(w, c, calls.Add(1) == 1) }).open(t)
	}
}

// behaviour returns what an agent does in a scenario, nil for one that it cannot
// have.
func behaviour(s endpointtest.Scenario, streams bool) func(w *writer, c call, first bool) {
	broken := func(do func(*writer)) func(*writer, call, bool) {
		return func(w *writer, c call, first bool) {
			if first {
				do(w)
				return
			}
			echo(w, c)
		}
	}
	switch s {
	case endpointtest.Echo:
		return func(w *writer, c call, _ bool) { echo(w, c) }
	case endpointtest.Refuses:
		return broken(func(w *writer) { w.results(task("REJECTED", "not mine", "")) })
	case endpointtest.Errors:
		return broken(func(w *writer) { w.fails(-32603, "out of order") })
	case endpointtest.Hang, endpointtest.Stubborn:
		return func(w *writer, c call, _ bool) {
			switch c.Method {
			case "CancelTask":
				w.results(bare("CANCELED", "", ""))
			case "GetTask":
				w.hang()
			default:
				w.results(task("WORKING", "working", ""))
				if streams {
					w.hang()
				}
			}
		}
	case endpointtest.Noisy:
		return func(w *writer, c call, _ bool) {
			if streams {
				w.begin()
				_, _ = w.Write([]byte(": a comment\r\n\r\nevent: chunk\r\nid: 5\n\n\n"))
			} else {
				_, _ = w.Write([]byte("\r\n \t"))
			}
			echo(w, c)
		}
	case endpointtest.Flooding:
		return broken(func(w *writer) { _, _ = w.Write([]byte(strings.Repeat("noise\n", 1000))) })
	case endpointtest.Torn:
		return broken(func(w *writer) { _, _ = w.Write([]byte(`data: {"jsonrpc":"2.0","resu`)) })
	case endpointtest.Oversize:
		return broken(func(w *writer) { w.results(message(strings.Repeat("x", 1001))) })
	case endpointtest.Overlong:
		return broken(func(w *writer) { w.results(message(strings.Repeat("x", 9<<20))) })
	}
	return nil
}

// echo answers with what the suite expects, and keeps to the limits of its prompts.
func echo(w *writer, c call) {
	text := endpointtest.Answer(endpointtest.Newest(c.Params.Message.Parts[0].Text))
	w.results(message(text[:min(len(text), 1000)]))
}

// deaf returns the URL of a server that accepts connections and never reads.
func deaf(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String()
}
