package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
)

// reconcile cancels the effects that the state no longer has, starts those that are
// missing, and sets the alarm for the next deadline.
func (h *hosted) reconcile() {
	if h.ended || h.batch != nil || len(h.boot) > 0 || !h.claimed {
		return
	}
	now, wake := h.clock(), time.Duration(-1)
	wakeAt := func(at time.Duration) {
		if d := max(0, at-now); wake < 0 || d < wake {
			wake = d
		}
	}
	effects := h.state.Effects()
	keys := make([]string, len(effects))
	for i, e := range effects {
		keys[i] = e.Key()
	}
	h.gate.keep(keys)
	for i, e := range effects {
		if at := notBefore(e); at > now {
			wakeAt(at)
		} else if running, cut := h.gate.start(keys[i]); running != nil {
			h.run(e, running, cut)
		}
	}
	if at, ok := h.state.Deadline(); ok {
		wakeAt(at)
	}
	if d := h.untilBudget(); d >= 0 && (wake < 0 || d < wake) {
		wake = d
	}
	h.setAlarm(wake)
}

// setAlarm wakes the loop after d; a negative d means never.
func (h *hosted) setAlarm(d time.Duration) {
	h.alarm++
	if d < 0 {
		return
	}
	number := h.alarm
	h.s.after(d, func() {
		if !h.ended && h.alarm == number {
			h.due = true
		}
	})
}

// notBefore returns the clock before which an effect does not start.
func notBefore(e room.Effect) time.Duration {
	switch e := e.(type) {
	case room.Ask:
		return e.NotBefore
	case room.AskBid:
		return e.NotBefore
	}
	return 0
}

// run starts an effect.
func (h *hosted) run(e room.Effect, running *effect, cut bool) {
	h.s.trace(h.id, "start ", running.key)
	switch e := e.(type) {
	case room.Ask:
		h.ask(running)
	case room.AskBid:
		h.askBid(e, running)
	case room.Start:
		h.startAgent(e, running)
	case room.Speak:
		h.speak(e, running, cut)
	case room.RunCall:
		h.runCall(e, running)
	case room.ServeAgent:
		h.result(running, 0, room.ActorRoom, func() room.Act { return room.Serve{} })
	}
}

// result gives the result of an effect to the loop after some time, unless the effect is
// cancelled before.
func (h *hosted) result(e *effect, d time.Duration, actor string, do func() room.Act) {
	h.s.after(d, func() {
		if !e.cancelled && !e.done && !h.ended {
			e.done = true
			h.enqueue(request{cmd: room.Command{Actor: actor, Do: do()}, key: e.key})
		}
	})
}

// ask puts the current decision to the policy.
func (h *hosted) ask(e *effect) {
	do, ok := h.proposal()
	if !ok {
		return
	}
	latency := h.s.src.between(100*time.Microsecond, 5*time.Millisecond)
	if h.s.fault(Agents, 3) {
		latency = h.s.src.between(time.Second, 90*time.Second)
	}
	h.result(e, latency, room.ActorPolicy, func() room.Act { return do })
}

// askBid asks an agent for a bid.
func (h *hosted) askBid(e room.AskBid, running *effect) {
	do := room.BidMade{Decision: e.Decision, Participant: e.Participant}
	latency := h.s.elapsed()
	switch {
	case h.s.fault(Agents, 10):
		do.Failed, latency = "no answer within its time", e.Timeout
	case h.s.fault(Agents, 5):
		do.Bid.Score = one(h.s.src, -1, 2, 1e300)
	default:
		do.Bid.Score = float64(h.s.src.below(100)) / 100
	}
	h.result(running, latency, e.Participant, func() room.Act { return do })
}

// startAgent starts the agent of a seat.
func (h *hosted) startAgent(e room.Start, running *effect) {
	do := room.Started{Participant: e.Participant, Attempt: e.Attempt, Latency: h.s.between(time.Second)}
	switch {
	case h.s.fault(Agents, 5):
		return // it hangs, and the room gives up on it
	case h.s.fault(Agents, 8):
		do.Code, do.Error = one(h.s.src, room.FailExited, room.FailInterrupted, room.FailTimeout, room.FailFailed), "it did not start"
	}
	h.facts.agent(e.Participant).alive = do.Code == ""
	h.result(running, do.Latency, e.Participant, func() room.Act { return do })
}

// between returns a duration up to d.
func (s *simulation) between(d time.Duration) time.Duration { return s.src.between(0, d) }

// speak sends the prompt of the open turn. A prompt is sent once, and only as it was
// granted.
func (h *hosted) speak(e room.Speak, running *effect, cut bool) {
	digest, _ := h.prompt(e.Participant, e.Window, e.Request)
	running.request = e.Request
	if cut || e.Digest != "" && e.Digest != digest {
		h.s.at(moment{kind: onHeld, room: h})
		h.result(running, 0, e.Participant, func() room.Act {
			return room.Failed{Turn: e.Turn, Request: e.Request, Code: room.FailHeld, Error: "its prompt was held back"}
		})
		return
	}
	h.send(e, running)
	h.deadline(e, running, h.s.now, e.Timeout)
}

