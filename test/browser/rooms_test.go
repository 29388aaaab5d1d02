package browser

import (
	"fmt"
	"strings"
	"testing"
)

// rooms are rooms in every state that a page shows, by the state.
type rooms struct {
	served
	agents *agents
	ids    map[string]string
	speak  chan struct{} // closed when the agent of the live room goes on
}

// everyRoom creates a room in each state.
func everyRoom(t *testing.T) rooms {
	t.Helper()
	r := rooms{serve(t), newAgents(t), map[string]string{}, make(chan struct{})}
	r.live()
	r.draft()
	r.permission()
	r.paused()
	r.limited()
	r.completed()
	r.pair()
	r.readers()
	r.empty()
	return r
}

// create creates a room of agents, which are named KIND.ID:MODE, such as
// "live.dba:full_auto", and Ana.
func (r rooms) create(state, objective, policy, more string, agents ...string) string {
	r.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "version: room/v1\nname: %s\nobjective: %q\npolicy: {use: %s}\nparticipants:\n  - {id: ana, name: Ana, kind: human}\n", state, objective, policy)
	for _, a := range agents {
		name, mode, _ := strings.Cut(a, ":")
		id, fields, _ := strings.Cut(mode, " ")
		mode = id
		fmt.Fprintf(&b, "  - {id: %s, name: %s, mode: %s, %s endpoint: %s}\n", strings.ToLower(name), name, mode, fields, r.agents.endpoint(state+"."+strings.ToLower(name)))
	}
	b.WriteString(more)
	id := r.room(b.String())
	r.ids[state] = id
	return id
}

// ready waits until the agents of a room have started.
func (r rooms) ready(id string) {
	r.t.Helper()
	r.until(id, func(v view) bool {
		for _, m := range v.Members {
			if m.Phase == "starting" {
				return false
			}
		}
		return true
	})
}

func (r rooms) say(id, text string) {
	r.t.Helper()
	r.do(id, map[string]any{"do": "say", "as": "ana", "text": text})
}

const objective = "Decide whether migration 0042 can be deployed on Friday, and what has to change first."

// live is a room in the middle of a turn, after three others.
func (r rooms) live() {
	state := "migration-review"
	id := r.create(state, objective, "mention", "  - {id: reviewer, name: Reviewer, endpoint: {kind: session}}\nlimits: {maxTokens: 200000, maxDuration: 15m, turnTimeout: 10m}\n",
		"Codebase:full_auto role: Reads the code,", "DBA:full_auto role: Knows the database, domains: [index],", "Security:full_auto owner: sam.example,")
	r.ready(id)
	r.agents.on(state+".codebase", func(t *turn) {
		t.use("read", "read db/migrations/0042.sql", map[string]any{"locations": []map[string]string{{"path": "db/migrations/0042.sql"}}})
		t.say("Migration 0042 adds `customer_email` to orders, fills it from customers, and puts a unique index on it. The table has 80 million rows, and **everything runs in one transaction**.\n\n@DBA, how long are writes blocked while the index is built?")
		t.states(3120, 470)
	})
	r.agents.on(state+".dba", func(t *turn) {
		t.say("As written: about 40 seconds, at peak. Built concurrently: none, but then it has to leave the transaction:\n\n```sql\nCREATE UNIQUE INDEX CONCURRENTLY orders_email ON orders (customer_email);\n```\n\n| step | blocks writes |\n|---|---|\n| add the column | no |\n| fill it at once | 12 min |\n| fill it in batches | no |\n\n@Security, does a second copy of the address change anything for you?")
		t.states(4070, 594)
	})
	r.agents.says(state+".security", "It does: every erasure request would have to reach orders too. Keep a keyed hash instead of the address. Lookups stay exact, and there is nothing to erase.")
	r.agents.on(state+".codebase", func(t *turn) {
		t.waits(r.speak)
		t.say("One plan, both points in it:\n\n1. add `orders.email_hash`, empty\n2. fill it in batches of 10,000, oldest rows first\n3. build the index concur")
		<-t.ctx.Done()
	})
	r.say(id, "@Codebase, please walk us through migration 0042. It is planned for Friday.")
	r.until(id, func(v view) bool { return v.Turn == 3 && v.Tally["turns"] == 3.0 && v.phase("security") == "idle" })
	r.say(id, "@Codebase, put it into one plan.")
	r.until(id, func(v view) bool { return v.phase("codebase") == "thinking" })
}

// phase returns the phase of a seat.
func (v view) phase(id string) string {
	for _, m := range v.Members {
		if m.ID == id {
			return m.Phase
		}
	}
	return ""
}

