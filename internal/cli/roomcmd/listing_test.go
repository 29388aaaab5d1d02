package roomcmd

import (
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/delivery"
)

// TestListings compares the tables of messages and calls with what they are without a
// terminal, and in terminals of different widths. No line is wider than its terminal,
// and no control sequence of an agent comes through.
func TestListings(t *testing.T) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.Local)
	messages := []api.Delivery{
		{ID: "m1", Seq: 7, From: "lead", To: "dba", Kind: "intent_brief", RequiresAck: true, State: delivery.Delivered, At: at, Preview: "Add the column to the table of orders, and fill it."},
		{ID: "m2", Seq: 12, From: "lead", To: "dba", Kind: "utterance", State: delivery.Held, Reason: "over 6 messages a minute from lead to dba", At: at, Preview: "red\x1b[31m text"},
		{ID: "m3", Seq: 13, From: "dba", To: "lead", Kind: "decision", State: delivery.Refused, At: at},
	}
	made := []madeCall{{
		Call: calls.Call{ID: "c1", Agent: "dba", Caller: "lead", State: calls.Completed, Task: "Check the index", Result: &calls.Result{Tokens: 1200, Duration: 3.44, Tools: []string{"read", "search"}}},
		Calls: []madeCall{
			{Call: calls.Call{ID: "c1", Agent: "tester", Caller: "dba", State: calls.Failed, Task: "Test it", Result: &calls.Result{Tokens: 30, Estimated: true, Errors: []string{"the agent's process has ended"}}}},
		},
	}, {Call: calls.Call{ID: "c3", Agent: "dba", Caller: "lead", State: calls.InputRequired, Asked: "lead", Task: "Ask"}}}
	for _, c := range []struct {
		columns  int
		messages string
		calls    string
	}{
		{0, `
#   FROM  TO    KIND          STATE                  SINCE            MESSAGE
7   lead  dba   intent_brief  delivered, no ack yet  Nov 23 12:00:00  Add the column to the table of orders, and fill it.
12  lead  dba   utterance     held                   Nov 23 12:00:00  (over 6 messages a minute from lead to dba) red text
13  dba   lead  decision      refused                Nov 23 12:00:00
`, `
CALL  AGENT   CALLER  STATE                   TOKENS  SECONDS  TOOLS         TASK
c1    dba     lead    completed               1200    3.4      read, search  Check the index
  c1  tester  dba     failed                  ~30     0.0      -             (the agent's process has ended) Test it
c3    dba     lead    input_required of lead  -       -        -             Ask
`},
		{100, `
#   FROM  TO    KIND          STATE                  SINCE            MESSAGE
7   lead  dba   intent_brief  delivered, no ack yet  Nov 23 12:00:00  Add the column to the table o…
12  lead  dba   utterance     held                   Nov 23 12:00:00  (over 6 messages a minute fro…
13  dba   lead  decision      refused                Nov 23 12:00:00
`, `
CALL  AGENT   CALLER  STATE                   TOKENS  SECONDS  TOOLS         TASK
c1    dba     lead    completed               1200    3.4      read, search  Check the index
  c1  tester  dba     failed                  ~30     0.0      -             (the agent's process h…
c3    dba     lead    input_required of lead  -       -        -             Ask
`},
		{40, `
7 lead dba intent_brief
  delivered, no ack yet Nov 23 12:00:00
  Add the column to the table of orders…
12 lead dba utterance held
  Nov 23 12:00:00
  (over 6 messages a minute from lead t…
13 dba lead decision refused
  Nov 23 12:00:00
`, `
c1 dba lead completed 1200 3.4
  read, search
  Check the index
  c1 tester dba failed ~30 0.0 -
  (the agent's process has ended) Test …
c3 dba lead input_required of lead - - -
  Ask
`},
	} {
		for name, write := range map[string]func(*strings.Builder) error{
			c.messages: func(b *strings.Builder) error { return deliveryTable.write(b, c.columns, messages) },
			c.calls:    func(b *strings.Builder) error { return callTable.write(b, c.columns, flat(made, 0)) },
		} {
			var b strings.Builder
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			if want := strings.TrimPrefix(name, "\n"); b.String() != want {
				t.Errorf("%d columns:\n%s\nwant\n%s", c.columns, b.String(), want)
			}
			for line := range strings.Lines(b.String()) {
				if n := len([]rune(line)) - 1; c.columns > 0 && n > c.columns {
					t.Errorf("%d columns: a line of %d: %s", c.columns, n, line)
				}
			}
		}
	}
}
