package replay_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
)

// TestPreview compares a preview with what is recorded, for a policy that always
// chooses the same agent.
func TestPreview(t *testing.T) {
	events := record(t, native{decide: turns, fuel: 7}, 30)
	always := native{decide: func(in *policy.Input) policy.Decision { return policy.Speak("zoe", "always") }}
	told := 0
	p, err := replay.MakePreview(t.Context(), replay.PreviewConfig{
		Policy: drive.Policy{Name: "always", Proposer: always}, Rounds: 30, Progress: func(made, of int) {
			if told++; made != told || of != 30 {
				t.Errorf("%d of %d decisions after %d", made, of, told)
			}
		},
	}, history.Transcript{Name: "r_1", Room: events})
	if err != nil {
		t.Fatal(err)
	}
	if p.Points != 30 || p.Asked != 30 || p.Cut || p.Merged || len(p.Decisions) != 30 || told != 30 {
		t.Errorf("%+v", p)
	}
	if p.Recorded.Declines != 10 || p.Would.Declines != 0 || p.Same != 10 {
		t.Errorf("%d declined, %d would be, %d are the same", p.Recorded.Declines, p.Would.Declines, p.Same)
	}
	for _, x := range p.Turns {
		if x.Participant == "zoe" && x.Would != 30 || x.Participant == "adam" && x.Would != 0 || x.Recorded != 10 {
			t.Errorf("turns %+v", x)
		}
	}
	for i, d := range p.Decisions {
		e := events[d.Seq-1]
		if d.N != i+1 || e.Seq != d.Seq || d.Would != (replay.PreviewChoice{Action: "speak", Agent: "zoe", Reason: "always"}) || d.Same != (d.Recorded.Agent == "zoe") {
			t.Errorf("decision %+v of event %d", d, e.Seq)
		}
	}
	if d := p.Decisions[2]; d.Recorded.Action != "decline" || d.Recorded.Reason != "every third" || d.Turn != 3 {
		t.Errorf("the third decision %+v", d)
	}
}

// TestPreviewOfTheLast asks for the last decisions only. The policy's first input is
// then one as after a change of the policy.
func TestPreviewOfTheLast(t *testing.T) {
	events := record(t, native{decide: turns, fuel: 7}, 30)
	first := true
	p, err := replay.MakePreview(t.Context(), replay.PreviewConfig{Rounds: 30, Last: 4, Policy: drive.Policy{
		Name: "p", Proposer: native{decide: func(in *policy.Input) policy.Decision {
			if in.Init != first || first && (in.Decision != 1 || in.State != nil) {
				t.Errorf("the input of decision %d: first %v, state %s", in.Decision, in.Init, in.State)
			}
			first = false
			return policy.Decline("never")
		}},
	}}, history.Transcript{Name: "r_1", Room: events})
	if err != nil {
		t.Fatal(err)
	}
	if p.Points != 30 || p.Asked != 4 || p.Decisions[0].N != 27 || p.Would.Declines != 4 {
		t.Errorf("%+v", p)
	}
}

// TestPreviewBounds ends previews by their time and by their caller, and makes those
// of a policy that fails and of a room without a decision.
func TestPreviewBounds(t *testing.T) {
	events := record(t, native{decide: turns, fuel: 7}, 30)
	transcript := history.Transcript{Name: "r_1", Room: events}
	waits := waiter{entered: make(chan struct{}, 1)}
	p, err := replay.MakePreview(t.Context(), replay.PreviewConfig{Policy: drive.Policy{Name: "waits", Proposer: waits}, Rounds: 30, Time: time.Millisecond}, transcript)
	if err != nil || !p.Cut || p.Asked != 0 || p.Points != 30 {
		t.Errorf("a policy that takes too long: %+v, %v", p, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waits.entered = make(chan struct{}, 1)
	go func() { <-waits.entered; cancel() }()
	if _, err := replay.MakePreview(ctx, replay.PreviewConfig{Policy: drive.Policy{Name: "waits", Proposer: waits}, Rounds: 30}, transcript); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone: %v", err)
	}
	p, err = replay.MakePreview(t.Context(), replay.PreviewConfig{Policy: drive.Policy{Name: "broken", Proposer: native{err: errors.New("out of order")}}, Rounds: 30}, transcript)
	if err != nil || p.Would.Errors != 30 || p.Decisions[0].Would != (replay.PreviewChoice{Action: "error", Reason: "out of order"}) {
		t.Errorf("a policy that fails: %+v, %v", p, err)
	}
	p, err = replay.MakePreview(t.Context(), replay.PreviewConfig{Policy: drive.Policy{Name: "p", Proposer: native{decide: turns}}}, history.Transcript{Name: "r_1", Room: events[:3]})
	if err != nil || p.Asked != 0 || p.Decisions == nil || p.Turns == nil {
		t.Errorf("a room without a decision: %+v, %v", p, err)
	}
}

// A waiter decides when its caller has gone.
type waiter struct{ entered chan struct{} }

func (w waiter) Propose(ctx context.Context, _ policy.Input) (policy.Decision, policy.Record, error) {
	select {
	case w.entered <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return policy.Decision{}, policy.Record{}, ctx.Err()
}
