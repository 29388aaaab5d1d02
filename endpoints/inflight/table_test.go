package inflight

import (
	"errors"
	"fmt"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

func begin(t *testing.T, tab *Table, id string) *Request {
	t.Helper()
	r, err := tab.Begin(t.Context(), endpoint.Prompt{Request: id})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTable follows requests through their states.
func TestTable(t *testing.T) {
	var tab Table
	a := begin(t, &tab, "a")
	if _, err := tab.Begin(t.Context(), endpoint.Prompt{Request: "b"}); !errors.Is(err, endpoint.ErrBusy) {
		t.Errorf("a second request: %v", err)
	}
	if !tab.Answer(a, Result{Reply: endpoint.Reply{Text: "x"}}) || tab.Answer(a, Result{}) || tab.Abandon(a) {
		t.Error("a request has more or less than one end")
	}
	if r := <-a.Result(); r.Reply.Text != "x" {
		t.Errorf("the result is %+v", r)
	}
	if _, err := tab.Begin(t.Context(), endpoint.Prompt{Request: "a"}); !errors.Is(err, ErrUsed) {
		t.Errorf("an id that was used: %v", err)
	}
	if s, left := tab.Late("a"); s != Answered || left != nil {
		t.Errorf("a second response: %v, %v", s, left)
	}
	b := begin(t, &tab, "b")
	b.Resent = 1
	if !tab.Abandon(b) || len(b.Result()) != 0 {
		t.Error("an abandoned request has a result")
	}
	if s, left := tab.Late("b"); s != Abandoned || left != b {
		t.Errorf("a late response: %v, %v", s, left)
	}
	<-b.Late
	if !tab.Repeated("b") || tab.Repeated("b") {
		t.Error("a request that was sent twice has other than two responses")
	}
	if s, _ := tab.Late("unknown"); s != Unknown || tab.Open() != nil {
		t.Errorf("an unknown request is %v, and %v is in flight", s, tab.Open())
	}
}

// TestTableIsBounded checks that the oldest requests are forgotten.
func TestTableIsBounded(t *testing.T) {
	var tab Table
	for i := range 2 * maxRecent {
		tab.Answer(begin(t, &tab, fmt.Sprint(i)), Result{})
	}
	if len(tab.recent) != maxRecent || tab.State("0") != Unknown || tab.State(fmt.Sprint(2*maxRecent-1)) != Answered {
		t.Errorf("%d requests are remembered", len(tab.recent))
	}
}
