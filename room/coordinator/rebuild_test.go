package coordinator_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/memory"
)

// hashing records the digest of its input, as the sandbox does, and keeps a
// state that is too large for most records.
type hashing struct{ policyFunc }

func (h hashing) Propose(_ context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	sum := sha256.Sum256(in.AppendJSON(nil))
	d := h.policyFunc(in)
	rec := policy.Record{Input: hex.EncodeToString(sum[:])}
	if d.Action == policy.ActionError {
		return d, rec, errors.New(d.Message)
	}
	d.State = policy.JSON(fmt.Sprintf(`{"n":%d,"pad":%q}`, in.Decision, strings.Repeat("x", 600)))
	return d, rec, nil
}

// eventful is a policy that declines, fails and speaks in turn.
func eventful(in policy.Input) policy.Decision {
	switch in.Decision % 14 {
	case 3, 10:
		return policy.Decline("nothing new")
	case 5:
		if in.Events[len(in.Events)-1].Text != "resumed" {
			return policy.Fail("lost my way")
		}
	}
	for i := range in.Agents {
		if a := in.Agents[(in.Turn+i)%len(in.Agents)]; a.Eligible {
			return policy.Speak(a.ID, "next")
		}
	}
	return policy.Decline("nobody")
}

// TestInputsFromTheLogAlone checks for every decision that the input rebuilt
// from the log has the recorded digest, also after pauses, crashes, declines,
// failures and a change of policy.
func TestInputsFromTheLogAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		cfg := config(l, nil, count)
		cfg.Policy = func(context.Context, room.PolicyRef) (coordinator.Policy, error) { return hashing{eventful}, nil }
		cfg.ResumeAs = room.ActorHost
		s := spec(room.Limits{MaxTurns: 90, MaxDuration: 10 * time.Hour})
		r, err := coordinator.Open(t.Context(), cfg, s, append(agents("a", "b", "c"), room.Participant{ID: "me", Kind: policy.Human}))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; ; i++ {
			ctx, crash := context.WithTimeout(t.Context(), 7*time.Second)
			done := make(chan error, 1)
			go func() { done <- r.Run(ctx) }()
			time.Sleep(3 * time.Second)
			switch i % 3 {
			case 0:
				r.Do(ctx, room.Command{Actor: "me", Do: room.Say{Text: "and b?"}})
			case 1:
				r.Do(ctx, room.Command{Actor: room.ActorHost, Do: room.Pause{}})
			case 2:
				r.Do(ctx, room.Command{Actor: room.ActorHost, Do: room.SetPolicy{Policy: room.PolicyRef{Name: "rotate"}}})
			}
			<-done
			crash()
			if p := r.View().Phase; p != room.PhaseLive && p != room.PhasePaused {
				break
			}
			if r, err = coordinator.Reopen(t.Context(), cfg, "r1"); err != nil {
				t.Fatal(err)
			}
		}
		checkInputs(t, l)
	})
}

// checkInputs folds the log and compares every input with its record.
func checkInputs(t *testing.T, l *memory.Log) {
	t.Helper()
	var s room.State
	decisions, lost, kinds := 0, 0, map[string]bool{}
	for _, e := range events(t, l) {
		kinds[e.Body.Type()] = true
		rec := room.RecordOf(e)
		if rec == nil {
			s.Apply(e)
			continue
		}
		decisions++
		in, err := s.RecordedInput(rec, nil)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(in.AppendJSON(nil))
		if got := hex.EncodeToString(sum[:]); got != rec.Input {
			t.Errorf("event %d: the input of decision %d has digest %s, recorded is %s", e.Seq, rec.Decision, got, rec.Input)
		}
		s.Apply(e)
		if s.Policy.Lost {
			lost++
			d, _, _ := hashing{eventful}.Propose(t.Context(), in)
			s.SetPolicyState(d.State)
		}
	}
	for _, kind := range []string{"room.paused", "room.resumed", "round.declined", "policy.changed", "turn.granted", "room.claimed"} {
		if !kinds[kind] {
			t.Errorf("the room had no %s: the test shows too little", kind)
		}
	}
	if decisions < 50 || lost == 0 {
		t.Errorf("%d decisions, %d of them with a state to recompute: the test shows too little", decisions, lost)
	}
}