// draft is a room in which a draft waits.
func (r rooms) draft() {
	id := r.create("api-security", "Find out whether tokens of the API can leak through logs.", "roundrobin", "limits: {draftTimeout: 10m}\n", "Codebase:manual", "Auditor:manual")
	r.ready(id)
	r.agents.says("api-security.codebase", "The middleware logs the header `Authorization` when a request fails. I propose to log its last four characters only:\n\n- `logging.go:41` redacts it\n- a test posts a wrong token and reads the log")
	r.say(id, "Start with the middleware.")
	r.until(id, func(v view) bool { return v.Draft != nil })
}

// permission is a room in which an agent asks for a permission.
func (r rooms) permission() {
	id := r.create("release-notes", "Write the notes of release 2.4.", "roundrobin", "limits: {permissionTimeout: 10m}\n", "Writer:full_auto", "Editor:full_auto")
	r.ready(id)
	r.agents.on("release-notes.writer", func(t *turn) {
		t.say("I read the commits since 2.3 first.")
		t.ask("execute", "git log --oneline v2.3..HEAD", map[string]any{"rawInput": map[string]any{"command": "git log --oneline v2.3..HEAD"}})
		t.say("Thank you.")
	})
	r.say(id, "Please begin.")
	r.until(id, func(v view) bool { return len(v.Ask) > 0 })
}

// paused is a room that a person has paused, and in which many rounds were declined.
func (r rooms) paused() {
	id := r.create("on-call", "Find the cause of the latency of checkout.", "mention", "limits: {declineRetry: 100ms, maxDeclines: 60}\n", "Metrics:full_auto", "Traces:full_auto")
	r.ready(id)
	r.agents.says("on-call.metrics", "p99 of checkout rose from 180 ms to 900 ms at 13:40. Nothing else changed.")
	r.say(id, "@Metrics, what do you see?")
	r.until(id, func(v view) bool { return v.declines() > 5 })
	r.do(id, map[string]any{"do": "pause", "as": "ana", "reason": "until the traces are there"})
}

func (v view) declines() float64 {
	n, _ := v.Tally["declines"].(float64)
	return n
}

// limited is a room that a limit has stopped.
func (r rooms) limited() {
	id := r.create("naming", "Choose a name for the new service.", "roundrobin", "limits: {maxTurns: 2}\n", "Iris:full_auto", "Otto:full_auto")
	r.agents.says("naming.iris", "I propose **Harbour**.")
	r.agents.on("naming.otto", func(t *turn) { t.fail("the model is overloaded") })
	r.agents.says("naming.otto", "Harbour is taken.")
	r.say(id, "Three proposals, please.")
	r.until(id, func(v view) bool { return v.Phase == "stopped" })
}

// completed is a room that a person has completed.
func (r rooms) completed() {
	id := r.create("holiday-rota", "Agree on who is on call in December.", "roundrobin", "", "Rota:full_auto")
	r.agents.says("holiday-rota.rota", "Ana has the first half, Ben the second.")
	r.say(id, "How do we split December?")
	r.until(id, func(v view) bool { return v.Tally["turns"] == 1.0 })
	r.do(id, map[string]any{"do": "complete", "as": "ana", "reason": "agreed"})
}

// pair is a one-to-one room.
func (r rooms) pair() {
	id := r.create("pair", "Plan a day in Lisbon within 120 euros.", "alternate", "oneToOne: true\n", "Mine:full_auto", "Theirs:full_auto owner: sam.example,")
	r.ready(id)
	r.agents.says("pair.mine", "Morning in Alfama, on foot: free. Lunch for 15 euros?")
	r.agents.on("pair.theirs", func(t *turn) { <-t.ctx.Done() })
	r.say(id, "Begin with the morning.")
	r.until(id, func(v view) bool { return v.phase("theirs") == "thinking" })
}

// readers is a room with messages that not everybody reads.
func (r rooms) readers() {
	id := r.create("contract", "Agree on the terms of the support contract.", "mention", "limits: {maxDeclines: 1000}\n", "Legal:full_auto", "Sales:full_auto")
	r.ready(id)
	r.do(id, map[string]any{"do": "say", "as": "ana", "text": "Our lowest price is 40,000 a year.", "visibility": "user_redacted"})
	r.do(id, map[string]any{"do": "say", "as": "ana", "to": "legal", "text": "Which clause limits the liability?", "visibility": "internal"})
	r.do(id, map[string]any{"do": "say", "as": "ana", "to": "sales", "text": "Do not offer a discount yet.", "visibility": "internal"})
	r.say(id, "What do we offer?")
	var posted struct{ Messages []struct{ Seq int64 } }
	r.say(id, "The customer's name is Example Corp.")
	r.call("GET", "/api/rooms/"+id+"/messages", "", &posted)
	r.do(id, map[string]any{"do": "redact", "as": "ana", "event": posted.Messages[len(posted.Messages)-1].Seq, "reason": "a name"})
}

// empty is a room in which nothing was said.
func (r rooms) empty() {
	r.ready(r.create("empty", "A room to begin with.", "mention", "limits: {maxDeclines: 1000}\n", "Helper:manual"))
}
