package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
)

var simulateNotes = []string{
	"simulate: a policy drives the recorded agents from the start; who is chosen says its next recorded line that it has not said yet, and passes when it has none left",
	"airtime, declines, limits and endings are the room's own; the text is not what would have been said",
}

// Simulated says how the rooms went that a policy drove, or that were
// recorded.
type Simulated struct {
	Turns    int      `json:"turns"`  // granted
	Said     int      `json:"said"`   // of them, with a recorded line
	Passed   int      `json:"passed"` // of them, without a line left
	Failed   int      `json:"failed,omitempty"`
	Unspoken int      `json:"unspoken"` // recorded lines that nobody said
	Endings  []Ending `json:"endings,omitempty"`
}

// An Ending is how many rooms ended in one way.
type Ending struct {
	Ending string `json:"ending"`
	Rooms  int    `json:"rooms"`
}

// simulated is the same of one room.
type simulated struct {
	turns, said, passed, failed, unspoken int
	ending                                string
}

// simulate lets each subject drive the transcript.
func (t *trial) simulate(ctx context.Context, b *bench, h *history) error {
	t.h, t.recorded = h, &score{ran: &simulated{}}
	detailed := b.shows(t)
	err := h.walk(b.most, nil, func(p *point) error {
		t.recorded.record(p, detailed)
		return nil
	})
	if err != nil {
		return err
	}
	c, err := h.castOf()
	if err != nil {
		return err
	}
	for _, n := range c.lines {
		t.recorded.ran.said += n
	}
	t.recorded.ran.turns = t.recorded.ran.said
	h.labels = nil
	for i := range b.Subjects {
		s := newSimulation(b, i, h, c)
		s.asker.detailed = detailed
		if err := s.run(ctx); err != nil {
			return err
		}
		t.scores = append(t.scores, s.asker.score)
		b.advance(int(s.asker.score.sums[sDecisions]))
	}
	t.finish()
	return nil
}

// A simulation is one room that one subject drives. The room is the pure state
// machine that real rooms are; only the agents, the people and the clock are
// played.
type simulation struct {
	*cast
	stage  stage
	p      *point
	asker  *asker
	ref    room.PolicyRef
	clock  time.Duration
	spoken int // lines said
	cued   int // cues said
	going  *simulated
}

func newSimulation(b *bench, subject int, h *history, c *cast) *simulation {
	s := &simulation{cast: c, stage: stage{script: &c.script}, ref: b.Subjects[subject].Ref, going: &simulated{}}
	s.asker = newAsker(b.Config, &b.Subjects[subject], 0, b.gauges[subject])
	s.asker.score.ran = s.going
	s.p = newPoint(h, b.most)
	s.p.simulated, s.p.truth = true, declined
	if b.Subjects[subject].Baseline != "" {
		s.p.habits = newHabits()
	}
	return s
}

// run drives the room to its end.
func (s *simulation) run(ctx context.Context) error {
	defer s.stage.close()
	if err := s.open(); err != nil {
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		on, err := s.step(ctx)
		if err != nil {
			return err
		}
		if !on {
			break
		}
	}
	s.going.unspoken = -s.spoken
	for _, n := range s.lines {
		s.going.unspoken += n
	}
	s.going.ending = endingOf(s.p.state)
	return nil
}

// open opens the room and, of a talk, lets the first turn be as it was.
func (s *simulation) open() error {
	spec := s.spec
	spec.Policy = s.ref
	if err := s.do(room.ActorHost, room.Open{Spec: spec, Participants: s.participants}); err != nil {
		return err
	}
	if s.opens == "" {
		return nil
	}
	return s.do(room.ActorHost, room.Next{Participant: s.opens, Grant: s.grant(s.opens)})
}

// step does what the room waits for, and reports whether it goes on.
func (s *simulation) step(ctx context.Context) (bool, error) {
	if said, err := s.cue(false); said || err != nil {
		return err == nil, err
	}
	st := s.p.state
	if st.Phase != room.PhaseLive {
		if st.Phase == room.PhaseCompleted && st.Ending.Cause == room.CauseSettled {
			return s.cue(true) // somebody else speaks: the room goes on
		}
		return false, nil
	}
	if at, ok := st.Deadline(); ok && s.clock >= at {
		return true, s.do(room.ActorHost, room.Tick{})
	}
	for _, e := range st.Effects() {
		switch e := e.(type) {
		case room.Speak:
			return true, s.speak(e)
		case room.AskBid:
			return true, s.do(e.Participant, room.BidMade{Decision: e.Decision, Participant: e.Participant, Failed: "a recorded agent makes no bid"})
		case room.Ask:
			return true, s.ask(ctx, e)
		}
	}
	return false, nil
}

