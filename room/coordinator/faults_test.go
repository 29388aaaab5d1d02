package coordinator_test

import (
	"context"
	"errors"
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

// run opens a room and runs it to its end.
func run(t *testing.T, l coordinator.Log, p policyFunc, s speakFunc, limits room.Limits, ids ...string) (*coordinator.Room, error) {
	t.Helper()
	r, err := coordinator.Open(t.Context(), config(l, p, s), spec(limits), agents(ids...))
	if err != nil {
		t.Fatal(err)
	}
	return r, r.Run(t.Context())
}

func has(t *testing.T, l *memory.Log, want ...string) {
	t.Helper()
	got := types(events(t, l))
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("no %s in %v", w, got)
		}
	}
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		r, err := run(t, l, rotate, func(ctx context.Context, _ endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			<-ctx.Done()
			return endpoint.Reply{}, endpoint.ErrTimeout
		}, room.Limits{MaxFailures: 2}, "a", "b")
		if err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Ending.Name != "maxFailures" || v.Clock != 2*time.Minute {
			t.Errorf("ended as %+v at %v", v.Ending, v.Clock)
		}
	})
}

// TestDeafEndpoint checks that an endpoint that ignores its deadline does not
// delay the room.
func TestDeafEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		release := make(chan struct{})
		go func() { time.Sleep(10 * time.Minute); close(release) }()
		r, err := run(t, l, rotate, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
			<-release
			return endpoint.Reply{Outcome: endpoint.Said, Text: "at last"}, nil
		}, room.Limits{MaxFailures: 1}, "a")
		if err != nil {
			t.Fatal(err)
		}
		if v := r.View(); v.Clock != 61*time.Second {
			t.Errorf("given up at %v, want one second after the time-out", v.Clock)
		}
		if slices.Contains(types(events(t, l)), "message.posted") {
			t.Error("a late reply was posted")
		}
	})
}

func TestExitSuspends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		r, err := run(t, l, func(in policy.Input) policy.Decision {
			for _, a := range in.Agents {
				if a.Eligible {
					return policy.Speak(a.ID, "first")
				}
			}
			return policy.Decline("nobody")
		}, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if p.You.ID == "a" {
				return endpoint.Reply{}, endpoint.ErrExited
			}
			return count(ctx, p, f)
		}, room.Limits{MaxTurns: 4}, "a", "b")
		if err != nil {
			t.Fatal(err)
		}
		has(t, l, "turn.failed", "participant.changed")
		if v := r.View(); v.Seats[0].Phase != "suspended" || v.Seats[1].Turns != 3 {
			t.Errorf("seats %+v", v.Seats)
		}
	})
}

// full fails every append after the first n.
type full struct {
	*memory.Log
	left int
}

var errFull = errors.New("no space left on device")

func (f *full) Append(ctx context.Context, id string, after log.Pos, wake time.Time, evs ...room.Event) (log.Pos, bool, error) {
	if f.left--; f.left < 0 {
		return log.Pos{}, false, errFull
	}
	return f.Log.Append(ctx, id, after, wake, evs...)
}

func TestLogFails(t *testing.T) {
	for n := 2; n < 8; n++ {
		synctest.Test(t, func(t *testing.T) {
			l := &full{Log: &memory.Log{}, left: n}
			spoke := 0
			_, err := run(t, l, rotate, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
				spoke++
				return count(ctx, p, f)
			}, room.Limits{MaxTurns: 20}, "a", "b")
			if !errors.Is(err, errFull) {
				t.Errorf("Run returned %v", err)
			}
			granted := 0
			for _, typ := range types(events(t, l.Log)) {
				if typ == "turn.granted" {
					granted++
				}
			}
			if spoke > granted {
				t.Errorf("%d prompts left, %d grants are stored", spoke, granted)
			}
		})
	}
}

// failed is a log whose handle fails at the third append, because of a lock of
// another process.
type failed struct {
	*memory.Log
	appends int
}

func (f *failed) Append(ctx context.Context, id string, after log.Pos, wake time.Time, evs ...room.Event) (log.Pos, bool, error) {
	switch f.appends++; {
	case f.appends == 3:
		return log.Pos{}, false, errors.Join(log.ErrUnknown, log.ErrBusy, log.ErrFailed)
	case f.appends > 3:
		return log.Pos{}, false, errFull // ends the test
	}
	return f.Log.Append(ctx, id, after, wake, evs...)
}

