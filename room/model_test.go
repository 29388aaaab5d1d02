package room_test

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/explore"
)

// The model states the rules of a room once more: the life of a turn, the start of
// agents, bids, drafts, limits, budgets, pause, hand-offs, calls and endings. It is naive and
// shares no code with the package. A command changes it step by step, and each step
// notes its event. TestModel gives the same commands to a model
// and to a room and compares the events.

func (m *model) act(do room.Act) bool {
	x, control := m.seat(m.actor), m.actor == room.ActorHost
	control = control || x != nil && x.Kind == policy.Human && x.Device == "" && x.standing != room.Removed
	over := m.phase == room.PhaseStopped || m.phase == room.PhaseCompleted && m.cause != room.CauseSettled
	switch do := do.(type) {
	case room.Claim:
		return m.claim(do.Restart)
	case room.Present:
		return m.present(do)
	case room.Answered:
		return m.answer(do)
	case room.Say:
		if x != nil && x.Session && do.As == "" {
			return m.says(x, do)
		}
		return !over && m.say(do)
	case room.Decided:
		return m.due(do.Record) && m.decided(do)
	case room.PolicyFailed:
		return m.due(do.Record) && m.pause(room.CausePolicy, do.Record.Code)
	case room.Replied:
		return m.replied(do)
	case room.Failed:
		return m.waits(do.Turn, do.Request) && m.failed(do)
	case room.Started:
		x = m.seat(do.Participant)
		return m.phase == room.PhaseLive && m.starts(x) && x.attempt == do.Attempt && m.started(x, do.Code, do.Latency)
	case room.Exited:
		x = m.seat(do.Participant)
		ran := !over && x != nil && x.Starts && x.attempt == 0 && x.standing == room.Active && x.takenBy == ""
		return !ran || m.turn != nil && m.turn.seat == x && m.turn.draft == nil || m.started(x, do.Code, 0)
	case room.BidMade:
		due := m.phase == room.PhaseLive && m.turn == nil && do.Decision == m.decision+1 && !slices.Contains(m.bids, do.Participant)
		if due {
			m.bids = append(m.bids, do.Participant)
		}
		return due && m.note(room.BidPosted(do))
	case room.HandOff:
		return m.handsOff(do)
	case room.CallAgents:
		return m.callAgents(do)
	case room.AwaitCall:
		return m.await(do)
	case room.CancelCall:
		return m.cancelCall(do, control)
	case room.CallProgressed:
		return m.progressed(do)
	case room.CallReturned:
		return m.returned(do)
	case room.Asked:
		return m.ask(do)
	case room.Permit:
		return m.permit(do, control)
	case room.Withdrawn:
		return m.withdraw(do)
	case room.Tick:
		return m.phase != room.PhaseLive || m.tick()
	case room.SetStanding:
		return (control || x != nil && x.Moderator && x.standing == room.Active) && m.setStanding(do)
	case room.SetLimits:
		return control && m.setLimits(do.Limits)
	}
	return control && !m.again(do) && !over && m.person(do)
}

// person states what a person with control may do.
func (m *model) person(do room.Act) bool {
	switch do := do.(type) {
	case room.Pause:
		return m.phase != room.PhaseLive || m.pause(room.CausePerson, m.actor)
	case room.Resume:
		return m.phase == room.PhaseLive || m.phase == room.PhaseCompleted && !m.degraded || m.speakers() && m.resume()
	case room.Stop:
		return m.end(room.PhaseStopped, room.CausePerson, m.actor)
	case room.Complete:
		return m.end(room.PhaseCompleted, room.CausePerson, "")
	case room.TakeOver:
		x := m.seat(do.Participant)
		agent := x != nil && x.Kind != policy.Human && x.standing != room.Removed
		return agent && (x.takenBy == m.actor || x.takenBy == "" && m.take(x, m.actor, room.SeatTaken{Participant: x.ID, By: m.actor}))
	case room.Release:
		x := m.seat(do.Participant)
		return x == nil || x.takenBy == "" || m.take(x, "", room.SeatReleased{Participant: x.ID}) && m.start(x)
	case room.SetMode:
		return m.setMode(do)
	case room.Next:
		x := m.seat(do.Participant)
		ok := m.phase == room.PhaseLive && m.turn == nil && x != nil && x.Kind != policy.Human && x.standing == room.Active && !m.starting(x) && !x.away()
		return ok && (x.takenBy != "" || !x.over()) && m.grant(x, nil, nil, do.Grant)
	}
	return m.turn != nil && m.turn.draft != nil && m.review(do)
}