// cue lets the next person speak, if it is time, or at any rate.
func (s *simulation) cue(now bool) (bool, error) {
	if s.cued == s.cues || s.p.state.Turn != nil {
		return false, nil
	}
	if s.stage.cue == nil {
		q, ok, err := s.stage.say("")
		if !ok {
			return false, err
		}
		s.stage.cue = &q
	}
	q := s.stage.cue
	if !now && q.after > s.p.state.Tally.Turns || ended(s.p.state) {
		return false, nil
	}
	s.cued++
	s.stage.cue = nil
	actor := q.from
	if _, ok := s.p.state.Seat(q.from); !ok {
		actor = room.ActorHost
	}
	s.clock += beat
	return true, s.do(actor, room.Say{Text: q.text, To: q.to, Visibility: q.shown})
}

// ended reports whether nothing can be said any more.
func ended(s *room.State) bool {
	return s.Phase == room.PhaseStopped || s.Phase == room.PhaseError || s.Phase == room.PhaseCompleted && s.Ending.Cause != room.CauseSettled
}

// ask lets the subject decide. While it waits after a decline, the next person
// speaks, if anybody has something left to say.
func (s *simulation) ask(ctx context.Context, e room.Ask) error {
	if e.NotBefore > s.clock {
		if said, err := s.cue(true); said || err != nil {
			return err
		}
		s.clock = e.NotBefore
	}
	p := s.p
	p.n++
	p.at = s.clock
	p.open()
	v, err := s.asker.visit(ctx, p)
	if err != nil {
		return err
	}
	r := v.record
	r.Decision, r.Through, r.Digest, r.Policy = e.Decision, p.state.Seq, s.ref.Digest, s.ref.Name
	if v.err != nil {
		r.Code, r.Error = codeOf(v.err), v.err.Error()
		return s.do(room.ActorPolicy, room.PolicyFailed{Record: r})
	}
	if err := s.do(room.ActorPolicy, room.Decided{Decision: v.decision, Record: r, Grant: s.grant(v.decision.Agent)}); err != nil {
		return err
	}
	if p.state.Policy.Lost {
		p.state.SetPolicyState(r.StateJSON)
	}
	return nil
}

func (s *simulation) grant(id string) room.Grant {
	g := room.Grant{Request: fmt.Sprint("q", s.p.state.Tally.Turns+1)}
	if _, ok := s.p.h.index[id]; ok {
		g.Window = s.p.state.WindowFor(id)
		g.Tokens = int64(g.Window.Tokens)
	}
	return g
}

// speak lets the agent that has the floor say its next line.
func (s *simulation) speak(e room.Speak) error {
	r := room.Replied{Turn: e.Turn, Participant: e.Participant, Request: e.Request, Reply: endpoint.Reply{Outcome: endpoint.Passed, Reason: "no lines left"}, Latency: beat}
	l, ok, err := s.stage.say(e.Participant)
	if err != nil {
		return err
	}
	if ok {
		s.spoken++
		r.Outcome, r.Text, r.Reason, r.Latency = endpoint.Said, l.text, "", l.latency
	}
	s.clock += r.Latency
	return s.do(e.Participant, r)
}

// do hands the room a command and takes in what comes of it.
func (s *simulation) do(actor string, act room.Act) error {
	now := room.Now{Wall: time.Unix(0, 0).Add(s.clock), Clock: s.clock}
	events, err := s.p.state.Decide(room.Command{Actor: actor, Do: act}, now)
	if err != nil {
		return fmt.Errorf("simulating %s: %w", s.p.h.name, err)
	}
	for i := range events {
		switch events[i].Body.(type) {
		case room.TurnGranted:
			s.going.turns++
		case room.MessagePosted:
			if s.p.state.Turn != nil {
				s.going.said++
			}
		case room.TurnPassed:
			s.going.passed++
		case room.TurnFailed:
			s.going.failed++
		}
		s.p.apply(&events[i])
	}
	return nil
}

// endingOf names how the room ended.
func endingOf(s *room.State) string {
	name := string(s.Phase)
	for _, more := range []string{s.Ending.Cause, s.Ending.Name} {
		if more != "" {
			name += " " + more
		}
	}
	return name
}

// ran adds up how the rooms of a subject went.
func (b *bench) ran(subject int) *Simulated {
	if !b.Simulate {
		return nil
	}
	out, endings := &Simulated{}, map[string]int{}
	for _, t := range b.trials {
		r := t.of(subject).ran
		out.Turns += r.turns
		out.Said += r.said
		out.Passed += r.passed
		out.Failed += r.failed
		out.Unspoken += r.unspoken
		if r.ending != "" {
			endings[r.ending]++
		}
	}
	for name, n := range endings {
		out.Endings = append(out.Endings, Ending{name, n})
	}
	slices.SortFunc(out.Endings, func(a, b Ending) int {
		return cmp.Or(cmp.Compare(b.Rooms, a.Rooms), cmp.Compare(a.Ending, b.Ending))
	})
	return out
}
