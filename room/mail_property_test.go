package room_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/invariant"
)

// A mailbox is what the test knows of one message to one participant, from the events
// alone.
type mailbox struct {
	seq           int64
	needsAck      bool
	handed, acked bool // it stood in an answered prompt; its receiver acknowledged it
	dead          bool
	attempts      map[int]bool
}

// mailTest runs random traffic between a manager and two workers.
type mailTest struct {
	*rapid.T
	s     room.State
	log   []room.Event
	clock time.Duration
	boxes map[string]*mailbox // by message and receiver
	order map[string][]string // messages to each receiver in the order of the log
	curs  map[string]int64
	n     int
	rules *invariant.Checker
}

// TestMailProperties checks invariants C1 to C9 of messages between participants after
// every step of random traffic with restarts: nothing is lost or acknowledged twice,
// the cursors only grow, and no message is delivered that was in no answered prompt.
func TestMailProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &mailTest{T: rt, rules: invariant.New(), boxes: map[string]*mailbox{}, order: map[string][]string{}, curs: map[string]int64{}}
		spec := room.Spec{Room: "r", Objective: "x", Secret: "s", OnRestart: room.RestartContinue}
		spec.Limits.MaxTurns, spec.Limits.AckTimeout, spec.Limits.MaxInternal, spec.Limits.SameText = 10_000, time.Minute, 1000, 1000
		spec.Limits.MaxDuration = 1000 * time.Hour
		spec.Context = room.Context{Tokens: rapid.SampledFrom([]int{8, 30, 8000}).Draw(rt, "tokens"), SummaryTokens: 10}
		seats := []room.Participant{
			{ID: "m", Kind: policy.Local, Role: "manager", Mode: room.FullAuto},
			{ID: "w", Kind: policy.Local, Role: "worker", Mode: room.FullAuto, Remembers: true},
			{ID: "s", Kind: policy.Local, Role: "specialist:db", Mode: room.FullAuto},
			{ID: "me", Kind: policy.Human},
		}
		m.do(room.ActorHost, room.Open{Spec: spec, Participants: seats})
		m.do(room.ActorRoom, room.Claim{Owner: "t"})
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			m.step()
			m.check()
		}
	})
}

func (m *mailTest) step() {
	seat := rapid.SampledFrom([]string{"m", "w", "s"}).Draw(m.T, "seat")
	switch rapid.SampledFrom([]string{"post", "post", "post", "turn", "turn", "ack", "ack", "forget", "restart", "wait", "mute", "repeat", "foreign"}).Draw(m.T, "what") {
	case "post":
		m.post(seat)
	case "turn":
		m.turn(seat)
	case "ack":
		if p := m.s.Mail.Deliveries.Pending(seat); len(p) > 0 {
			m.do(seat, room.Ack{Message: rapid.SampledFrom(p).Draw(m.T, "message").Message})
		}
	case "forget":
		m.do(room.ActorRoom, room.Forgot{Participant: seat})
	case "restart":
		m.restart()
	case "wait":
		m.clock += rapid.SampledFrom([]time.Duration{time.Second, 31 * time.Second, time.Minute}).Draw(m.T, "time")
		m.do(room.ActorRoom, room.Tick{})
	case "mute":
		m.do("me", room.SetStanding{Participant: seat, Standing: rapid.SampledFrom([]room.Standing{room.Muted, room.Active}).Draw(m.T, "standing")})
	case "repeat":
		for _, e := range m.log {
			if b, ok := e.Body.(room.MessagePosted); ok && strings.HasPrefix(b.Message.ID, "id") {
				again := b.Message
				if evs, err := m.s.Decide(room.Command{Actor: again.From, Do: room.Posted{Message: again}}, m.now()); err == nil && len(evs) > 0 && room.Refusal(evs) == nil {
					m.Fatalf("C7: %s was posted twice", again.ID)
				}
				return
			}
		}
	case "foreign":
		for key, x := range m.boxes {
			id, to, _ := strings.Cut(key, " ")
			other := map[string]string{"m": "w", "w": "s", "s": "m"}[to]
			if m.boxes[id+" "+other] != nil || x == nil {
				continue
			}
			if _, err := m.s.Decide(room.Command{Actor: other, Do: room.Ack{Message: id}}, m.now()); err == nil {
				m.Fatalf("C4: %s acknowledged %s, which was to %s", other, id, to)
			}
		}
	}
}