// TestPlantedFact checks that the message of turn 3 of 200 is in the last
// prompt when the budget allows one line for each message, and that the prompt
// rebuilt from the log is the same.
func TestPlantedFact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const fact = "The staging password rotates on Thursdays."
		l := &memory.Log{}
		var last endpoint.Prompt
		s := spec(room.Limits{MaxTurns: 200})
		s.Context = room.Context{Tokens: 1000, SummaryTokens: 8000, LineChars: 60}
		r, err := coordinator.Open(t.Context(), config(l, rotate, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			last = p
			if p.Turn == 3 {
				return endpoint.Reply{Outcome: endpoint.Said, Text: fact + " " + strings.Repeat("And so on. ", 50)}, nil
			}
			return count(ctx, p, f)
		}), s, agents("a", "b", "c"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if last.Turn != 200 || !strings.Contains(last.Text, fact) {
			t.Fatalf("the prompt of turn %d does not hold the fact:\n%s", last.Turn, last.Text)
		}
		for _, turn := range []int{1, 2, 57, 200} {
			p, granted, _, err := coordinator.GrantedPrompt(t.Context(), l, "r1", turn)
			if err != nil {
				t.Fatal(err)
			}
			if got := endpoint.Digest(p.Text); got != granted.Prompt {
				t.Errorf("turn %d: prompt rebuilt from the log has digest %s, recorded is %s", turn, got, granted.Prompt)
			}
			if turn == 200 && p.Text != last.Text {
				t.Error("the rebuilt prompt differs from the one that was sent")
			}
		}
	})
}

// TestInstructions checks that an agent of this device gets its own instructions
// apart from the text of its prompt, that the estimate of the turn counts them, and
// that they are not for another owner's device.
func TestInstructions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		got := map[string]string{}
		seats := withRemote()
		for i := range seats {
			seats[i].Instructions = strings.Repeat("Mind "+seats[i].ID+". ", 400)
		}
		r, err := coordinator.Open(t.Context(), config(l, rotate, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			got[p.You.ID] = p.Instructions
			if strings.Contains(p.Text, "Mind ") {
				t.Errorf("the prompt has them:\n%s", p.Text)
			}
			return count(ctx, p, f)
		}), spec(room.Limits{MaxTurns: 2}), seats)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got["mine"] != seats[0].Instructions || got["theirs"] != "" {
			t.Errorf("the agents got %q", got)
		}
		for i, least := range []int64{1000, 0} {
			turn := i + 1
			p, granted, _, err := coordinator.GrantedPrompt(t.Context(), l, "r1", turn)
			if err != nil || granted.Tokens < least || turn == 2 && (granted.Tokens > 1000 || p.Instructions != "") {
				t.Errorf("turn %d: about %d tokens, instructions %q, %v", turn, granted.Tokens, p.Instructions, err)
			}
		}
	})
}

// TestSentPromptHasTheGrantedDigest checks that the digest in turn.granted is
// that of the prompt that the endpoint gets.
func TestSentPromptHasTheGrantedDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		var sent []string
		cfg := config(l, rotate, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			sent = append(sent, endpoint.Digest(p.Text))
			return count(ctx, p, f)
		})
		r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 5}), agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		var granted []string
		for _, e := range events(t, l) {
			if b, ok := e.Body.(room.TurnGranted); ok {
				granted = append(granted, b.Prompt)
			}
		}
		if len(granted) != 5 || !slices.Equal(sent, granted) {
			t.Errorf("sent %q, granted %q", sent, granted)
		}
	})
}

// TestSnapshotIsTheFold checks that a snapshot gives the same state as the whole
// log.
func TestSnapshotIsTheFold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		cfg := config(l, rotate, count)
		r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 800}), agents("a", "b", "c"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Snapshot(t.Context(), "r1"); err != nil {
			t.Fatalf("no snapshot after 800 turns: %v", err)
		}
		with, err := coordinator.Fold(t.Context(), cfg, "r1")
		if err != nil {
			t.Fatal(err)
		}
		without, err := coordinator.Fold(t.Context(), coordinator.Config{Log: unsnapped{l}, Policy: cfg.Policy}, "r1")
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(with)
		b, _ := json.Marshal(without)
		if !bytes.Equal(a, b) {
			t.Error("the state from the snapshot is not the fold of the log")
		}
	})
}

