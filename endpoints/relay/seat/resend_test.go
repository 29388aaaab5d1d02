package seat

import (
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
)

// TestAnsweredRequestIsNotResent: the response and the news of a restart can
// arrive together. The second response to a request that was sent again after
// its response would be reported as a violation.
func TestAnsweredRequestIsNotResent(t *testing.T) {
	e := &Endpoint{}
	x, err := e.requests.Begin(t.Context(), endpoint.Prompt{Request: "req_1"})
	if err != nil {
		t.Fatal(err)
	}
	s := sender{seat: e, request: x}
	if !s.mayResend() {
		t.Error("a request in flight is not sent again")
	}
	e.requests.Answer(x, inflight.Result{})
	if s.mayResend() {
		t.Error("an answered request is sent again")
	}
	if !e.requests.Repeated("req_1") || e.requests.Repeated("req_1") {
		t.Error("one further response was due")
	}
}
