package drive

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
)

// A Simulation is the result of one simulated room.
type Simulation struct {
	Turns    int // granted
	Said     int // of them, with a recorded line
	Passed   int // of them, without a line left
	Failed   int
	Unspoken int    // recorded lines that were not posted
	Ending   string // phase and cause
}

// Simulate lets one of the policies of c run a room of s from the start. The room is the same state
// machine as that of a real room; only the agents, the people and the clock are
// simulated. A chosen agent posts its next recorded line, or passes when none
// is left. People post their recorded messages after as many turns as in the
// transcript, or earlier when the policy declines.
//
// h is the history of s; its walk must be over. observe gets each evaluation.
func Simulate(ctx context.Context, c Config, policy int, h *history.History, s *Scenario, observe func(*history.Point, *Evaluation)) (Simulation, error) {
	h.Labels = nil // the messages come in another order
	r := newSimulator(&c.Policies[policy], c.Repeat, h, s)
	r.observe = observe
	defer r.reader.close()
	err := r.run(ctx)
	return r.result, err
}

// A simulator is one simulated room.
type simulator struct {
	*Scenario
	reader    lineReader
	upcoming  *recordedLine // the next human turn, if it has been read
	point     *history.Point
	evaluator evaluator
	observe   func(*history.Point, *Evaluation)
	ref       room.PolicyRef
	clock     time.Duration
	spoken    int // lines posted
	humans    int // human turns posted
	result    Simulation
}

func newSimulator(p *Policy, repeat int, h *history.History, s *Scenario) *simulator {
	policies := []Policy{*p}
	stats := newStatistics(policies)
	r := &simulator{Scenario: s, reader: lineReader{lines: &s.lines}, ref: p.Ref}
	r.evaluator = newEvaluators(policies, stats, func(v *policyEvaluator) { v.propose, v.repeat = p.propose(), repeat })[0]
	r.point = history.NewPoint(h, maxText(policies))
	r.point.Simulated, r.point.Truth, r.point.OnMessage = true, history.Declined, stats.listener()
	return r
}

// run runs the room to its end.
func (r *simulator) run(ctx context.Context) error {
	if err := r.open(); err != nil {
		return err
	}
	for running := true; running; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if running, err = r.step(ctx); err != nil {
			return err
		}
	}
	r.result.Unspoken = r.Lines() - r.spoken
	r.result.Ending = endingOf(r.point.State)
	return nil
}

// open opens the room. The first turn of a conversation is the recorded one.
func (r *simulator) open() error {
	spec := r.spec
	spec.Policy = r.ref
	if err := r.do(room.ActorHost, room.Open{Spec: spec, Participants: r.participants}); err != nil {
		return err
	}
	if r.opener == "" {
		return nil
	}
	return r.do(room.ActorHost, room.Next{Participant: r.opener, Grant: r.grant(r.opener)})
}

// step does what the room waits for, and reports whether the room goes on.
func (r *simulator) step(ctx context.Context) (bool, error) {
	if said, err := r.humanTurn(false); said || err != nil {
		return err == nil, err
	}
	s := r.point.State
	if s.Phase != room.PhaseLive {
		if s.Phase == room.PhaseCompleted && s.Ending.Cause == room.CauseSettled {
			return r.humanTurn(true) // a message reopens a settled room
		}
		return false, nil
	}
	if at, ok := s.Deadline(); ok && r.clock >= at {
		return true, r.do(room.ActorHost, room.Tick{})
	}
	for _, e := range s.Effects() {
		switch e := e.(type) {
		case room.Speak:
			return true, r.speak(e)
		case room.AskBid:
			return true, r.do(e.Participant, room.BidMade{Decision: e.Decision, Participant: e.Participant, Failed: "recorded agents make no bids"})
		case room.Ask:
			return true, r.ask(ctx, e)
		}
	}
	return false, nil
}