// TestHandleFails checks that an append is not tried again on a failed handle.
func TestHandleFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &failed{Log: &memory.Log{}}
		_, err := run(t, l, rotate, count, room.Limits{MaxTurns: 20}, "a", "b")
		if !errors.Is(err, log.ErrFailed) || l.appends != 3 {
			t.Errorf("after %d appends: %v", l.appends, err)
		}
	})
}

// away is a log whose server cannot be reached in the first minute of its third append.
type away struct {
	*memory.Log
	err             error
	appends, failed int
	until           time.Time
}

func (a *away) Append(ctx context.Context, id string, after log.Pos, wake time.Time, evs ...room.Event) (log.Pos, bool, error) {
	if a.appends++; a.appends == 3 {
		a.until = time.Now().Add(time.Minute)
	}
	if time.Now().Before(a.until) {
		if a.failed++; a.failed > 1000 {
			return log.Pos{}, false, errFull // ends a test in which no time passes
		}
		return log.Pos{}, false, a.err
	}
	return a.Log.Append(ctx, id, after, wake, evs...)
}

// TestAppendsPause checks that an append of unknown outcome is tried again at growing
// intervals, and stored once.
func TestAppendsPause(t *testing.T) {
	for _, unknown := range []error{log.ErrUnknown, errors.Join(log.ErrUnknown, log.ErrBusy)} {
		synctest.Test(t, func(t *testing.T) {
			l := &away{Log: &memory.Log{}, err: unknown}
			_, err := run(t, l, rotate, count, room.Limits{MaxTurns: 5}, "a", "b")
			if err != nil || l.failed > 100 {
				t.Errorf("%d attempts in a minute: %v", l.failed, err)
			}
			has(t, l.Log, "room.stopped")
		})
	}
}

// TestFenced checks that a process that has lost the room stops at its next
// append.
func TestFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &unlocked{&memory.Log{}}
		slow := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			time.Sleep(10 * time.Second)
			return count(ctx, p, f)
		}
		first, err := coordinator.Open(t.Context(), config(l, rotate, slow), spec(room.Limits{MaxTurns: 5}), agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- first.Run(t.Context()) }()
		time.Sleep(15 * time.Second)
		cfg := config(l, rotate, count)
		cfg.ResumeAs = room.ActorHost
		second, err := coordinator.Reopen(t.Context(), cfg, "r1")
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, coordinator.ErrFenced) {
			t.Errorf("the old owner ended with %v", err)
		}
		var epoch uint64
		for i, e := range events(t, l.Log) {
			if e.Epoch < epoch || e.Seq != int64(i+1) {
				t.Fatalf("event %d of epoch %d after epoch %d", e.Seq, e.Epoch, epoch)
			}
			epoch = e.Epoch
		}
	})
}

// unlocked is a log without locks, so that two processes can run one room.
type unlocked struct{ *memory.Log }

func (unlocked) Lock(context.Context, string) (func(), error) { return func() {}, nil }

func TestBids(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		bid := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if p.Kind != endpoint.Bid {
				return count(ctx, p, f)
			}
			score := map[string]float64{"a": 0.2, "b": 0.9}[p.You.ID]
			if p.You.ID == "c" {
				<-ctx.Done()
				return endpoint.Reply{}, endpoint.ErrTimeout
			}
			return endpoint.Reply{Bid: &score, Reason: "keen"}, nil
		}
		best := func(in policy.Input) policy.Decision {
			d, top := policy.Decline("no bids"), 0.0
			for _, a := range in.Agents {
				if a.Bid != nil && a.Bid.Score > top {
					d, top = policy.Speak(a.ID, a.Bid.Reason), a.Bid.Score
				}
			}
			return d
		}
		s := spec(room.Limits{MaxTurns: 2})
		s.Policy.Needs.Bids = true
		r, err := coordinator.Open(t.Context(), config(l, best, bid), s, agents("a", "b", "c"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		bids, failed := 0, 0
		for _, e := range events(t, l) {
			switch b := e.Body.(type) {
			case room.BidPosted:
				bids++
				if b.Failed != "" {
					failed++
				}
			case room.TurnGranted:
				if b.Participant != "b" {
					t.Errorf("the floor went to %s", b.Participant)
				}
			}
		}
		if bids != 6 || failed != 2 {
			t.Errorf("%d bids, %d of them failed; want 6 and 2", bids, failed)
		}
	})
}

