package replay

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
)

// A PreviewConfig says what to preview. Policy is required.
type PreviewConfig struct {
	Policy drive.Policy
	// Rounds is how many decision points the room has, or more. Only the last ones are
	// asked, as if the room had changed to the policy there.
	Rounds int
	Last   int           // decisions to ask for at most; 0 means 500
	Time   time.Duration // for these decisions, with the events between them; 0 means 10 s
	// Progress, when set, is called with the decisions made and those to make.
	Progress func(made, of int)
}

// Defaults of a [PreviewConfig].
const (
	defPreviewLast = 500
	defPreviewTime = 10 * time.Second
)

// A Preview is what one policy would have decided in a room, decision by decision.
// It is a what-if: every decision is made on the history as it was.
type Preview struct {
	Policy    string            `json:"policy"`
	Points    int               `json:"points" doc:"Decision points of the room"`
	Asked     int               `json:"asked" doc:"Decisions that were made: the last ones"`
	Cut       bool              `json:"cut,omitempty" doc:"The time was over before the last decision"`
	Merged    bool              `json:"merged,omitempty" doc:"The decision points are merged turns: no policy has decided in the room"`
	Same      int               `json:"same" doc:"Decisions as recorded"`
	Recorded  PreviewSums       `json:"recorded"`
	Would     PreviewSums       `json:"would" doc:"Sums of the policy"`
	Turns     []PreviewTurns    `json:"turns" doc:"Turns by participant"`
	Decisions []PreviewDecision `json:"decisions"`
}

// PreviewSums counts decisions without a speaker.
type PreviewSums struct {
	Declines int `json:"declines"`
	Finishes int `json:"finishes"`
	Errors   int `json:"errors" doc:"Failures of the policy; each would pause the room"`
}

// PreviewTurns are the turns that a participant got, and would have got.
type PreviewTurns struct {
	Participant string `json:"participant"`
	Recorded    int    `json:"recorded"`
	Would       int    `json:"would"`
}

// A PreviewDecision is one decision point.
type PreviewDecision struct {
	N        int           `json:"n" doc:"Its number, from 1"`
	Seq      int64         `json:"seq,omitempty" doc:"The event that holds the recorded decision"`
	Turn     int           `json:"turn" doc:"The turn that was to be granted"`
	Same     bool          `json:"same" doc:"The policy decides as recorded"`
	Recorded PreviewChoice `json:"recorded"`
	Would    PreviewChoice `json:"would"`
}

// A PreviewChoice is a decision.
type PreviewChoice struct {
	Action string `json:"action" enum:"speak,decline,finish,error"`
	Agent  string `json:"agent,omitempty"`
	Reason string `json:"reason,omitempty" doc:"The reason of the policy, or the code of its failure"`
}

// MakePreview asks a policy at the last decision points of a room. When its time is
// over, it returns what it has. It ends with the error of ctx, or the first one of
// the transcript.
func MakePreview(ctx context.Context, c PreviewConfig, t history.Transcript) (*Preview, error) {
	if err := drive.Validate([]drive.Policy{c.Policy}); err != nil {
		return nil, err
	}
	if c.Last <= 0 {
		c.Last = defPreviewLast
	}
	if c.Time <= 0 {
		c.Time = defPreviewTime
	}
	p := &Preview{Policy: c.Policy.Name, Turns: []PreviewTurns{}, Decisions: []PreviewDecision{}}
	h, err := history.Open(t)
	if err != nil || h == nil {
		return p, err
	}
	p.Merged = h.Conversation()
	timed, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if c.Policy.Proposer != nil {
		timer := &timer{Proposer: c.Policy.Proposer, time: c.Time, end: func() { cancel(errTime) }}
		defer timer.stop()
		c.Policy.Proposer = timer
	}
	walk := drive.Config{Policies: []drive.Policy{c.Policy}, Asked: func(n int) bool { return n > c.Rounds-c.Last }}
	err = drive.WhatIf(timed, walk, h, 0, func(at *history.Point, made []drive.Evaluation) {
		p.add(at, &made[0])
		if c.Progress != nil {
			c.Progress(p.Asked, max(p.Asked, min(c.Last, c.Rounds)))
		}
	})
	if errors.Is(context.Cause(timed), errTime) && err != nil {
		p.Cut, p.Points = true, max(p.Points, c.Rounds)
		return p, nil
	}
	return p, err
}

// errTime ends a preview whose time is over.
var errTime = errors.New("the time is over")

// A timer is a policy that calls end when some time has passed since its first decision
// was asked for. The events before it take as long as the room is.
type timer struct {
	drive.Proposer
	time  time.Duration
	end   func()
	timer *time.Timer
}

// Propose implements [drive.Proposer]. One goroutine calls it.
func (t *timer) Propose(ctx context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	if t.timer == nil {
		t.timer = time.AfterFunc(t.time, t.end)
	}
	return t.Proposer.Propose(ctx, in)
}

func (t *timer) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

// add counts one decision.
func (p *Preview) add(at *history.Point, e *drive.Evaluation) {
	recorded := drive.Recorded(at)
	d := PreviewDecision{
		N: at.N, Turn: at.State.Tally.Turns + 1, Same: e.Choice == recorded.Choice,
		Recorded: choiceOf(at.History, &recorded), Would: choiceOf(at.History, e),
	}
	if !p.Merged {
		d.Seq = at.Event.Seq
	}
	p.Points = at.N
	p.Asked++
	if d.Same {
		p.Same++
	}
	p.Recorded.add(recorded.Choice)
	p.Would.add(e.Choice)
	p.turn(d.Recorded.Agent, func(t *PreviewTurns) { t.Recorded++ })
	p.turn(d.Would.Agent, func(t *PreviewTurns) { t.Would++ })
	p.Decisions = append(p.Decisions, d)
}

// turn changes the turns of a participant, if the decision chose one.
func (p *Preview) turn(id string, change func(*PreviewTurns)) {
	if id == "" {
		return
	}
	i := slices.IndexFunc(p.Turns, func(t PreviewTurns) bool { return t.Participant == id })
	if i < 0 {
		i = len(p.Turns)
		p.Turns = append(p.Turns, PreviewTurns{Participant: id})
	}
	change(&p.Turns[i])
}

func (s *PreviewSums) add(c history.Choice) {
	switch c {
	case history.Declined:
		s.Declines++
	case history.Finished:
		s.Finishes++
	case history.Failed:
		s.Errors++
	default: // a speaker, see Preview.turn
	}
}

func choiceOf(h *history.History, e *drive.Evaluation) PreviewChoice {
	c := PreviewChoice{Action: h.NameOf(e.Choice), Reason: e.Reason()}
	if e.Choice.Speaks() {
		c.Action, c.Agent = "speak", h.NameOf(e.Choice)
	}
	return c
}