// humanTurn posts the next message of a person, when it is due or, with early,
// at once. It reports whether one was posted.
func (r *simulator) humanTurn(early bool) (bool, error) {
	s := r.point.State
	if r.humans == r.humanTurns || s.Turn != nil {
		return false, nil
	}
	if r.upcoming == nil {
		line, ok, err := r.reader.next("")
		if !ok {
			return false, err
		}
		r.upcoming = &line
	}
	line := r.upcoming
	if !early && line.after > s.Tally.Turns || closed(s) {
		return false, nil
	}
	r.humans++
	r.upcoming = nil
	actor := line.from
	if _, ok := s.Seat(line.from); !ok {
		actor = room.ActorHost
	}
	r.clock += defaultLatency
	return true, r.do(actor, room.Say{Text: line.text, To: line.to, Visibility: line.visibility})
}

// closed reports whether no message can be posted any more.
func closed(s *room.State) bool {
	return s.Phase == room.PhaseStopped || s.Phase == room.PhaseError || s.Phase == room.PhaseCompleted && s.Ending.Cause != room.CauseSettled
}

// ask lets the policy decide. While the room waits after a decline, the next
// person speaks.
func (r *simulator) ask(ctx context.Context, ask room.Ask) error {
	if ask.NotBefore > r.clock {
		if said, err := r.humanTurn(true); said || err != nil {
			return err
		}
		r.clock = ask.NotBefore
	}
	p := r.point
	p.At = r.clock
	p.Open()
	e, err := r.evaluator.evaluate(ctx, p)
	if err != nil {
		return err
	}
	r.observe(p, &e)
	record := e.Record
	record.Decision, record.Through, record.Digest, record.Policy = ask.Decision, p.State.Seq, r.ref.Digest, r.ref.Name
	if e.Err != nil {
		record.Code, record.Error = codeOf(e.Err), e.Err.Error()
		return r.do(room.ActorPolicy, room.PolicyFailed{Record: record})
	}
	record.StateJSON = room.NextPolicyState(p.State.Policy.State, e.Decision.State)
	record.State = room.PolicyStateDigest(record.StateJSON)
	if err := r.do(room.ActorPolicy, room.Decided{Decision: e.Decision, Record: record, Grant: r.grant(e.Decision.Agent)}); err != nil {
		return err
	}
	if p.State.Policy.Lost {
		p.State.SetPolicyState(record.StateJSON)
	}
	return nil
}

func (r *simulator) grant(id string) room.Grant {
	g := room.Grant{Request: fmt.Sprint("q", r.point.State.Tally.Turns+1)}
	if _, ok := r.point.History.SeatOf(id); ok {
		g.Window = r.point.State.WindowFor(id)
		g.Tokens = int64(g.Window.Tokens)
	}
	return g
}

// speak posts the next recorded line of the agent that has the turn.
func (r *simulator) speak(e room.Speak) error {
	reply := room.Replied{Turn: e.Turn, Participant: e.Participant, Request: e.Request, Reply: endpoint.Reply{Outcome: endpoint.Passed, Reason: "no lines left"}, Latency: defaultLatency}
	line, ok, err := r.reader.next(e.Participant)
	if err != nil {
		return err
	}
	if ok {
		r.spoken++
		reply.Outcome, reply.Text, reply.Reason, reply.Latency = endpoint.Said, line.text, "", line.latency
	}
	r.clock += reply.Latency
	return r.do(e.Participant, reply)
}

// do gives the room a command and applies the events.
func (r *simulator) do(actor string, act room.Act) error {
	state := r.point.State
	now := room.Now{Wall: time.Unix(0, 0).Add(r.clock), Clock: r.clock}
	events, err := state.Decide(room.Command{Actor: actor, Do: act}, now)
	if err != nil {
		return fmt.Errorf("simulating %s: %w", r.point.History.Name, err)
	}
	for i := range events {
		switch events[i].Body.(type) {
		case room.TurnGranted:
			r.result.Turns++
		case room.MessagePosted:
			if state.Turn != nil {
				r.result.Said++
			}
		case room.TurnPassed:
			r.result.Passed++
		case room.TurnFailed:
			r.result.Failed++
		}
		r.point.Apply(&events[i])
	}
	return nil
}

func endingOf(s *room.State) string {
	parts := []string{string(s.Phase), s.Ending.Cause, s.Ending.Name}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " ")
}