// TestStalledWatcher checks that a watcher that does not read delays nothing and
// misses no event later.
func TestStalledWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		r, err := coordinator.Open(t.Context(), config(l, rotate, count), spec(room.Limits{MaxTurns: 300}), agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		first, release := make(chan struct{}), make(chan struct{})
		seen := make(chan int64, 1)
		go func() {
			var last int64
			for u := range r.Watch(t.Context(), 0, room.Internal) {
				if u.Event == nil {
					continue
				}
				if u.Event.Seq != last+1 {
					t.Errorf("event %d after %d", u.Event.Seq, last)
				}
				if last = u.Event.Seq; last == 1 {
					close(first)
					<-release
				}
			}
			seen <- last
		}()
		<-first
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		close(release)
		if got, want := <-seen, r.View().Seq; got != want {
			t.Errorf("watched up to event %d of %d", got, want)
		}
	})
}

// TestAudit checks that each turn and each refusal is in the host log, and that
// the room ends when the host log cannot be written.
func TestAudit(t *testing.T) {
	for _, isQuick := range []bool{false, true} {
		testAudit(t, isQuick)
	}
}

func testAudit(t *testing.T, isQuick bool) {
	synctest.Test(t, func(t *testing.T) {
		var log []string
		cfg := config(&memory.Log{}, rotate, count)
		cfg.Policy = func(context.Context, room.PolicyRef) (coordinator.Policy, error) {
			return quickIf(isQuick, policyFunc(rotate)), nil
		}
		cfg.Audit = func(a coordinator.AuditEntry) error {
			log = append(log, a.Status+" "+a.Profile+a.Requester)
			if len(log) == 6 {
				return errFull
			}
			return nil
		}
		r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 9}), agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		go r.Do(t.Context(), room.Command{Actor: "stranger", Do: room.Say{Text: "psst"}})
		synctest.Wait()
		if err := r.Run(t.Context()); !errors.Is(err, errFull) {
			t.Errorf("Run returned %v", err)
		}
		want := []string{"refused stranger", "granted apolicy", "posted aa", "granted bpolicy", "posted bb", "granted apolicy"}
		if !slices.Equal(log, want) {
			t.Errorf("quick %t: audit\n got %v\nwant %v", isQuick, log, want)
		}
	})
}

// interrupted is a log that fails to redact, as after a crash between the event
// and the removal.
type interrupted struct{ *memory.Log }

func (interrupted) Redact(context.Context, string, ...room.Event) error { return errFull }

func TestRedaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		pausing := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if p.Turn == 2 {
				<-ctx.Done()
				return endpoint.Reply{}, ctx.Err()
			}
			return endpoint.Reply{Outcome: endpoint.Said, Text: "the secret is swordfish"}, nil
		}
		cfg := config(&interrupted{l}, rotate, pausing)
		r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 3}), agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- r.Run(t.Context()) }()
		time.Sleep(time.Second)
		if _, err := r.Do(t.Context(), room.Command{Actor: room.ActorHost, Do: room.Redact{Target: 6}}); !errors.Is(err, errFull) {
			t.Errorf("Redact returned %v", err)
		}
		if err := <-done; !errors.Is(err, errFull) {
			t.Errorf("Run returned %v", err)
		}
		cfg = config(l, rotate, count)
		cfg.ResumeAs = room.ActorHost
		if r, err = coordinator.Reopen(t.Context(), cfg, "r1"); err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		entries, err := l.Read(t.Context(), "r1", log.Pos{}, 100)
		if err != nil {
			t.Fatal(err)
		}
		if e := entries[5]; !e.Redacted || e.Event.Body.(room.MessagePosted).Message.Text != "" {
			t.Errorf("event 6 after reopening: %+v", e.Event)
		}
		p, _, _, err := coordinator.GrantedPrompt(t.Context(), l, "r1", 3)
		if err != nil || strings.Contains(p.Text, "swordfish") {
			t.Errorf("the secret is in a later prompt (%v):\n%s", err, p.Text)
		}
	})
}
