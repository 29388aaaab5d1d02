package room

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/plan"
)

// two opens a room with the agents a and b and gives a the floor.
func two(t *testing.T) *State {
	t.Helper()
	s := &State{}
	spec := Spec{Room: "r1", Limits: Defaults(false), Agents: []Participant{{ID: "deaf", Kind: policy.Local}}}
	evs, err := s.Decide(Command{Do: Open{Spec: spec, Participants: []Participant{
		{ID: "a", Kind: policy.Local, Mode: FullAuto, Calls: CallsAsk}, {ID: "b", Kind: policy.Local, Mode: FullAuto}, {ID: "me", Kind: policy.Human},
	}}}, Now{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range evs {
		s.Apply(e)
	}
	s.Apply(Event{Seq: s.Seq + 1, Body: TurnGranted{Turn: 1, Participant: "a", Request: "q1"}})
	return s
}

// code returns the code of an error, "" without one.
func code(err error) string {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.Code
	}
	return ""
}

// TestMostPosts checks the bounds of what agents post in one turn and between turns.
func TestMostPosts(t *testing.T) {
	s := two(t)
	post := func(actor string) error {
		evs, err := s.Decide(Command{Actor: actor, Do: Posted{Message{Text: "x"}}}, Now{})
		return errors.Join(err, Refusal(evs))
	}
	for n, want := range map[int]string{maxTurnPosts - 1: "", maxTurnPosts: "ROOM-ASIDES"} {
		if s.Mail.TurnPosts = n; code(post("a")) != want {
			t.Errorf("after %d messages of the turn: %v", n, post("a"))
		}
	}
	for n, want := range map[int]string{s.Limits.MaxInternal - 1: "", s.Limits.MaxInternal: "ROOM-ASIDES"} {
		if s.seat("b").SideMessages = n; code(post("b")) != want {
			t.Errorf("after %d messages between turns: %v", n, post("b"))
		}
	}
}

// TestMostDeadLetters checks that a room records and lists so many dead letters, and
// tells the sender of the others only that they were refused.
func TestMostDeadLetters(t *testing.T) {
	s := two(t)
	bad := Command{Actor: "a", Do: Posted{Message{Text: "x", Kind: "gossip"}}}
	for n, want := range map[int]int{maxDead - 1: 1, maxDead: 0} {
		s.Mail.DeadCount = n
		evs, err := s.Decide(bad, Now{})
		if len(evs) != want || (err == nil) != (want == 1) {
			t.Errorf("after %d dead letters: %d events, %v", n, len(evs), err)
		}
	}
	if bodies, err := s.withDead(Message{}, errors.New("no code")); bodies != nil || err == nil {
		t.Errorf("an error without a code gives %v, %v", bodies, err)
	}
	if bodies, err := s.withDead(Message{}, nil); bodies != nil || err != nil {
		t.Errorf("a repetition gives %v, %v", bodies, err)
	}
	for n, kept := range map[int]bool{maxDeadCopy: true, maxDeadCopy + 1: false} {
		m := Message{Payload: policy.JSON(`{"a":"` + strings.Repeat("x", n-8) + `"}`)}
		if got := m.bounded(); (got.Payload != nil) != kept {
			t.Errorf("a copy keeps a payload of %d bytes: %t", n, !kept)
		}
	}
	for i := range listedDead + 1 {
		s.Apply(Event{Seq: s.Seq + 1, Body: MessageDead{Message: Message{ID: fmt.Sprint("d", i)}}})
	}
	if r, ok := s.Receipt("d1"); !ok || r.State != delivery.Refused {
		t.Errorf("the oldest letter of the list is %+v", r)
	}
	v := s.View(Internal).Mail
	if n := len(s.Mail.Dead); n != listedDead || s.Mail.Dead[0].Message.ID != "d1" || len(v.Letters) != viewedLetters || v.Letters[0].Message.ID != fmt.Sprint("d", listedDead+1-viewedLetters) {
		t.Errorf("%d dead letters are listed, %d shown", n, len(v.Letters))
	}
}

// TestDuesAtATime checks that one tick has at most so many events about deliveries.
func TestDuesAtATime(t *testing.T) {
	s := two(t)
	s.Limits.MaxAckAttempts = 99
	for i := range maxDuesAtATime + 1 {
		s.Mail.Deliveries.Add(delivery.Delivery{Message: fmt.Sprint("m", i), Seq: int64(i), From: "a", To: "b", RequiresAck: true, State: delivery.Delivered})
		s.Mail.Awaited = append(s.Mail.Awaited, Awaited{Message: fmt.Sprint("m", i), From: "a", To: "ghost"})
	}
	now := Now{Clock: s.Limits.AckTimeout}
	if n := len(s.decideDues(now)); n != maxDuesAtATime {
		t.Errorf("%d events about missed acknowledgements", n)
	}
	notices := s.idleNotices(now)
	if n := len(notices); n != maxDuesAtATime {
		t.Errorf("%d notices", n)
	}
	if last := notices[2].(MessagePosted).Message; last.ID != "r1.idle."+itoa(s.Seq+3) || last.Parent != "m2" {
		t.Errorf("the third is %+v", last)
	}
	if v := s.View(Internal).Mail; len(v.Deliveries) != maxDuesAtATime+1 {
		t.Errorf("%d deliveries are shown", len(v.Deliveries))
	}
	for i := range viewedDeliveries {
		s.Mail.Deliveries.Add(delivery.Delivery{Message: fmt.Sprint("n", i), To: "b", State: delivery.Queued})
	}
	if v := s.View(Internal).Mail; len(v.Deliveries) != viewedDeliveries || v.Deliveries[0].Message != "n0" {
		t.Errorf("%d deliveries are shown, from %+v", len(v.Deliveries), v.Deliveries[0])
	}
}

// TestHoldsByLaterClock checks that a message is held by the clock of the room if that of
// the host is behind.
func TestHoldsByLaterClock(t *testing.T) {
	s := two(t)
	for range s.Limits.PairBurst {
		s.countRates(Event{}, Message{From: "a", To: "b"})
	}
	s.Clock = time.Hour
	if until, why := s.hold(Message{From: "a", To: "b"}, Now{}); until != 0 {
		t.Errorf("held until %v: %s", until, why)
	}
	s.Clock = 0
	if until, _ := s.hold(Message{From: "a", To: "b"}, Now{}); until <= 0 {
		t.Error("not held at once")
	}
	if until, _ := s.hold(Message{From: "a", To: "b"}, Now{Clock: time.Hour}); until != 0 {
		t.Error("held after an hour")
	}
}

// TestMostCalls checks how many permissions for calls wait at a time, and in all, and
// how many ended calls are listed.
func TestMostCalls(t *testing.T) {
	s := two(t)
	ask := func() string {
		_, err := s.Decide(Command{Actor: "a", Do: CallAgents{Calls: []calls.Args{{Agent: "deaf", Task: "x"}}}}, Now{})
		return code(err)
	}
	for _, c := range []struct {
		open, asked int
		want        string
	}{
		{maxOpenRequests - 1, 0, ""},
		{maxOpenRequests, 0, "ROOM-PERMISSION"},
		{0, maxRequests - 1, ""},
		{0, maxRequests, "ROOM-PERMISSION"},
	} {
		if s.Turn.Requests, s.Turn.Asked = make([]PermissionRequest, c.open), c.asked; ask() != c.want {
			t.Errorf("%+v: %s", c, ask())
		}
	}
	s.Turn.Requests = nil
	for i := range keptCalls + 3 {
		c := Call{ID: fmt.Sprint("c", i), Caller: "a", Agent: "deaf", State: calls.Submitted}
		s.Apply(Event{Seq: s.Seq + 1, Body: CallStarted{c}})
		if i > 0 {
			s.Apply(Event{Seq: s.Seq + 1, Body: CallEnded{Call: c.ID, State: calls.Completed}})
		}
	}
	if n := len(s.Calls); n != keptCalls+1 || s.Calls[0].ID != "c0" || s.Calls[1].ID != "c3" {
		t.Errorf("%d calls are listed, %s and %s first", n, s.Calls[0].ID, s.Calls[1].ID)
	}
	s.Apply(Event{Seq: s.Seq + 1, Body: CallStarted{Call{ID: "more", Caller: "a", Agent: "deaf", State: calls.Submitted}}})
	if n := len(s.Calls); n != keptCalls+1 || s.Calls[1].ID != "c4" {
		t.Errorf("%d calls are listed, %s second", n, s.Calls[1].ID)
	}
}

// TestReturnedLists checks that a list of what a called agent gives back has each text
// once, and so many at most.
func TestReturnedLists(t *testing.T) {
	var list []string
	for i := range 2 * (maxReturned + 1) {
		list = appended(list, fmt.Sprint("tool ", i/2))
	}
	if len(list) != maxReturned || list[1] != "tool 1" || list[maxReturned-1] != fmt.Sprint("tool ", maxReturned-1) {
		t.Errorf("%d texts: %v", len(list), list)
	}
}

// TestPayloadForms checks which payloads are references and which are stored apart.
func TestPayloadForms(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	pad := func(n int) string {
		text := `{"sha256":"` + digest + `","bytes":9000`
		return text + strings.Repeat(" ", n-len(text)-1) + "}"
	}
	for payload, want := range map[string]bool{
		`{"sha256":"` + digest + `","bytes":8193}`:       true,
		`{"sha256":"` + digest + `","bytes":8192}`:       false,
		`{"sha256":"` + digest[1:] + `","bytes":9000}`:   false,
		`{"sha256":"` + digest + `","bytes":9000,"a":1}`: false,
		`{"sha256":"` + digest + `","bytes":"9000"}`:     false,
		pad(200): true,
		pad(201): false,
		"":       false,
	} {
		if ref, ok := (Message{Payload: policy.JSON(payload)}).PayloadRef(); ok != want || !ok && ref != (PayloadRef{}) {
			t.Errorf("%.60s is a reference: %t, %+v", payload, ok, ref)
		}
	}
	s := two(t)
	long := func(n int) policy.JSON { return policy.JSON(`{"a":"` + strings.Repeat("x", n-8) + `"}`) }
	if m, stored := s.withReference(Message{Payload: long(maxInline)}); stored != nil || len(m.Payload) != maxInline {
		t.Error("a payload of the largest size for a message is stored apart")
	}
	if m, stored := s.withReference(Message{Payload: long(maxInline + 1)}); len(stored) != 1 || len(m.Payload) > 200 {
		t.Error("a longer one is not")
	}
	if checkPayload(long(maxPayload)) != nil || checkPayload(long(maxPayload+1)) == nil {
		t.Error("the largest payload is refused, or a larger one is not")
	}
	for i := range maxStored + 2 {
		s.Apply(Event{Seq: int64(100 + i), Body: PayloadStored{Digest: fmt.Sprint(i), Payload: policy.JSON("{}")}})
	}
	if n := len(s.Mail.Payloads); n != maxStored || s.Mail.Payloads[0].Digest != "2" {
		t.Errorf("%d stored payloads are known, from %s", n, s.Mail.Payloads[0].Digest)
	}
}

// TestResolve checks that an id, or everybody, comes before a role of the same name.
func TestResolve(t *testing.T) {
	s := two(t)
	for role, want := range map[string]string{"a": "a", Broadcast: Broadcast, "dba": "b", "none": "dba"} {
		name := role
		if s.seat("b").Role = role; role == "none" {
			name = "dba"
		}
		if got := s.resolve(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// TestRefusal checks what the sender of a refused message is told, and that the dead
// letter of another message is not told.
func TestRefusal(t *testing.T) {
	expired := Event{Body: MessageDead{Target: 7, Code: "ROOM-ACK-EXPIRED"}}
	if err := Refusal([]Event{{Body: Resumed{}}, expired}); err != nil {
		t.Errorf("the end of another message refuses: %v", err)
	}
	err := Refusal([]Event{expired, {Body: MessageDead{Code: codeTaken, Reason: "it is taken", Fix: "choose another"}}})
	p, ok := errors.AsType[*problem.Error](err)
	if !ok || p.Code != codeTaken || p.What != "it is taken" || p.Fix != "choose another" || !errors.Is(err, ErrTaken) {
		t.Errorf("%+v", err)
	}
	if err := Refusal([]Event{{Body: MessageDead{Code: "ROOM-KIND"}}}); err == nil || errors.Is(err, ErrTaken) {
		t.Errorf("%+v", err)
	}
}

// TestDepthOfCalls checks that a seat's bound of depth counts from its own room.
func TestDepthOfCalls(t *testing.T) {
	s := two(t)
	x := s.seat("a")
	for _, c := range []struct {
		of        *CallOf
		own, want int
	}{
		{nil, 0, calls.MaxDepth},
		{nil, 2, 2},
		{nil, 9, calls.MaxDepth},
		{&CallOf{Depth: 2, MaxDepth: 4}, 0, 4},
		{&CallOf{Depth: 2, MaxDepth: 4}, 1, 3},
		{&CallOf{Depth: 2, MaxDepth: 4}, 9, 4},
		{&CallOf{Depth: 2, MaxDepth: 9}, 0, calls.MaxDepth},
	} {
		if s.Spec.Call, x.MaxSubAgentDepth = c.of, c.own; s.callDepth(x) != c.want {
			t.Errorf("%+v: %d", c, s.callDepth(x))
		}
	}
}

// TestRestOfSeat checks what is left for calls of a seat with a budget of its own.
func TestRestOfSeat(t *testing.T) {
	s := two(t)
	x := s.seat("a")
	s.Turn.Tokens, x.MaxTokens, x.Spent = 100, 1000, 250
	open := func(caller string, tokens int64) Call {
		return Call{ID: fmt.Sprint("c", len(s.Calls)+1), Caller: caller, State: calls.Working, Reserved: calls.Budget{Tokens: tokens}}
	}
	s.Calls = []Call{open("a", 50), open("b", 400), {Caller: "a", State: calls.Completed, Reserved: calls.Budget{Tokens: 7}}}
	for room, want := range map[int64]int64{0: 600, 1_000_000: 600, 1150: 600, 1149: 599, 650: 100, 551: 1, 550: 0} {
		if s.Limits.MaxTokens = room; s.callRest(x).Tokens != want {
			t.Errorf("of a room with %d tokens %d are left, want %d", room, s.callRest(x).Tokens, want)
		}
	}
	s.Limits.MaxCalls, s.Called, x.Budget.Room.Calls = 2, 3, 9 // a person has lowered the limit of the room
	if got := s.callRest(x).Calls; got > 0 {
		t.Errorf("%d calls are left, and the room has made more than its limit", got)
	}
	s.Limits.MaxTokens, s.Calls[0].Reserved.Tokens = 0, 9000
	if got := s.callRest(x).Tokens; got != 0 {
		t.Errorf("%d tokens are left of less than nothing", got)
	}
	s.Calls[0].Reserved.Tokens, x.Spent = 0, 2000
	if got := s.callRest(x).Tokens; got != 0 {
		t.Errorf("%d tokens are left of a budget that is used", got)
	}
}

// TestLimitsKeepReserved checks that a prompt does not take what is reserved for calls.
func TestLimitsKeepReserved(t *testing.T) {
	s := two(t)
	x := s.seat("a")
	x.Price.Input = 1_000_000
	s.Tally.Tokens, s.Tally.Cost = 50, 50
	s.Calls = []Call{{ID: "c1", State: calls.Working, Reserved: calls.Budget{Tokens: 30, Cost: 30}}}
	for _, c := range []struct {
		tokens, cost int64
		want         string
	}{{100, 0, ""}, {99, 0, "maxTokens"}, {0, 100, ""}, {0, 99, "maxCost"}} {
		s.Limits.MaxTokens, s.Limits.MaxCost = c.tokens, c.cost
		if stop := s.limitStop(x, Grant{Tokens: 20}, Now{}); (stop == nil) != (c.want == "") || stop != nil && stop.Name != c.want {
			t.Errorf("%+v: %+v", c, stop)
		}
	}
}

// TestCallsDue checks the instants at which waits and calls end.
func TestCallsDue(t *testing.T) {
	second := time.Second
	for _, c := range []struct {
		wait, now time.Duration
		canceling string
		ends      bool // the wait
		cancels   string
	}{
		{0, 5 * second, "", false, ""},
		{3 * second, 3*second - 1, "", false, ""},
		{3 * second, 3 * second, "", true, ""},
		{3 * second, 3 * second, "a person", true, ""},
		{9 * second, 9 * second, "", false, ""}, // until the end of the call
		{9 * second, 10*second - 1, "", false, ""},
		{9 * second, 10 * second, "", false, "no result within 8 s"},
		{3 * second, 10 * second, "", true, "no result within 8 s"},
		{9 * second, 99 * second, "a person", false, ""},
	} {
		s := two(t)
		s.Calls = []Call{{ID: "c1", State: calls.Working, Started: second, Timeout: 8 * second, WaitUntil: c.wait, Canceling: c.canceling}, {ID: "c2", State: calls.Completed, WaitUntil: 1}}
		got := s.callsDue(c.now)
		if (got != nil) != (c.ends || c.cancels != "") {
			t.Errorf("%+v: %+v", c, got)
			continue
		}
		if due := s.callDeadline(); (got != nil) != (c.now >= due) {
			t.Errorf("%+v: due at %v", c, due)
		}
		if got == nil {
			continue
		}
		b := got[0].(CallChanged)
		if (b.WaitUntil == 0) != (c.ends || c.wait == 0) || c.cancels != "" && b.Canceling != c.cancels || c.cancels == "" && b.Canceling != c.canceling {
			t.Errorf("%+v: %+v", c, b)
		}
	}
}

// TestShortenTasks checks that the last tasks are left out of an input, and that those
// of the state stay.
func TestShortenTasks(t *testing.T) {
	all := []policy.Task{{ID: "t1", Title: "one"}, {ID: "t2", Title: "two", After: []string{"t1"}}, {ID: "t3"}}
	size := maxTasksSize(all)
	for _, c := range []struct {
		left          int
		first, second int
	}{
		{2 * size, 3, 3},
		{2*size - 1, 3, 2},
		{size, 3, 0},
		{size - 1, 2, 0},
		{0, 0, 0},
	} {
		agents := []policy.Agent{{ID: "a", Tasks: all}, {ID: "b", Tasks: all}}
		shortenTasks(agents, c.left)
		if len(agents[0].Tasks) != c.first || len(agents[1].Tasks) != c.second || all[2].ID != "t3" {
			t.Errorf("of %d bytes: %d and %d tasks", c.left, len(agents[0].Tasks), len(agents[1].Tasks))
		}
	}
	in := policy.Input{Agents: []policy.Agent{{ID: "a", Tasks: slices.Repeat([]policy.Task{{ID: "t", Title: strings.Repeat("x", 1000)}}, 600)}}, Events: []policy.Event{{Seq: 1, Text: strings.Repeat("x", policy.MaxInput)}, {Seq: 2}}}
	if got := fitInput(in); len(got.Events) != 1 || len(got.Agents[0].Tasks) == 0 || maxTasksSize(got.Agents[0].Tasks) > maxTasks || maxTasksSize(got.Agents[0].Tasks) < maxTasks-7000 {
		t.Errorf("%d events, %d tasks", len(got.Events), len(got.Agents[0].Tasks))
	}
	many := State{}
	many.Plan.Tasks = slices.Repeat([]plan.Task{{ID: "t", Owner: "a", State: plan.Working}}, policy.MaxTasks+1)
	if n := len(many.tasksOf("a")); n != policy.MaxTasks {
		t.Errorf("the policy is given %d tasks", n)
	}
}