// send gives a prompt to an agent, on this device or another one.
func (h *hosted) send(e room.Speak, running *effect) {
	if h.s.cfg.flaws.sendTwice {
		h.facts.sent(h.s, h, e)
	}
	h.s.note([]byte("send " + h.id + " " + e.Request))
	h.facts.sent(h.s, h, e)
	h.s.at(moment{kind: onSend, room: h, speak: &e})
	a := h.facts.agent(e.Participant)
	switch {
	case a.seat.Session:
		h.offer(e, running, a)
	case a.seat.Device != "":
		h.overRelay(e, running, a)
	default:
		h.s.after(h.s.elapsed(), func() { a.receive(h, e, running) })
	}
}

// deadline ends a turn whose agent has not answered in time. The clock stands while the
// agent waits for a permission or a call.
func (h *hosted) deadline(e room.Speak, running *effect, began, left time.Duration) {
	h.s.after(left, func() {
		t := h.state.Turn
		switch {
		case running.cancelled || running.done || h.ended:
		case t != nil && t.Request == e.Request && (len(t.Requests) > 0 || t.Calling > 0):
			h.deadline(e, running, began, 5*time.Second)
		case h.s.fault(Agents, 20): // its driver hangs too, so the room ends the turn
		default:
			running.done = true
			h.enqueue(request{key: running.key, cmd: room.Command{Actor: e.Participant, Do: room.Failed{
				Turn: e.Turn, Request: e.Request, Code: room.FailTimeout, Error: "no answer in time", Latency: h.s.now - began,
			}}})
		}
	})
}

// reply gives an answer of an agent to the room. An answer to a request that has ended
// is reported as late.
func (h *hosted) reply(e room.Speak, running *effect, r endpoint.Reply, latency time.Duration) {
	if h.ended {
		return
	}
	do := room.Replied{Turn: e.Turn, Participant: e.Participant, Request: e.Request, Reply: r, Latency: latency}
	key := running.key
	switch {
	case running.cancelled || running.done:
		h.s.at(moment{kind: onLate, room: h, speak: &e})
		if key = ""; h.s.src.percent(50) {
			do.Turn = 0
		}
	default:
		running.done = true
	}
	h.enqueue(request{key: key, cmd: room.Command{Actor: e.Participant, Do: do}})
}

// failTurn ends a turn without an answer.
func (h *hosted) failTurn(e room.Speak, running *effect, code string, u room.Usage, latency time.Duration) {
	if h.ended || running.cancelled || running.done {
		return
	}
	running.done = true
	h.enqueue(request{key: running.key, cmd: room.Command{Actor: e.Participant, Do: room.Failed{
		Turn: e.Turn, Request: e.Request, Code: code, Error: "the agent failed: " + code, Usage: u, Latency: latency,
	}}})
}

var errPolicy = errors.New("the policy failed")

// A text is a message of the log, as the host keeps it for prompts.
type text struct {
	seq int64
	m   room.Message
}

// noteText keeps the text of a message, or forgets one that was redacted.
func (h *hosted) noteText(e room.Event) {
	switch b := e.Body.(type) {
	case room.MessagePosted:
		h.texts = append(h.texts, text{e.Seq, b.Message})
	case room.Redacted:
		for i := range h.texts {
			if h.texts[i].seq == b.Target {
				h.texts[i].m.Text, h.texts[i].m.Summary, h.texts[i].m.Payload = "", "", nil
			}
		}
	}
}

// textOf returns the text of an event for the input of the policy.
func (h *hosted) textOf(seq int64) (string, error) {
	i, ok := slices.BinarySearchFunc(h.texts, seq, func(t text, seq int64) int { return int(t.seq - seq) })
	if !ok {
		return "", nil
	}
	return h.texts[i].m.Text, nil
}

// prompt returns the digest and the size of the prompt of a participant. The same window
// in the same state gives the same prompt.
func (h *hosted) prompt(id string, w room.Window, request string) (digest string, size int) {
	sum := sha256.New()
	fmt.Fprintln(sum, request, id)
	include := func(from, to int64) {
		i, _ := slices.BinarySearchFunc(h.texts, from, func(t text, seq int64) int { return int(t.seq - seq) })
		for ; i < len(h.texts) && h.texts[i].seq <= to; i++ {
			if m, ok := h.texts[i].m.VisibleTo(id); ok {
				fmt.Fprintln(sum, h.texts[i].seq, m.From, m.Text)
				size += len(m.Text) + 20
			}
		}
	}
	for _, seq := range w.First {
		include(seq, seq)
	}
	for _, spans := range [][]room.Span{w.Verbatim, w.Lines} {
		for _, p := range spans {
			include(p.From, p.To)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), size
}