// TestSnapshotHoldsPolicyState checks that a snapshot that is taken right after a decision
// holds the state of the policy, of which the log has only the digest.
func TestSnapshotHoldsPolicyState(t *testing.T) {
	for _, isQuick := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := &firstSnapshot{Log: &memory.Log{}}
			cfg := config(l, nil, count)
			cfg.Policy = func(context.Context, room.PolicyRef) (coordinator.Policy, error) {
				return quickIf(isQuick, hashing{rotate}), nil
			}
			r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 520}), agents("a", "b", "c"))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			evs := events(t, l)
			if rec := room.RecordOf(evs[l.seq-1]); rec == nil || rec.StateJSON != nil {
				t.Fatalf("the snapshot was taken at event %d, which is no decision whose state the log lacks", l.seq)
			}
			l.cut = l.seq // as after a crash then
			check := func() {
				t.Helper()
				s, err := coordinator.Fold(t.Context(), cfg, "r1")
				if err != nil {
					t.Fatal(err)
				}
				if s.Policy.Lost || room.PolicyStateDigest(s.Policy.State) != s.Policy.Digest {
					t.Errorf("quick %t: the state from the snapshot has %.20q as that of the policy, lost %t", isQuick, s.Policy.State, s.Policy.Lost)
				}
			}
			check()
			snap, err := l.Snapshot(t.Context(), "r1")
			if err != nil {
				t.Fatal(err)
			}
			snap.Data = bytes.Replace(snap.Data, []byte(`"Lost":false`), []byte(`"Lost":true`), 1)
			if err := l.Log.PutSnapshot(t.Context(), "r1", snap); err != nil {
				t.Fatal(err)
			}
			check() // an earlier version of moot took such snapshots, without the state
		})
	}
}

// firstSnapshot is a log that keeps the first snapshot. Its events end at cut, if that is
// not zero.
type firstSnapshot struct {
	*memory.Log
	seq, cut int64
}

func (l *firstSnapshot) PutSnapshot(ctx context.Context, id string, s log.Snapshot) error {
	if l.seq != 0 {
		return nil
	}
	l.seq = int64(s.Seq)
	return l.Log.PutSnapshot(ctx, id, s)
}

func (l *firstSnapshot) Read(ctx context.Context, id string, after log.Pos, n int) ([]log.Entry, error) {
	if l.cut != 0 {
		n = min(n, int(l.cut)-int(after.Seq))
	}
	if n <= 0 {
		return nil, nil
	}
	return l.Log.Read(ctx, id, after, n)
}

// unsnapped is a log without snapshots.
type unsnapped struct{ *memory.Log }

func (unsnapped) Snapshot(context.Context, string) (log.Snapshot, error) {
	return log.Snapshot{}, log.ErrNotFound
}

// TestLogIsLinearInTurns checks that the size of a turn in the log does not
// depend on the number of turns before it.
func TestLogIsLinearInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		s := spec(room.Limits{MaxTurns: 2000})
		r, err := coordinator.Open(t.Context(), config(l, rotate, func(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			return endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprintf("%04d %s", p.Turn, strings.Repeat("x", 1000))}, nil
		}), s, agents("a", "b", "c", "d"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		entries, err := l.Read(t.Context(), "r1", log.Pos{}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		var early, late int
		for _, e := range entries {
			switch b := e.Event.Body.(type) {
			case room.TurnGranted:
				if b.Turn > 500 && b.Turn <= 1000 {
					early += len(e.Raw)
				} else if b.Turn > 1500 {
					late += len(e.Raw)
				}
			}
		}
		if early == 0 || late > early*105/100 {
			t.Errorf("500 grants take %d bytes after 500 turns and %d after 1,500", early, late)
		}
	})
}