// take gives a seat to a person, or back to its agent.
func (m *model) take(x *modelSeat, person string, b room.Body) bool {
	m.interrupt(x)
	x.takenBy = person
	return m.note(b)
}

func (m *model) claim(restart bool) bool {
	m.epoch++
	m.note(room.Claimed{Restart: restart})
	for _, x := range m.seats {
		m.start(x)
		x.leave()
	}
	if t := m.turn; t != nil && t.draft == nil {
		if agent := t.seat.takenBy == ""; agent && t.seat.Device == "" || !agent && restart { // another device keeps its answer
			m.interrupt(t.seat)
			for _, c := range m.calls { // the host may have lost them
				if c.Turn == t.Turn && !c.State.Open() && !c.posted {
					m.postResult(c)
				}
			}
		}
	}
	return !restart || m.phase != room.PhaseLive || m.OnRestart == room.RestartContinue || m.pause(room.CauseInterrupted, "")
}

// due reports whether a decision was made about the newest state.
func (m *model) due(r policy.Record) bool {
	return m.phase == room.PhaseLive && m.turn == nil && r.Decision == m.decision+1 && r.Through == m.seq
}

func (m *model) decided(do room.Decided) bool {
	d := do.Decision
	x := m.seat(d.Agent)
	switch {
	case d.Action == policy.ActionError:
		return m.pause(room.CausePolicy, "run.error")
	case d.Action == policy.ActionSpeak && (x == nil || m.ineligible(x) != ""):
		return m.pause(room.CausePolicy, "run.bad_choice")
	case d.Action == policy.ActionSpeak:
		taken, choice := m.explored(x, do)
		return m.grant(taken, choice, &do.Record, do.Grant)
	}
	m.decision, m.bids, m.replaced = do.Record.Decision, nil, ""
	if d.Action == policy.ActionFinish {
		return m.end(room.PhaseCompleted, room.CauseFinish, "")
	}
	retry := time.Duration(min(d.RetryMS, 60_000)) * time.Millisecond
	if retry <= 0 && !(do.Unattended && m.hopeless()) {
		retry = m.limits.DeclineRetry
	}
	retry = max(retry, 100*time.Millisecond)
	m.note(room.RoundDeclined{Retry: retry})
	m.tally.Declines, m.declinedAt, m.retryAt = m.tally.Declines+1, m.seq, m.clock+retry
	if m.Objective != "" && m.tally.Messages == 0 && m.tally.Turns == 0 && !slices.ContainsFunc(m.seats, m.starting) {
		return m.post(room.MessagePosted{Message: room.Message{From: room.ActorHost, Text: m.Objective, Source: "user"}, Opening: true})
	}
	return m.tally.Declines < m.limits.MaxDeclines || len(m.open()) > 0 || m.end(room.PhaseCompleted, room.CauseSettled, "")
}

// hopeless reports that nothing can happen but time that passes.
func (m *model) hopeless() bool {
	return len(m.open()) == 0 && !slices.ContainsFunc(m.seats, func(x *modelSeat) bool {
		speaks := x.Kind == policy.Human || x.Session || x.takenBy != "" || m.starting(x) || m.Policy.Needs.Bids && !x.NoBids
		return x.standing == room.Active && (speaks || x.mode() == room.FullAuto && x.last > 0 && (x.Starts || x.Kind == policy.Remote))
	})
}

// grant gives the floor, unless a limit stops the room instead. c says how x was drawn.
func (m *model) grant(x *modelSeat, c *explore.Choice, r *policy.Record, g room.Grant) bool {
	if m.stopAtLimit(g.Tokens, x.Price.Input) {
		return true
	}
	if x.passes(g.Tokens) {
		return r != nil && m.refuse(x, g.Tokens)
	}
	if r != nil {
		m.decision, m.bids, m.replaced = r.Decision, nil, ""
	}
	if c != nil && c.Choice != x.ID {
		m.replaced = c.Choice
	}
	m.tally.Turns, m.tally.Declines = m.tally.Turns+1, 0
	e := room.TurnGranted{Turn: m.tally.Turns, Participant: x.ID, Request: g.Request, Tokens: g.Tokens, Timeout: x.Timeout, Exploration: c}
	m.turn = &modelTurn{TurnGranted: e, seat: x, started: max(m.clock, m.now), epoch: m.epoch}
	x.last, x.side, x.turns, m.follow = m.tally.Turns, 0, x.turns+1, nil
	m.addressed = false
	return m.note(e)
}

