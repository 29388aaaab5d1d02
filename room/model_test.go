package room_test

import (
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A model states the rules of a room once more: the life of a turn, drafts,
// limits, pause and endings. It is naive and shares no code with the package. A
// command changes it step by step, and each step notes its event. TestModel
// gives the same commands to a model and to a room and compares the events.
type model struct {
	oneToOne, goesOn bool // room.Spec: OneToOne, OnRestart == RestartContinue
	limits           room.Limits
	phase            room.Phase
	cause            string
	degraded         bool // it settled without its work
	seq              int64
	clock            time.Duration
	seats            map[string]*modelSeat
	turn             *modelTurn
	tally            room.Tally
	decision         int64
	texts            []string        // of agents, normalised
	seen             map[string]bool // ids of commands and messages
	news, declinedAt int64           // events: the newest that the policy wants to know of, the last decline
	retryAt          time.Duration

	actor string
	now   time.Duration
	out   []room.Body
}

type modelSeat struct {
	room.Participant
	standing     room.Standing
	takenBy      string
	last, failed int // its last turn, its failures in a row
	spent        int64
	fault        bool // the room itself suspended it
}

type modelTurn struct {
	room.TurnGranted
	seat    *modelSeat
	started time.Duration
	draft   *room.TurnDrafted
}

func (m *model) act(do room.Act) bool {
	x, control := m.seats[m.actor], m.actor == room.ActorHost
	control = control || x != nil && x.Kind == policy.Human && x.Device == "" && x.standing != room.Removed
	over := m.phase == room.PhaseStopped || m.phase == room.PhaseCompleted && m.cause != room.CauseSettled
	switch do := do.(type) {
	case room.Claim:
		return m.claim(do.Restart)
	case room.Say:
		return !over && m.say(do)
	case room.Decided:
		return m.due(do.Record) && m.decided(do)
	case room.PolicyFailed:
		return m.due(do.Record) && m.pause(room.CausePolicy, do.Record.Code)
	case room.Replied:
		return m.replied(do)
	case room.Failed:
		return m.waits(do.Turn, do.Request) && m.failed(do)
	case room.Tick:
		return m.phase != room.PhaseLive || m.tick()
	case room.SetStanding:
		return (control || x != nil && x.Moderator && x.standing == room.Active) && m.setStanding(do)
	case room.SetLimits:
		return control && m.setLimits(do.Limits)
	}
	return control && !over && m.person(do)
}

// person states what a person with control may do.
func (m *model) person(do room.Act) bool {
	switch do := do.(type) {
	case room.Pause:
		return m.phase != room.PhaseLive || m.pause(room.CausePerson, m.actor)
	case room.Resume:
		return m.phase == room.PhaseLive || m.phase == room.PhaseCompleted && !m.degraded || m.speakers() && m.resume()
	case room.Stop:
		m.end(room.PhaseStopped, room.CausePerson, m.actor)
	case room.Complete:
		m.end(room.PhaseCompleted, room.CausePerson, "")
	case room.TakeOver:
		x := m.seats[do.Participant]
		if x == nil || x.Kind == policy.Human || x.standing == room.Removed || x.takenBy != "" && x.takenBy != m.actor {
			return false
		}
		if x.takenBy == "" {
			m.interruptSeat(x)
			x.takenBy = m.actor
			m.note(room.SeatTaken{Participant: x.ID, By: m.actor})
		}
	case room.Release:
		if x := m.seats[do.Participant]; x != nil && x.takenBy != "" {
			m.interruptSeat(x)
			x.takenBy = ""
			m.note(room.SeatReleased{Participant: x.ID})
		}
	case room.Next:
		x := m.seats[do.Participant]
		ok := m.phase == room.PhaseLive && m.turn == nil && x != nil && x.Kind != policy.Human && x.standing == room.Active
		return ok && m.grant(x, nil, do.Grant)
	default:
		return m.turn != nil && m.turn.draft != nil && m.review(do)
	}
	return true
}

// review states what a person may do with the draft that waits.
func (m *model) review(do room.Act) bool {
	t, live := m.turn, m.phase == room.PhaseLive
	d := t.draft
	switch do := do.(type) {
	case room.Reject:
		return do.Draft == d.Draft && m.endTurn(room.TurnRejected{Turn: t.Turn, Draft: d.Draft, Reason: do.Reason})
	case room.Edit:
		if do.Draft != d.Draft || do.Approve && !live {
			return false
		}
		d.Draft, d.Message.Text = draftOf(t.Request, do.Text), do.Text
		m.note(room.TurnEdited{Turn: t.Turn, Draft: d.Draft, Text: do.Text})
		if !do.Approve {
			return true
		}
	case room.Approve:
		if do.Draft != d.Draft || !live {
			return false
		}
	}
	m.note(room.TurnApproved{Turn: t.Turn, Draft: d.Draft})
	m.post(room.MessagePosted{Turn: t.Turn, Message: d.Message, Usage: d.Usage, Latency: d.Latency})
	return true
}

func (m *model) claim(restart bool) bool {
	m.note(room.Claimed{Restart: restart})
	if t := m.turn; t != nil && t.draft == nil {
		agent := t.seat.takenBy == ""
		answersLater := agent && t.seat.Device != "" // another device keeps its answer
		if (agent || restart) && !answersLater {
			m.interrupt()
		}
	}
	return !restart || m.phase != room.PhaseLive || m.goesOn || m.pause(room.CauseInterrupted, "")
}

// due reports whether a decision was made about the newest state.
func (m *model) due(r policy.Record) bool {
	return m.phase == room.PhaseLive && m.turn == nil && r.Decision == m.decision+1 && r.Through == m.seq
}

func (m *model) decided(do room.Decided) bool {
	d := do.Decision
	x := m.seats[d.Agent]
	switch {
	case d.Confidence != nil && !(*d.Confidence >= 0 && *d.Confidence <= 1):
		return m.pause(room.CausePolicy, "run.bad_output")
	case d.Action == policy.ActionError:
		return m.pause(room.CausePolicy, "run.error")
	case d.Action == policy.ActionSpeak && (x == nil || m.ineligible(x) != ""):
		return m.pause(room.CausePolicy, "run.bad_choice")
	case d.Action == policy.ActionSpeak && d.Hints != nil:
		return m.pause(room.CausePolicy, "run.hints")
	case d.Action == policy.ActionSpeak:
		return m.grant(x, &do.Record, do.Grant)
	}
	m.decision = do.Record.Decision
	if d.Action == policy.ActionFinish {
		return m.end(room.PhaseCompleted, room.CauseFinish, "")
	}
	retry := time.Duration(min(d.RetryMS, 60_000)) * time.Millisecond
	if retry <= 0 {
		retry = m.limits.DeclineRetry
	}
	retry = max(retry, 100*time.Millisecond)
	m.note(room.RoundDeclined{Retry: retry})
	m.tally.Declines, m.declinedAt, m.retryAt = m.tally.Declines+1, m.seq, m.clock+retry
	return m.tally.Declines < m.limits.MaxDeclines || m.end(room.PhaseCompleted, room.CauseSettled, "")
}

// grant gives the floor, unless a limit stops the room instead.
func (m *model) grant(x *modelSeat, r *policy.Record, g room.Grant) bool {
	if m.stopAtLimit(g.Tokens, x.Price.Input) {
		return true
	}
	if r != nil {
		m.decision = r.Decision
	}
	m.tally.Turns, m.tally.Declines = m.tally.Turns+1, 0
	e := room.TurnGranted{Turn: m.tally.Turns, Participant: x.ID, Request: g.Request, Tokens: g.Tokens, Timeout: x.Timeout}
	m.note(e)
	m.turn = &modelTurn{TurnGranted: e, seat: x, started: m.clock}
	x.last = m.tally.Turns
	return true
}

func (m *model) waits(turn int, request string) bool {
	t := m.turn
	return t != nil && t.draft == nil && t.Turn == turn && t.Request == request
}

func (m *model) replied(do room.Replied) bool {
	t := m.turn
	if !m.waits(do.Turn, do.Request) {
		m.note(room.ReplyLate{Turn: do.Turn, Participant: do.Participant, Bytes: len(do.Text)})
		return true
	}
	if len([]rune(do.Text)) > m.limits.MaxOutput {
		return m.failed(room.Failed{Turn: do.Turn, Code: room.FailTooLarge, Usage: do.Usage, Latency: do.Latency})
	}
	if do.Outcome != endpoint.Said || strings.TrimSpace(do.Text) == "" {
		m.charge(do.Usage, "")
		t.seat.failed, m.tally.Failures = 0, 0
		return m.endTurn(room.TurnPassed{Turn: t.Turn, Usage: do.Usage, Latency: do.Latency})
	}
	msg := room.Message{From: t.seat.ID, To: room.Broadcast, Text: do.Text, Source: "agent", Confidence: do.Confidence}
	why := "manual"
	if sure := do.Confidence != nil && *do.Confidence >= 0.5; t.seat.Mode == room.FullAuto || t.seat.Mode == room.SemiAuto && sure {
		m.post(room.MessagePosted{Turn: t.Turn, Message: msg, Usage: do.Usage, Latency: do.Latency, Auto: true})
		return true
	} else if t.seat.Mode == room.SemiAuto {
		why = "confidence"
	}
	t.draft = &room.TurnDrafted{Turn: t.Turn, Draft: draftOf(t.Request, do.Text), Message: msg, Usage: do.Usage, Why: why, Latency: do.Latency}
	m.charge(do.Usage, do.Text)
	m.note(*t.draft)
	return true
}

func (m *model) charge(u room.Usage, text string) {
	t := m.turn
	in, out := t.Tokens, int64(len(text)+3)/4
	if u.Known {
		in, out = u.Input, u.Output
	}
	t.seat.spent, m.tally.Tokens = t.seat.spent+in+out, m.tally.Tokens+in+out
	m.tally.Cost += in*t.seat.Price.Input/1_000_000 + out*t.seat.Price.Output/1_000_000
}

// post adds a message. One of the open turn ends that turn.
func (m *model) post(e room.MessagePosted) {
	person := e.Message.Source == "user"
	m.note(e)
	m.news = m.seq
	if t := m.turn; t != nil && t.Turn == e.Turn {
		if t.draft == nil {
			m.charge(e.Usage, e.Message.Text)
		}
		t.seat.failed, m.tally.Failures, m.turn = 0, 0, nil
	}
	if person {
		m.tally.Declines = 0
		if m.phase == room.PhaseCompleted {
			m.phase, m.cause = room.PhaseLive, ""
		}
	} else {
		text := normal(e.Message.Text)
		m.texts = append(m.texts, text)
		same := m.texts[max(0, len(m.texts)-m.limits.SameTextOf):]
		same = slices.DeleteFunc(slices.Clone(same), func(t string) bool { return t != text })
		if len(same) >= m.limits.SameText {
			m.end(room.PhaseStopped, room.CauseLoop, "same-text")
		}
	}
	if e.Turn > 0 {
		m.stopAtLimit(0, 0)
	}
}

func (m *model) say(do room.Say) bool {
	x, seat := m.seats[m.actor], m.seats[do.As]
	speaker := m.actor == room.ActorHost || x != nil && x.Kind == policy.Human && x.standing == room.Active
	standsIn := seat != nil && seat.takenBy == m.actor && seat.standing != room.Muted && seat.standing != room.Removed
	if !speaker || do.As != "" && !standsIn || do.To != "" && m.seats[do.To] == nil {
		return false
	}
	e := room.MessagePosted{Message: room.Message{From: m.actor, To: do.To, Text: do.Text, Source: "user", Visibility: do.Visibility}}
	if do.As != "" {
		e.Message.From, e.Message.By = do.As, m.actor
	}
	if t := m.turn; t != nil && t.seat == seat {
		e.Turn = t.Turn
	}
	m.post(e)
	return true
}

func (m *model) failed(do room.Failed) bool {
	x := m.turn.seat
	if do.Code == room.FailHeld {
		return m.interrupt()
	}
	m.charge(do.Usage, "")
	m.turn, x.failed, m.tally.Failures = nil, x.failed+1, m.tally.Failures+1
	m.note(room.TurnFailed{Turn: do.Turn, Code: do.Code, Usage: do.Usage, Latency: do.Latency})
	m.news = m.seq
	if hopeless := do.Code == room.FailExited || do.Code == room.FailDenied || do.Code == room.FailUntrusted; hopeless || x.failed >= m.limits.MaxFailures {
		x.standing, x.fault = room.Suspended, true
		m.note(room.SeatChanged{Participant: x.ID, Standing: room.Suspended, Failed: true})
		m.news = m.seq
	}
	return m.stopAtLimit(0, 0) || m.left(x)
}

func (m *model) setStanding(do room.SetStanding) bool {
	x := m.seats[do.Participant]
	if x == nil || x.standing == do.Standing {
		return x != nil
	}
	if do.Standing != room.Active {
		m.interruptSeat(x)
	} else {
		x.failed = 0
	}
	x.standing, x.fault = do.Standing, false
	m.note(room.SeatChanged{Participant: x.ID, Standing: x.standing, Reason: do.Reason})
	m.news = m.seq
	return m.left(x)
}

// left ends a live room if no agent may speak without x, or one of two is left.
func (m *model) left(x *modelSeat) bool {
	switch {
	case m.phase != room.PhaseLive || x.standing == room.Active:
		return true
	case !m.speakers():
		return m.end(room.PhaseError, "", "ROOM-NOBODY")
	}
	return x.standing != room.Suspended || x.Kind == policy.Human || !m.oneToOne || m.end(room.PhaseError, "", "ROOM-ONE-TO-ONE")
}

func (m *model) speakers() bool {
	for _, x := range m.seats {
		if x.Kind != policy.Human && x.standing == room.Active {
			return true
		}
	}
	return false
}

func (m *model) setLimits(l room.Limits) bool {
	m.limits = l
	m.note(room.LimitsChanged{Limits: l})
	if m.phase == room.PhaseStopped && m.cause != room.CausePerson && m.reached(0, 0) == "" {
		return m.resume()
	}
	m.stopAtLimit(0, 0)
	return true
}

// reached returns the limit that ends a room, counting the next prompt.
func (m *model) reached(prompt, price int64) string {
	switch l, t := m.limits, m.tally; {
	case m.now >= l.MaxDuration:
		return "maxDuration"
	case t.Turns >= l.MaxTurns:
		return "maxTurns"
	case t.Failures >= l.MaxFailures:
		return "maxFailures"
	case l.MaxTokens > 0 && (t.Tokens >= l.MaxTokens || t.Tokens+prompt > l.MaxTokens):
		return "maxTokens"
	case l.MaxCost > 0 && (t.Cost >= l.MaxCost || t.Cost+prompt*price/1_000_000 > l.MaxCost):
		return "maxCost"
	}
	return ""
}

func (m *model) stopAtLimit(prompt, price int64) bool {
	name := m.reached(prompt, price)
	return name != "" && m.phase == room.PhaseLive && m.end(room.PhaseStopped, room.CauseLimit, name)
}

func (m *model) tick() bool {
	t := m.turn
	if m.now < m.limits.MaxDuration && t != nil && t.draft == nil && t.seat.takenBy == "" && m.now >= t.started+t.Timeout+time.Second {
		return m.failed(room.Failed{Turn: t.Turn, Code: room.FailTimeout, Latency: m.now - t.started})
	}
	return m.now < m.limits.MaxDuration || m.stopAtLimit(0, 0)
}

// interrupt ends the open turn without a reply.
func (m *model) interrupt() bool {
	return m.turn == nil || m.endTurn(room.TurnInterrupted{Turn: m.turn.Turn})
}

// endTurn ends the open turn without a message.
func (m *model) endTurn(b room.Body) bool {
	m.note(b)
	m.turn, m.news = nil, m.seq
	if _, interrupted := b.(room.TurnInterrupted); !interrupted {
		m.stopAtLimit(0, 0)
	}
	return true
}

func (m *model) interruptSeat(x *modelSeat) {
	if m.turn != nil && m.turn.seat == x {
		m.interrupt()
	}
}

func (m *model) pause(cause, code string) bool {
	if m.turn != nil && m.turn.draft == nil && cause == room.CausePerson {
		m.interrupt()
	}
	m.phase, m.cause = room.PhasePaused, cause
	m.note(room.Paused{Cause: cause, Code: code})
	return true
}

func (m *model) resume() bool {
	m.phase, m.cause, m.tally.Declines, m.tally.Failures, m.retryAt = room.PhaseLive, "", 0, 0, 0
	m.note(room.Resumed{})
	return true
}

func (m *model) end(p room.Phase, cause, name string) bool {
	m.interrupt()
	m.phase, m.cause = p, cause
	m.degraded = cause == room.CauseSettled && m.tally.Turns == 0
	for _, x := range m.seats {
		m.degraded = m.degraded || cause == room.CauseSettled && x.fault
	}
	m.note(map[room.Phase]room.Body{
		room.PhaseStopped:   room.Stopped{Cause: cause, Name: name},
		room.PhaseCompleted: room.Completed{Cause: cause, Degraded: m.degraded},
		room.PhaseError:     room.Errored{Code: name},
	}[p])
	return true
}

// ineligible returns why a seat cannot get the floor from the policy.
func (m *model) ineligible(x *modelSeat) string {
	switch {
	case x.Kind == policy.Human:
		return "attends"
	case x.standing != room.Active:
		return string(x.standing)
	case m.turn != nil:
		return "busy"
	case x.last > 0 && m.tally.Turns+1-x.last <= x.Cooldown:
		return "cooldown"
	case x.MaxTokens > 0 && x.spent >= x.MaxTokens:
		return "budget"
	}
	return ""
}
