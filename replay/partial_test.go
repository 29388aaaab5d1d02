package replay_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
)

// interrupted replays three conversations and cancels at the nth decision.
func interrupted(t *testing.T, n int64, simulate bool) (out string, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var made atomic.Int64
	p := native{decide: func(in *policy.Input) policy.Decision {
		if made.Add(1) == n {
			cancel()
		}
		return turns(in)
	}}
	c := replay.Config{Policies: []drive.Policy{{Name: "p", Proposer: p}}, Partial: true, Simulate: simulate, Workers: 1, Repeat: 1 << 20}
	r, err := replay.Run(ctx, c, conversations(pingPong("talk/1", 100), pingPong("talk/2", 100), pingPong("talk/3", 100)))
	if r == nil {
		t.Fatalf("no report: %v", err)
	}
	if !r.Partial {
		t.Error("the report does not say that it is partial")
	}
	var b bytes.Buffer
	if err := errors.Join(r.WriteText(&b, false), r.WriteMarkdown(&b), r.WriteHTML(&b), r.WriteJUnit(&b), r.WriteSARIF(&b, "v1", nil)); err != nil {
		t.Error(err)
	}
	return b.String(), err
}

// TestPartial: an interrupted replay has a report of what it has done.
func TestPartial(t *testing.T) {
	out, err := interrupted(t, 151, false)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	for _, want := range []string{"2 transcripts", "PARTIAL: interrupted", "1 was replayed in part"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%.800s", want, out)
		}
	}
}

// TestPartialSimulation: a simulation that is interrupted counts whole rooms only.
func TestPartialSimulation(t *testing.T) {
	out, err := interrupted(t, 220, true)
	if !errors.Is(err, context.Canceled) || !strings.Contains(out, "1 transcript ") {
		t.Errorf("%v\n%.800s", err, out)
	}
}

// TestPartialNothing: without a decision there is still a report.
func TestPartialNothing(t *testing.T) {
	out, err := interrupted(t, 1, false)
	if !errors.Is(err, context.Canceled) || !strings.Contains(out, "0 transcripts") {
		t.Errorf("%v\n%.800s", err, out)
	}
}

// TestProgressEnd: the total is exact at last, also if the end of the source is found after
// the last decision.
func TestProgressEnd(t *testing.T) {
	t.Parallel()
	var last replay.Progress
	made := make(chan struct{})
	c := replay.Config{Workers: 1, Resamples: 1, Policies: []drive.Policy{{Name: "freq", Baseline: "freq"}}, Progress: func(p replay.Progress) {
		if last.Made == 0 {
			close(made)
		}
		last = p
	}}
	_, err := replay.Run(t.Context(), c, func(yield func(history.Transcript, error) bool) {
		if yield(history.Transcript{Name: "1", Conversation: pingPong("1", 11)}, nil) {
			<-made
		}
	})
	if err != nil || last != (replay.Progress{Made: 10, Total: 10, Exact: true}) {
		t.Errorf("%+v, error %v", last, err)
	}
}

// TestProgress: the total is exact when all conversations have been read, an estimate
// before, and not known for rooms of unknown length.
func TestProgress(t *testing.T) {
	run := func(c replay.Config, all ...history.Transcript) (last replay.Progress, totals map[int]bool) {
		totals = map[int]bool{}
		c.Workers, c.Resamples = 1, 1
		c.Policies = []drive.Policy{{Name: "freq", Baseline: "freq"}, {Name: "ABA", Baseline: "ABA"}}
		c.Progress = func(p replay.Progress) {
			last = p
			totals[p.Total] = true
		}
		_, err := replay.Run(t.Context(), c, func(yield func(history.Transcript, error) bool) {
			for _, x := range all {
				if !yield(x, nil) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return last, totals
	}
	talk := func(id string, n int) history.Transcript {
		return history.Transcript{Name: id, Conversation: pingPong(id, n)}
	}
	if last, _ := run(replay.Config{}, talk("1", 2001), talk("2", 1001), talk("3", 11)); last != (replay.Progress{Made: 6020, Total: 6020, Exact: true}) {
		t.Errorf("conversations: %+v", last)
	}
	if last, _ := run(replay.Config{Sample: 100}, talk("1", 2001), talk("2", 1001)); last != (replay.Progress{Made: 200, Total: 200, Exact: true}) {
		t.Errorf("sample: %+v", last)
	}
	names := []string{"ann", "bob", "cid"}
	events := streamedRoom("r_1", agentSeats(false, names...), 3000, 5, func(n int) string { return names[n%3] })
	if last, totals := run(replay.Config{}, history.Transcript{Name: "r_1", Events: events}); last.Made != 6000 || last.Exact || !totals[0] || len(totals) != 1 {
		t.Errorf("room of unknown length: %+v, totals %v", last, totals)
	}
	length := 4 + 2*3000
	last, totals := run(replay.Config{}, history.Transcript{Name: "r_1", Events: events, Length: length})
	if last.Made != 6000 || last.Total != 6000 {
		t.Errorf("room: %+v", last)
	}
	for total := range totals {
		if total < 5900 || total > 6100 {
			t.Errorf("estimate %d of 6000", total)
		}
	}
	half := func() float64 { return 0.5 }
	_, totals = run(replay.Config{Read: half}, talk("1", 2001), talk("2", 2001), talk("3", 2001), talk("4", 2001), talk("5", 2001))
	if len(totals) < 2 { // estimates before all is read
		t.Errorf("totals %v", totals)
	}
}
