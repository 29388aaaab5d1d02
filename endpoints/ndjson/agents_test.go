package ndjson_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/check"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/ndjson"
)

// TestAgentsOfTheNote checks that agents in shell and Python which know only the
// note meet all requirements except bids.
func TestAgentsOfTheNote(t *testing.T) {
	for _, command := range [][]string{{"sh", "echo.sh"}, {"python3", "echo.py"}} {
		t.Run(command[1], func(t *testing.T) {
			t.Parallel()
			need(t, command[0])
			err := check.Run(t.Context(), check.Config{
				Bid: unanswered, Exit: hangGuard,
				Open: func() (check.Endpoint, error) {
					e := ndjson.New(ndjson.Config{Command: command, Dir: "testdata/agents", Grace: hangGuard, Close: hangGuard})
					return e, e.Start(t.Context(), nil)
				},
				Report: func(r check.Result) {
					t.Logf("%-14s ok=%-5t %6s  %s", r.Name, r.OK, r.Took.Round(1e6), r.Detail)
					if r.OK == (r.Name == "bid") {
						t.Errorf("%s: ok is %t", r.Name, r.OK)
					}
				},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestUnansweredBids checks that an agent which leaves two bids unanswered is not
// asked for bids again, and that its turns go on.
func TestUnansweredBids(t *testing.T) {
	t.Parallel()
	need(t, "python3")
	e := ndjson.New(ndjson.Config{Command: []string{"python3", "echo.py"}, Dir: "testdata/agents"})
	defer e.Close()
	speak := func(kind string, n int) (endpoint.Reply, error) {
		timeout := time.Minute
		if kind == endpoint.Bid {
			timeout = 200 * time.Millisecond // the agent never answers
		}
		return e.Speak(t.Context(), endpoint.Prompt{
			Kind: kind, Request: fmt.Sprint(kind, n), CatchUp: []endpoint.Line{{From: "you", Text: "hello"}}, Timeout: timeout,
		}, nil)
	}
	if _, err := speak(endpoint.Turn, 9); err != nil { // wait for the start of the process
		t.Fatal(err)
	}
	for i := range 4 {
		r, err := speak(endpoint.Bid, i)
		if skipped := err == nil && r.Bid == nil; skipped != (i >= 2) {
			t.Errorf("bid %d: %+v and %v", i, r, err)
		}
		if r, err := speak(endpoint.Turn, i); err != nil || r.Text != "echo: hello" {
			t.Errorf("turn %d: %+v and %v", i, r, err)
		}
	}
}

// need skips the test if a program is missing. In CI the test fails.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is needed in CI: %v", program, err)
		}
		t.Skipf("%s is not installed here", program)
	}
}