func (m *model) waits(turn int, request string) bool {
	t := m.turn
	return t != nil && t.draft == nil && t.Turn == turn && t.Request == request
}

func (m *model) replied(do room.Replied) bool {
	t := m.turn
	if !m.waits(do.Turn, do.Request) {
		return m.note(room.ReplyLate{Turn: do.Turn, Participant: do.Participant, Bytes: len(do.Text)})
	}
	latency := m.work(do.Latency)
	if len([]rune(do.Text)) > m.limits.MaxOutput {
		return m.failed(room.Failed{Turn: do.Turn, Code: room.FailTooLarge, Usage: do.Usage, Latency: do.Latency})
	}
	t.seat.answer(t.Request)
	m.handOff(do.Handoff)
	if do.Outcome != endpoint.Said || strings.TrimSpace(do.Text) == "" {
		m.charge(do.Usage, "")
		t.seat.failed, m.tally.Failures = 0, 0
		m.follow = cmp.Or(t.handoff, m.follow)
		return m.endTurn(room.TurnPassed{Turn: t.Turn, Usage: do.Usage, Latency: latency, Silent: true})
	}
	msg := room.Message{From: t.seat.ID, Text: do.Text, Source: "agent", Confidence: do.Confidence}
	why := map[room.Mode]string{room.Manual: "manual", "": "manual", room.SemiAuto: "confidence"}[t.seat.mode()]
	if why == "" || why == "confidence" && do.Confidence != nil && *do.Confidence >= 0.5 {
		return m.post(room.MessagePosted{Turn: t.Turn, Message: msg, Usage: do.Usage, Latency: latency, Auto: true})
	}
	t.drafted = max(m.clock, m.now)
	t.draft = &room.TurnDrafted{Turn: t.Turn, Draft: draftOf(t.Request, do.Text), Message: msg, Usage: do.Usage, Why: why, Latency: latency}
	m.charge(do.Usage, do.Text)
	return m.note(*t.draft)
}

func (m *model) charge(u room.Usage, text string) {
	t, p := m.turn, m.turn.seat.Price
	if u.CachedInput > u.Input { // impossible, so not believed
		u = room.Usage{}
	}
	in, cached, out := t.Tokens, int64(0), int64(len(text)+3)/4
	if u.Known {
		in, cached, out = u.Input, u.CachedInput, u.Output
	}
	price := (in-cached)*p.Input/1_000_000 + cached*p.CachedInput/1_000_000 + out*p.Output/1_000_000
	if u.CostKnown {
		price = u.Cost
	}
	t.seat.spent, m.tally.Tokens = t.seat.spent+in+out, m.tally.Tokens+in+out
	m.tally.Cost, m.tally.CachedInput = m.tally.Cost+price, m.tally.CachedInput+cached
	m.tally.Estimated = m.tally.Estimated || !u.Known
	m.tally.CostEstimated = m.tally.CostEstimated || !u.Known && !u.CostKnown && price > 0
}

// post adds a message. One of the open turn ends that turn.
func (m *model) post(e room.MessagePosted) bool {
	m.note(e)
	m.address(e.Message)
	m.news, m.tally.Messages = m.seq, m.tally.Messages+1
	if t := m.turn; t != nil && t.Turn == e.Turn {
		if t.draft == nil {
			m.charge(e.Usage, e.Message.Text)
		}
		t.seat.failed, m.tally.Failures = 0, 0
		m.follow = cmp.Or(t.handoff, m.follow)
		m.close(false)
	}
	if text := normal(e.Message.Text); e.Message.Source == "agent" {
		m.texts = append(m.texts, text)
		same := slices.Clone(m.texts[max(0, len(m.texts)-m.limits.SameTextOf):])
		if same = slices.DeleteFunc(same, func(t string) bool { return t != text }); len(same) >= m.limits.SameText {
			m.end(room.PhaseStopped, room.CauseLoop, "same-text")
		}
	} else if m.tally.Declines = 0; m.phase == room.PhaseCompleted {
		m.phase, m.cause = room.PhaseLive, ""
	}
	return e.Turn > 0 && m.stopAtLimit(0, 0) || true
}