func (m *mailTest) post(seat string) {
	m.n++
	msg := room.Message{
		ID: fmt.Sprintf("id%d", m.n), Kind: "utterance", To: rapid.SampledFrom([]string{"m", "w", "s", "me", room.Broadcast}).Draw(m.T, "to"),
		Text: strings.Repeat("x", rapid.IntRange(1, 60).Draw(m.T, "length")), RequiresAck: rapid.Bool().Draw(m.T, "ack"),
		Priority: rapid.SampledFrom([]string{"", "high", "low"}).Draw(m.T, "priority"),
	}
	if seat == "m" {
		msg.Kind = rapid.SampledFrom([]string{"utterance", "decision", "status_check"}).Draw(m.T, "kind")
	}
	m.do(seat, room.Posted{Message: msg})
}

// turn grants a turn and ends it with a reply, a failure or a pass.
func (m *mailTest) turn(seat string) {
	rec := policy.Record{Decision: m.s.Policy.Decision + 1, Through: m.s.Seq}
	m.n++
	m.do(room.ActorPolicy, room.Decided{Decision: policy.Speak(seat, "go"), Record: rec, Grant: room.Grant{Request: fmt.Sprint("q", m.n), Window: m.s.WindowFor(seat)}})
	if m.s.Turn == nil {
		return
	}
	for rapid.IntRange(0, 2).Draw(m.T, "meanwhile") == 0 {
		m.post(rapid.SampledFrom([]string{"m", "w", "s"}).Draw(m.T, "poster"))
	}
	end := room.Replied{Turn: m.s.Turn.Number, Participant: seat, Request: m.s.Turn.Request, Reply: endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprint("reply ", m.n)}}
	switch rapid.SampledFrom([]string{"said", "passed", "failed", "restart"}).Draw(m.T, "end") {
	case "said":
		m.do(seat, end)
	case "passed":
		end.Outcome, end.Text = endpoint.Passed, ""
		m.do(seat, end)
	case "failed":
		m.do(seat, room.Failed{Turn: end.Turn, Request: end.Request, Code: room.FailAgent, Error: "no"})
	case "restart":
		m.restart()
	}
}

// restart folds the log into a new state, as a process does that finds it.
func (m *mailTest) restart() {
	m.s = room.State{}
	for _, e := range m.log {
		b, err := room.MarshalEvent(e)
		if err != nil {
			m.Fatal(err)
		}
		back, err := room.UnmarshalEvent(b)
		if err != nil {
			m.Fatal(err)
		}
		m.s.Apply(back)
	}
	m.do(room.ActorRoom, room.Claim{Owner: "t", Restart: true})
	if m.s.Phase == room.PhasePaused {
		m.do("me", room.Resume{})
	}
}

func (m *mailTest) now() room.Now { return room.Now{Wall: time.Unix(1_800_000_000, 0), Clock: m.clock} }

// do gives a command and learns from its events.
func (m *mailTest) do(actor string, act room.Act) {
	open := m.s.Turn
	cmd := room.Command{Actor: actor, Do: act}
	evs, err := m.s.Decide(cmd, m.now())
	for _, b := range m.rules.Decided(cmd, &m.s, evs, err) {
		m.Fatalf("%T: %v", act, b)
	}
	if err != nil {
		return
	}
	for _, e := range evs {
		m.s.Apply(e)
		for _, b := range m.rules.Applied(e, &m.s) {
			m.Fatalf("%T: %v", act, b)
		}
		m.log = append(m.log, e)
		m.learn(e, open)
		if m.s.Phase == room.PhaseCompleted || m.s.Phase == room.PhaseError {
			m.SkipNow()
		}
	}
}

