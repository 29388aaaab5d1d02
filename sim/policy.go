package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// Styles of policies.
const (
	styleTurns = iota // the agents in turn
	styleAny          // any eligible agent
	styleFaulty
	styleLarge // with a state that the log does not hold
	styles
)

// propose is the policy of a room. It is a pure function of its input, so that a replay
// gives the same decisions.
func propose(style int, in *policy.Input, faults Faults) (policy.Decision, error) {
	roll := number(in.Seed)
	d := policy.Decision{Action: policy.ActionDecline, Reason: "no agent is eligible"}
	var eligible []string
	for _, a := range in.Agents {
		if a.Eligible {
			eligible = append(eligible, a.ID)
		}
	}
	pick := int(roll>>8) % max(1, len(eligible))
	if style == styleTurns {
		pick = in.Turn % max(1, len(eligible))
	}
	odd := int(roll % 100)
	switch {
	case style == styleFaulty && faults&Agents != 0 && odd < 12:
		return oddDecision(odd, in)
	case odd < 20 && len(in.Events) > 0:
		d.Reason, d.RetryMS = "nothing to add", int64(roll>>16%3)*40_000
	case odd == 99 && in.Turn > 6:
		return policy.Finish("the work is done"), nil
	case len(eligible) > 0:
		d = policy.Speak(eligible[pick], "it is "+eligible[pick]+"'s turn")
	}
	if odd%3 == 0 {
		d.State = policy.JSON(`{"turn":` + strconv.Itoa(in.Turn) + `}`)
		if style == styleLarge {
			d.State = policy.JSON(`{"turn":` + strconv.Itoa(in.Turn) + `,"padding":"` + strings.Repeat("x", 600) + `"}`)
		}
	}
	return d, nil
}

// oddDecision is a decision that a room must not follow.
func oddDecision(odd int, in *policy.Input) (policy.Decision, error) {
	nan := 2.0
	switch odd {
	case 0, 1:
		return policy.Decision{}, errPolicy
	case 2, 3:
		return policy.Speak("nobody-of-that-name", "because"), nil
	case 4:
		return policy.Fail("cannot decide"), nil
	case 5:
		d := policy.Speak(in.Agents[0].ID, "sure")
		d.Confidence = &nan
		return d, nil
	case 6:
		for _, a := range in.Agents {
			if !a.Eligible {
				return policy.Speak(a.ID, "although it is not eligible"), nil
			}
		}
	case 7:
		return policy.Decision{Action: "dance"}, nil
	}
	return policy.Decision{}, nil
}

// number returns the number that a seed in hex begins with.
func number(seed string) uint64 {
	n, _ := strconv.ParseUint(seed[:min(16, len(seed))], 16, 64)
	return n
}

func inputDigest(in *policy.Input) string {
	sum := sha256.Sum256(in.AppendJSON(nil))
	return hex.EncodeToString(sum[:])
}

// decideAhead adds to the end of a turn the decision about the next one, now and then, as the
// coordinator does with a quick policy: one append stores both. It decides on a copy, so
// that nothing reads from the state what is not durable.
func (h *hosted) decideAhead(b *batch) {
	if _, replied := b.req.cmd.Do.(room.Replied); !replied || !h.s.src.percent(20) {
		return
	}
	switch b.events[len(b.events)-1].Body.(type) {
	case room.MessagePosted, room.TurnPassed:
	default:
		return
	}
	if len(h.people) > 0 || h.gate.closed > 0 || h.gate.held || slices.ContainsFunc(h.state.Seats, windowed) {
		return
	}
	state, texts := h.state, h.texts
	defer func() { h.state, h.texts = state, texts }()
	h.state = room.State{}
	if err := json.Unmarshal(encoded(&state), &h.state); err != nil {
		h.s.violate("G12", h.id, err.Error())
		return
	}
	h.state.CompileNames()
	for _, e := range b.events {
		h.state.Apply(e)
		h.noteText(e)
	}
	if p, ok := h.nextDecision(); ok {
		b.parts, b.events = append(b.parts, p), append(b.events, p.events...)
	}
}

// nextDecision asks the policy if that is due, and returns what follows.
func (h *hosted) nextDecision() (p part, ok bool) {
	effects := h.state.Effects()
	i := slices.IndexFunc(effects, func(e room.Effect) bool { _, asks := e.(room.Ask); return asks })
	if i < 0 || notBefore(effects[i]) > h.clock() {
		return p, false
	}
	do, ok := h.proposal()
	if !ok {
		return p, false
	}
	p.cmd = h.prepare(room.Command{Actor: room.ActorPolicy, Do: do})
	events, err := h.state.Decide(p.cmd, h.timeNow())
	h.s.trace(h.id, fmt.Sprintf("ahead %T: %s %v", p.cmd.Do, types(events), short(err)))
	p.events = events
	return p, err == nil && len(events) > 0
}

// proposal asks the policy, and returns its answer as a command.
func (h *hosted) proposal() (room.Act, bool) {
	cursor, through := h.state.Policy, h.state.Seq
	in, err := h.state.Input(cursor, h.clock().Truncate(time.Millisecond), h.textOf) // policies count milliseconds
	if err != nil {
		h.s.violate("P3", h.id, "the input of the policy: "+err.Error())
		return nil, false
	}
	h.s.at(moment{kind: onAsked, room: h, input: &in})
	d, err := propose(h.facts.style, &in, h.s.faults)
	rec := cursor.CompleteRecord(policy.Record{Input: inputDigest(&in)}, &in, through, d, err)
	if err != nil {
		return room.PolicyFailed{Record: rec}, true
	}
	return room.Decided{Decision: d, Record: rec}, true
}