func (m *model) say(do room.Say) bool {
	x, seat := m.seat(m.actor), m.seat(do.As)
	speaker := m.actor == room.ActorHost || x != nil && x.Kind == policy.Human && x.standing == room.Active
	standsIn := seat != nil && seat.takenBy == m.actor && seat.standing != room.Muted && seat.standing != room.Removed
	if !speaker || do.As != "" && !standsIn || do.To != "" && m.seat(do.To) == nil {
		return false
	}
	e := room.MessagePosted{Message: room.Message{From: m.actor, Text: do.Text, Source: "user"}, Opening: do.Opening}
	if do.As != "" {
		e.Message.From, e.Message.By = do.As, m.actor
	}
	if t := m.turn; t != nil && t.seat == seat {
		e.Turn, e.Opening = t.Turn, false
	}
	m.asked(e.Message.From, do.To, do.Text)
	return m.post(e)
}

func (m *model) failed(do room.Failed) bool {
	x := m.turn.seat
	if do.Code == room.FailHeld {
		return m.interrupt(x)
	}
	if m.gone(x, do.Code) {
		return m.come(x, room.Away)
	}
	m.charge(do.Usage, "")
	x.failed, m.tally.Failures = x.failed+1, m.tally.Failures+1
	m.note(room.TurnFailed{Turn: do.Turn, Code: do.Code, Usage: do.Usage, Latency: m.work(do.Latency)})
	m.news = m.seq
	m.close(do.Code == room.FailTimeout || do.Code == room.FailExited || do.Code == room.FailInterrupted || do.Code == room.FailFailed)
	m.suspend(x, do.Code)
	return m.stopAtLimit(0, 0) || m.left(x)
}

// suspend takes a seat out that has failed too often or cannot go on.
func (m *model) suspend(x *modelSeat, code string) bool {
	if code == room.FailExited || code == room.FailDenied || x.failed >= m.limits.MaxFailures {
		x.standing, x.fault = room.Suspended, true
		m.note(room.SeatChanged{Participant: x.ID, Standing: room.Suspended, Failed: true})
		m.news = m.seq
	}
	return x.standing == room.Active
}

func (m *model) setStanding(do room.SetStanding) bool {
	x := m.seat(do.Participant)
	if x == nil || x.standing == do.Standing {
		return x != nil
	}
	m.interrupt(x)
	x.standing, x.fault = do.Standing, false
	m.note(room.SeatChanged{Participant: x.ID, Standing: x.standing, Reason: do.Reason})
	if m.news = m.seq; x.standing == room.Active {
		x.failed = 0
		m.start(x)
	}
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
	return x.standing != room.Suspended || x.Kind == policy.Human || !m.OneToOne || m.end(room.PhaseError, "", "ROOM-ONE-TO-ONE")
}

func (m *model) speakers() bool {
	return slices.ContainsFunc(m.seats, func(x *modelSeat) bool { return x.Kind != policy.Human && x.standing == room.Active })
}

func (m *model) setLimits(l room.Limits) bool {
	m.limits = l
	m.note(room.LimitsChanged{Limits: l})
	if m.phase == room.PhaseStopped && m.cause != room.CausePerson && m.reached(0, 0) == "" {
		return m.resume()
	}
	return m.stopAtLimit(0, 0) || true
}