func (m *mailTest) learn(e room.Event, open *room.Turn) {
	switch b := e.Body.(type) {
	case room.MessagePosted:
		for _, to := range []string{"m", "w", "s", "me"} {
			if to == b.Message.To || slices.Contains(b.Message.Receivers, to) {
				m.boxes[b.Message.ID+" "+to] = &mailbox{seq: e.Seq, needsAck: b.Message.RequiresAck, attempts: map[int]bool{}}
				m.order[to] = append(m.order[to], b.Message.ID)
			}
		}
		if open != nil && b.Turn == open.Number {
			m.answered(open)
		}
	case room.TurnPassed:
		m.answered(open)
	case room.MessageAcked:
		x := m.boxes[b.Message+" "+b.Participant]
		if x == nil || x.acked {
			m.Fatalf("C4: %+v of %+v", b, x)
		}
		x.acked = true
	case room.AckMissed:
		x := m.boxes[b.Message+" "+b.Participant]
		if x == nil || !x.needsAck || x.acked || x.attempts[b.Attempt] || b.Attempt > 3 {
			m.Fatalf("C6: %+v of %+v", b, x)
		}
		x.attempts[b.Attempt] = true
	case room.MessageDead:
		if x := m.boxes[b.Message.ID+" "+b.Participant]; x != nil && b.Target != 0 {
			if len(x.attempts) != 3 {
				m.Fatalf("C6: dead after %d attempts", len(x.attempts))
			}
			x.dead = true
		}
	}
}

func (m *mailTest) answered(t *room.Turn) {
	for _, id := range m.order[t.Participant] {
		if x := m.boxes[id+" "+t.Participant]; t.Window.Holds(x.seq) {
			x.handed = true
		}
	}
}

func (m *mailTest) check() {
	l := &m.s.Mail.Deliveries
	for to, ids := range m.order {
		at := l.Cursor(to)
		if at < m.curs[to] || at > m.s.Seq {
			m.Fatalf("C1: the cursor of %s goes from %d to %d", to, m.curs[to], at)
		}
		m.curs[to] = at
		var waits []string
		for _, id := range ids {
			x, d := m.boxes[id+" "+to], l.Find(id, to)
			if d == nil {
				m.Fatalf("%s to %s is lost", id, to)
			}
			m.checkState(to, id, x, d)
			if !d.Settled() {
				waits = append(waits, id)
			}
			if !d.Settled() && x.seq <= at {
				m.Fatalf("C1: the cursor of %s, %d, is past %s at %d, which is %s", to, at, id, x.seq, d.State)
			}
		}
		var pulled []string
		for _, d := range l.Pending(to) {
			pulled = append(pulled, d.Message)
		}
		if !slices.Equal(pulled, waits) {
			m.Fatalf("C2: %s pulls %v, and %v wait", to, pulled, waits)
		}
		m.checkWindow(to)
	}
}

func (m *mailTest) checkState(to, id string, x *mailbox, d *delivery.Delivery) {
	want := []delivery.State{delivery.Queued, delivery.Held} // the rate between two agents holds some
	switch {
	case x.dead:
		want = []delivery.State{delivery.Expired}
	case x.acked:
		want = []delivery.State{delivery.Acked}
	case to == "me":
		want = []delivery.State{delivery.Posted}
	case x.handed && x.needsAck: // after a restart or a missed acknowledgement it is queued again
		want = []delivery.State{delivery.Delivered, delivery.Queued}
	case x.handed:
		want = []delivery.State{delivery.Delivered}
	}
	if !slices.Contains(want, d.State) {
		m.Fatalf("%s to %s is %s, want %v: %+v", id, to, d.State, want, x)
	}
}

// checkWindow checks that the next prompt of a seat holds what waits for it, as far as
// there is space, and the first of it always.
func (m *mailTest) checkWindow(to string) {
	if to == "me" || m.s.Turn != nil {
		return
	}
	w := m.s.WindowFor(to)
	queued := m.s.Mail.Deliveries.Queued(to)
	for _, d := range queued {
		if w.Holds(d.Seq) == slices.Contains(w.Kept, d.Seq) {
			m.Fatalf("%s to %s is neither held nor kept by %+v, or both", d.Message, to, w)
		}
	}
	if len(queued) > 0 && len(w.Kept) == len(queued) {
		m.Fatalf("the window of %s holds nothing that waits: %+v", to, w)
	}
}
