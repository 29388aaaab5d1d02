package reference

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

func (m *Model) act(do room.Act) bool {
	x, control := m.seat(m.actor), m.actor == room.ActorHost
	control = control || x != nil && x.Kind == policy.Human && x.Device == "" && x.standing != room.Removed
	over := m.Phase == room.PhaseStopped || m.Phase == room.PhaseCompleted && m.cause != room.CauseSettled
	switch do := do.(type) {
	case room.Claim:
		return m.claim(do)
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
		return m.Phase == room.PhaseLive && m.starts(x) && x.Attempt == do.Attempt && m.started(x, do.Code, do.Latency)
	case room.Exited:
		x = m.seat(do.Participant)
		ran := !over && x != nil && x.Starts && x.Attempt == 0 && x.standing == room.Active && x.takenBy == ""
		return !ran || m.Turn != nil && m.Turn.Seat == x && m.Turn.Draft == nil || m.started(x, do.Code, 0)
	case room.BidMade:
		due := m.Phase == room.PhaseLive && m.Turn == nil && do.Decision == m.Decision+1 && !slices.Contains(m.bids, do.Participant)
		if due {
			m.bids = append(m.bids, do.Participant)
			if do.Bid.Score < 0 || do.Bid.Score > 1 {
				do.Failed = "no number from 0 to 1"
			}
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
		return m.Phase != room.PhaseLive || m.tick()
	case room.SetStanding:
		return (control || x != nil && x.Moderator && x.standing == room.Active) && m.setStanding(do)
	case room.SetLimits:
		return control && m.setLimits(do.Limits)
	}
	return control && !m.again(do) && !over && m.person(do)
}

// person states what a person with control may do.
func (m *Model) person(do room.Act) bool {
	switch do := do.(type) {
	case room.Pause:
		return m.Phase != room.PhaseLive || m.pause(room.CausePerson, m.actor)
	case room.Resume:
		return m.Phase == room.PhaseLive || m.Phase == room.PhaseCompleted && !m.degraded || m.speakers() && m.resume()
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
		ok := m.Phase == room.PhaseLive && m.Turn == nil && x != nil && x.Kind != policy.Human && x.standing == room.Active && !m.Starting(x) && !x.away()
		return ok && (x.takenBy != "" || !x.over()) && m.grant(x, nil, nil, do.Grant)
	}
	return m.Turn != nil && m.Turn.Draft != nil && m.review(do)
}

// take gives a seat to a person, or back to its agent.
func (m *Model) take(x *Seat, person string, b room.Body) bool {
	m.interrupt(x)
	x.takenBy = person
	return m.note(b)
}

func (m *Model) claim(do room.Claim) bool {
	restart := do.Restart
	m.Epoch++
	m.note(room.Claimed{Restart: restart})
	for _, x := range m.Seats {
		m.start(x)
		x.leave()
	}
	if t := m.Turn; t != nil && t.Draft == nil {
		agent := t.Seat.takenBy == ""
		pauses := restart && m.Phase == room.PhaseLive && m.OnRestart != room.RestartContinue
		kept := t.Seat.Device != "" || t.Seat.Session && t.Seat.standing == room.Active && !pauses // another device keeps its answer, and a session is told again
		if agent && !kept || !agent && restart {
			m.interrupt(t.Seat)
			for _, c := range m.Calls { // the host may have lost them
				if c.Turn == t.Turn && !c.State.Open() && !c.posted {
					m.postResult(c)
				}
			}
		}
	}
	return !restart || m.Phase != room.PhaseLive || m.OnRestart == room.RestartContinue || m.pause(room.CauseInterrupted, "")
}

// due reports whether a decision was made about the newest state.
func (m *Model) due(r policy.Record) bool {
	return m.Phase == room.PhaseLive && m.Turn == nil && r.Decision == m.Decision+1 && r.Through == m.Seq
}

func (m *Model) decided(do room.Decided) bool {
	d := do.Decision
	x := m.seat(d.Agent)
	switch {
	case d.Confidence != nil && (*d.Confidence < 0 || *d.Confidence > 1):
		return m.pause(room.CausePolicy, "run.bad_output")
	case d.Action == policy.ActionError:
		return m.pause(room.CausePolicy, "run.error")
	case d.Action == policy.ActionSpeak && (x == nil || m.ineligible(x) != ""):
		return m.pause(room.CausePolicy, "run.bad_choice")
	case d.Action == policy.ActionSpeak:
		taken, choice := m.explored(x, do)
		return m.grant(taken, choice, &do.Record, do.Grant)
	}
	m.Decision, m.bids, m.replaced = do.Record.Decision, nil, ""
	if d.Action == policy.ActionFinish {
		return m.end(room.PhaseCompleted, room.CauseFinish, "")
	}
	retry := time.Duration(min(d.RetryMS, 60_000)) * time.Millisecond
	if retry <= 0 && !(do.Unattended && m.hopeless()) {
		retry = m.Limits.DeclineRetry
	}
	retry = max(retry, 100*time.Millisecond)
	m.note(room.RoundDeclined{Retry: retry})
	m.Tally.Declines, m.declinedAt, m.retryAt = m.Tally.Declines+1, m.Seq, m.clock+retry
	if m.Objective != "" && m.Tally.Messages == 0 && m.Tally.Turns == 0 && !slices.ContainsFunc(m.Seats, m.Starting) {
		return m.post(room.MessagePosted{Message: room.Message{From: room.ActorHost, Text: m.Objective, Source: "user"}, Opening: true})
	}
	return m.Tally.Declines < m.Limits.MaxDeclines || len(m.OpenCalls()) > 0 || m.end(room.PhaseCompleted, room.CauseSettled, "")
}

// hopeless reports that nothing can happen but time that passes.
func (m *Model) hopeless() bool {
	return len(m.OpenCalls()) == 0 && !slices.ContainsFunc(m.Seats, func(x *Seat) bool {
		speaks := x.Kind == policy.Human || x.Session || x.takenBy != "" || m.Starting(x) || m.Policy.Needs.Bids && !x.NoBids
		return x.standing == room.Active && (speaks || x.mode() == room.FullAuto && x.last > 0 && (x.Starts || x.Kind == policy.Remote))
	})
}

// grant gives the floor, unless a limit stops the room instead. c says how x was drawn.
func (m *Model) grant(x *Seat, c *explore.Choice, r *policy.Record, g room.Grant) bool {
	if m.stopAtLimit(g.Tokens, x.Price.Input) {
		return true
	}
	if x.passes(g.Tokens) {
		return r != nil && m.refuse(x, g.Tokens)
	}
	if r != nil {
		m.Decision, m.bids, m.replaced = r.Decision, nil, ""
	}
	if c != nil && c.Choice != x.ID {
		m.replaced = c.Choice
	}
	m.Tally.Turns, m.Tally.Declines = m.Tally.Turns+1, 0
	e := room.TurnGranted{Turn: m.Tally.Turns, Participant: x.ID, Request: g.Request, Tokens: g.Tokens, Timeout: x.Timeout, Exploration: c}
	m.Turn = &Turn{TurnGranted: e, Seat: x, started: max(m.clock, m.now), Epoch: m.Epoch}
	x.last, x.side, x.turns, m.follow = m.Tally.Turns, 0, x.turns+1, nil
	m.addressed = false
	return m.note(e)
}

func (m *Model) waits(turn int, request string) bool {
	t := m.Turn
	return t != nil && t.Draft == nil && t.Seat.takenBy == "" && t.Turn == turn && t.Request == request
}

func (m *Model) replied(do room.Replied) bool {
	t := m.Turn
	if !m.waits(do.Turn, do.Request) {
		return m.note(room.ReplyLate{Turn: do.Turn, Participant: do.Participant, Bytes: len(do.Text)})
	}
	latency := m.work(do.Latency)
	if len([]rune(do.Text)) > m.Limits.MaxOutput {
		return m.failed(room.Failed{Turn: do.Turn, Code: room.FailTooLarge, Usage: do.Usage, Latency: do.Latency})
	}
	t.Seat.answer(t.Request)
	m.handOff(do.Handoff)
	if do.Outcome != endpoint.Said || strings.TrimSpace(do.Text) == "" {
		m.charge(do.Usage, "")
		t.Seat.failed, m.Tally.Failures = 0, 0
		m.follow = cmp.Or(t.handoff, m.follow)
		return m.endTurn(room.TurnPassed{Turn: t.Turn, Usage: do.Usage, Latency: latency, Silent: true})
	}
	msg := room.Message{From: t.Seat.ID, Text: do.Text, Source: "agent", Confidence: do.Confidence}
	why := map[room.Mode]string{room.Manual: "manual", "": "manual", room.SemiAuto: "confidence"}[t.Seat.mode()]
	if why == "" || why == "confidence" && do.Confidence != nil && *do.Confidence >= 0.5 {
		return m.post(room.MessagePosted{Turn: t.Turn, Message: msg, Usage: do.Usage, Latency: latency, Auto: true})
	}
	t.drafted = max(m.clock, m.now)
	t.Draft = &room.TurnDrafted{Turn: t.Turn, Draft: DraftOf(t.Request, do.Text), Message: msg, Usage: do.Usage, Why: why, Latency: latency}
	m.charge(do.Usage, do.Text)
	return m.note(*t.Draft)
}

func (m *Model) charge(u room.Usage, text string) {
	t, p := m.Turn, m.Turn.Seat.Price
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
	t.Seat.spent, m.Tally.Tokens = t.Seat.spent+in+out, m.Tally.Tokens+in+out
	m.Tally.Cost, m.Tally.CachedInput = m.Tally.Cost+price, m.Tally.CachedInput+cached
	m.Tally.Estimated = m.Tally.Estimated || !u.Known
	m.Tally.CostEstimated = m.Tally.CostEstimated || !u.Known && !u.CostKnown && price > 0
}

// post adds a message. One of the open turn ends that turn.
func (m *Model) post(e room.MessagePosted) bool {
	m.note(e)
	m.address(e.Message)
	m.news, m.Tally.Messages = m.Seq, m.Tally.Messages+1
	if t := m.Turn; t != nil && t.Turn == e.Turn {
		if t.Draft == nil {
			m.charge(e.Usage, e.Message.Text)
		}
		t.Seat.failed, m.Tally.Failures = 0, 0
		m.follow = cmp.Or(t.handoff, m.follow)
		m.close(false)
	}
	if text := normal(e.Message.Text); e.Message.Source == "agent" {
		m.texts = append(m.texts, text)
		same := slices.Clone(m.texts[max(0, len(m.texts)-m.Limits.SameTextOf):])
		if same = slices.DeleteFunc(same, func(t string) bool { return t != text }); len(same) >= m.Limits.SameText {
			m.end(room.PhaseStopped, room.CauseLoop, "same-text")
		}
	} else if m.Tally.Declines = 0; m.Phase == room.PhaseCompleted {
		m.Phase, m.cause = room.PhaseLive, ""
	}
	return e.Turn > 0 && m.stopAtLimit(0, 0) || true
}

func (m *Model) say(do room.Say) bool {
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
	if t := m.Turn; t != nil && t.Seat == seat {
		e.Turn, e.Opening = t.Turn, false
	}
	m.asked(e.Message.From, do.To, do.Text)
	return m.post(e)
}

func (m *Model) failed(do room.Failed) bool {
	x := m.Turn.Seat
	if do.Code == room.FailHeld {
		return m.interrupt(x)
	}
	if m.gone(x, do.Code) {
		return m.come(x, room.Away)
	}
	m.charge(do.Usage, "")
	x.failed, m.Tally.Failures = x.failed+1, m.Tally.Failures+1
	m.note(room.TurnFailed{Turn: do.Turn, Code: do.Code, Usage: do.Usage, Latency: m.work(do.Latency)})
	m.news = m.Seq
	m.close(do.Code == room.FailTimeout || do.Code == room.FailExited || do.Code == room.FailInterrupted || do.Code == room.FailFailed)
	m.suspend(x, do.Code)
	return m.stopAtLimit(0, 0) || m.left(x)
}

// suspend takes a seat out that has failed too often or cannot go on.
func (m *Model) suspend(x *Seat, code string) bool {
	if code == room.FailExited || code == room.FailDenied || x.failed >= m.Limits.MaxFailures {
		x.standing, x.fault = room.Suspended, true
		m.note(room.SeatChanged{Participant: x.ID, Standing: room.Suspended, Failed: true})
		m.news = m.Seq
	}
	return x.standing == room.Active
}

func (m *Model) setStanding(do room.SetStanding) bool {
	x := m.seat(do.Participant)
	if x == nil || x.standing == do.Standing {
		return x != nil
	}
	m.interrupt(x)
	x.standing, x.fault = do.Standing, false
	m.note(room.SeatChanged{Participant: x.ID, Standing: x.standing, Reason: do.Reason})
	if m.news = m.Seq; x.standing == room.Active {
		x.failed = 0
		m.start(x)
	}
	return m.left(x)
}

// left ends a live room if no agent may speak without x, or one of two is left.
func (m *Model) left(x *Seat) bool {
	switch {
	case m.Phase != room.PhaseLive || x.standing == room.Active:
		return true
	case !m.speakers():
		return m.end(room.PhaseError, "", "ROOM-NOBODY")
	}
	return x.standing != room.Suspended || x.Kind == policy.Human || !m.OneToOne || m.end(room.PhaseError, "", "ROOM-ONE-TO-ONE")
}

func (m *Model) speakers() bool {
	return slices.ContainsFunc(m.Seats, func(x *Seat) bool { return x.Kind != policy.Human && x.standing == room.Active })
}

func (m *Model) setLimits(l room.Limits) bool {
	m.Limits = l
	m.note(room.LimitsChanged{Limits: l})
	if m.Phase == room.PhaseStopped && m.cause != room.CausePerson && m.reached(0, 0) == "" {
		return m.resume()
	}
	return m.stopAtLimit(0, 0) || true
}

// reached returns the limit that ends a room, counting the next prompt.
func (m *Model) reached(prompt, price int64) string {
	l, t, sum := m.Limits, m.Tally, calls.Budget{}
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

func (m *Model) stopAtLimit(prompt, price int64) bool {
	name := m.reached(prompt, price)
	return name != "" && m.Phase == room.PhaseLive && m.end(room.PhaseStopped, room.CauseLimit, name)
}

func (m *Model) tick() bool {
	t := m.Turn
	if m.now < m.Limits.MaxDuration && t != nil && t.Draft == nil && t.Seat.takenBy == "" && m.now >= m.until(t) {
		if m.refuseLate() {
			return true
		}
		return m.failed(room.Failed{Turn: t.Turn, Code: room.FailTimeout, Latency: m.now - t.started})
	}
	if m.now < m.Limits.MaxDuration && m.callsDue() {
		return true
	}
	if m.now < m.Limits.MaxDuration && m.unanswered() {
		m.settleDraft(t.Draft.Draft)
		return m.endTurn(room.TurnRejected{Turn: t.Turn, Draft: t.Draft.Draft, Reason: "not sent: no person has answered"})
	}
	for _, x := range m.Seats {
		if m.now < m.Limits.MaxDuration && m.starts(x) && m.now >= x.startedAt+x.StartTimeout+time.Second {
			return m.started(x, room.FailTimeout, m.now-x.startedAt)
		}
	}
	return m.now < m.Limits.MaxDuration || m.stopAtLimit(0, 0)
}

// interrupt ends the turn of a seat without a reply, if it has the open one.
func (m *Model) interrupt(x *Seat) bool {
	return m.Turn == nil || m.Turn.Seat != x || m.endTurn(room.TurnInterrupted{Turn: m.Turn.Turn})
}

// endTurn ends the open turn without a message.
func (m *Model) endTurn(b room.Body) bool {
	_, interrupted := b.(room.TurnInterrupted)
	if m.note(b); interrupted {
		m.interruptedCharge()
	}
	m.news = m.Seq
	m.close(interrupted && m.Turn.Draft == nil && m.Turn.Seat.takenBy == "")
	return interrupted || m.stopAtLimit(0, 0) || true
}

// close takes the floor back. An agent that may be at work or have ended starts again.
func (m *Model) close(again bool) {
	if again || m.Turn.Seat.Attempt != 0 {
		m.start(m.Turn.Seat)
	}
	for _, c := range m.Calls {
		if c.Turn == m.Turn.Turn { // nobody waits any more
			c.WaitUntil = 0
		}
	}
	m.Turn = nil
}

func (m *Model) pause(cause, code string) bool {
	if m.Turn != nil && m.Turn.Draft == nil && cause == room.CausePerson {
		m.interrupt(m.Turn.Seat)
	}
	m.Phase, m.cause = room.PhasePaused, cause
	return m.note(room.Paused{Cause: cause, Code: code})
}

func (m *Model) resume() bool {
	m.Phase, m.cause, m.Tally.Declines, m.Tally.Failures, m.retryAt = room.PhaseLive, "", 0, 0, 0
	return m.note(room.Resumed{})
}

func (m *Model) end(p room.Phase, cause, name string) bool {
	if m.Turn != nil {
		m.interrupt(m.Turn.Seat)
	}
	m.Phase, m.cause = p, cause
	for _, x := range m.Seats {
		x.set = ""
	}
	faulty := slices.ContainsFunc(m.Seats, func(x *Seat) bool { return x.fault })
	m.degraded = cause == room.CauseSettled && (m.Tally.Turns == 0 || faulty)
	return m.note(map[room.Phase]room.Body{
		room.PhaseStopped:   room.Stopped{Cause: cause, Name: name},
		room.PhaseCompleted: room.Completed{Cause: cause, Degraded: m.degraded},
		room.PhaseError:     room.Errored{Code: name},
	}[p])
}

// ineligible returns why a seat cannot get the floor from the policy.
func (m *Model) ineligible(x *Seat) string {
	switch {
	case x.Kind == policy.Human:
		return "attends"
	case x.standing != room.Active:
		return string(x.standing)
	case x.away():
		return "away"
	case m.Turn != nil, m.Starting(x):
		return "busy"
	case x.last > 0 && m.Tally.Turns+1-x.last <= x.Cooldown:
		return "cooldown"
	case x.MaxTokens > 0 && x.spent >= x.MaxTokens, x.takenBy == "" && x.over():
		return "budget"
	}
	return ""
}