// reached returns the limit that ends a room, counting the next prompt.
func (m *model) reached(prompt, price int64) string {
	l, t, sum := m.limits, m.tally, calls.Budget{}
	if prompt > 0 {
		sum = m.reserved()
	}
	switch {
	case m.now >= l.MaxDuration:
		return "maxDuration"
	case t.Turns >= l.MaxTurns:
		return "maxTurns"
	case t.Failures >= l.MaxFailures:
		return "maxFailures"
	case l.MaxTokens > 0 && (t.Tokens >= l.MaxTokens || t.Tokens+sum.Tokens+prompt > l.MaxTokens):
		return "maxTokens"
	case l.MaxCost > 0 && (t.Cost >= l.MaxCost || t.Cost+sum.Cost+prompt*price/1_000_000 > l.MaxCost):
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
	if m.now < m.limits.MaxDuration && t != nil && t.draft == nil && t.seat.takenBy == "" && m.now >= m.until(t) {
		if m.refuseLate() {
			return true
		}
		return m.failed(room.Failed{Turn: t.Turn, Code: room.FailTimeout, Latency: m.now - t.started})
	}
	if m.now < m.limits.MaxDuration && m.callsDue() {
		return true
	}
	if m.now < m.limits.MaxDuration && m.unanswered() {
		m.settleDraft(t.draft.Draft)
		return m.endTurn(room.TurnRejected{Turn: t.Turn, Draft: t.draft.Draft, Reason: "not sent: no person has answered within 40 s"})
	}
	for _, x := range m.seats {
		if m.now < m.limits.MaxDuration && m.starts(x) && m.now >= x.startedAt+x.StartTimeout+time.Second {
			return m.started(x, room.FailTimeout, m.now-x.startedAt)
		}
	}
	return m.now < m.limits.MaxDuration || m.stopAtLimit(0, 0)
}

// interrupt ends the turn of a seat without a reply, if it has the open one.
func (m *model) interrupt(x *modelSeat) bool {
	return m.turn == nil || m.turn.seat != x || m.endTurn(room.TurnInterrupted{Turn: m.turn.Turn})
}

// endTurn ends the open turn without a message.
func (m *model) endTurn(b room.Body) bool {
	_, interrupted := b.(room.TurnInterrupted)
	if m.note(b); interrupted {
		m.interruptedCharge()
	}
	m.news = m.seq
	m.close(interrupted && m.turn.draft == nil && m.turn.seat.takenBy == "")
	return interrupted || m.stopAtLimit(0, 0) || true
}

// close takes the floor back. An agent that may be at work or have ended starts again.
func (m *model) close(again bool) {
	if again || m.turn.seat.attempt != 0 {
		m.start(m.turn.seat)
	}
	for _, c := range m.calls {
		if c.Turn == m.turn.Turn { // nobody waits any more
			c.WaitUntil = 0
		}
	}
	m.turn = nil
}

func (m *model) pause(cause, code string) bool {
	if m.turn != nil && m.turn.draft == nil && cause == room.CausePerson {
		m.interrupt(m.turn.seat)
	}
	m.phase, m.cause = room.PhasePaused, cause
	return m.note(room.Paused{Cause: cause, Code: code})
}

func (m *model) resume() bool {
	m.phase, m.cause, m.tally.Declines, m.tally.Failures, m.retryAt = room.PhaseLive, "", 0, 0, 0
	return m.note(room.Resumed{})
}

func (m *model) end(p room.Phase, cause, name string) bool {
	if m.turn != nil {
		m.interrupt(m.turn.seat)
	}
	m.phase, m.cause = p, cause
	for _, x := range m.seats {
		x.set = ""
	}
	faulty := slices.ContainsFunc(m.seats, func(x *modelSeat) bool { return x.fault })
	m.degraded = cause == room.CauseSettled && (m.tally.Turns == 0 || faulty)
	return m.note(map[room.Phase]room.Body{
		room.PhaseStopped:   room.Stopped{Cause: cause, Name: name},
		room.PhaseCompleted: room.Completed{Cause: cause, Degraded: m.degraded},
		room.PhaseError:     room.Errored{Code: name},
	}[p])
}

// ineligible returns why a seat cannot get the floor from the policy.
func (m *model) ineligible(x *modelSeat) string {
	switch {
	case x.Kind == policy.Human:
		return "attends"
	case x.standing != room.Active:
		return string(x.standing)
	case x.away():
		return "away"
	case m.turn != nil, m.starting(x):
		return "busy"
	case x.last > 0 && m.tally.Turns+1-x.last <= x.Cooldown:
		return "cooldown"
	case x.MaxTokens > 0 && x.spent >= x.MaxTokens, x.takenBy == "" && x.over():
		return "budget"
	}
	return ""
}
