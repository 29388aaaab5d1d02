package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// asks returns an agent that asks for each permission in turn and says the answers.
func asks(ps ...endpoint.Permission) speakFunc {
	return func(ctx context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		var said []string
		for i := range ps {
			a, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalPermission, Permission: &ps[i]})
			if err != nil {
				return endpoint.Reply{}, err
			}
			said = append(said, fmt.Sprintf("%t %t %s %s", a.Allowed, a.Always, a.By, a.Reason))
		}
		return endpoint.Reply{Outcome: endpoint.Said, Text: strings.Join(said, "\n")}, ctx.Err()
	}
}

// answers gives each request, after a delay, the next answer. The zero Permit gives
// none.
func answers(t *testing.T, r *coordinator.Room, delay time.Duration, permits ...room.Permit) {
	go func() {
		for u, err := range r.Watch(context.WithoutCancel(t.Context()), 0, room.Internal) {
			if err != nil || len(permits) == 0 {
				return
			}
			if u.Event == nil {
				continue
			}
			asked, ok := u.Event.Body.(room.PermissionAsked)
			if !ok {
				continue
			}
			do := permits[0]
			permits = permits[1:]
			if reflect.DeepEqual(do, room.Permit{}) {
				continue
			}
			time.Sleep(delay)
			do.ID = asked.ID
			if _, err := r.Do(context.WithoutCancel(t.Context()), room.Command{Actor: "me", Do: do}); err != nil {
				t.Error(err)
			}
		}
	}()
}

// attended opens a room with a person.
func attended(t *testing.T, l coordinator.Log, agent speakFunc, limits room.Limits, change ...func(*coordinator.Config, *room.Spec, []room.Participant)) *coordinator.Room {
	t.Helper()
	cfg, s := config(l, rotate, agent), spec(limits)
	cfg.Headless = false
	ps := append(agents("a"), room.Participant{ID: "me", Kind: policy.Human})
	for _, f := range change {
		f(&cfg, &s, ps)
	}
	r, err := coordinator.Open(t.Context(), cfg, s, ps)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// runToLimit runs a room until it is stopped by its limit.
func runToLimit(t *testing.T, r *coordinator.Room) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for u := range r.Watch(ctx, 0, room.Internal) {
			if u.Event != nil && u.Event.Body.Type() == "room.stopped" {
				cancel()
			}
		}
	}()
	if err := r.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	cancel()
}

// said returns the first message of the log.
func said(t *testing.T, l *memory.Log) (text string, latency time.Duration) {
	t.Helper()
	for _, e := range events(t, l) {
		if b, ok := e.Body.(room.MessagePosted); ok {
			return b.Message.Text, b.Latency
		}
	}
	t.Fatalf("nothing was said: %v", types(events(t, l)))
	return "", 0
}

// TestPermissionClock: the clock of the turn stands while a request waits, however
// long the person thinks; the wait is no part of the latency.
func TestPermissionClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		slow := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			time.Sleep(50 * time.Second)
			reply, err := asks(endpoint.Permission{Kind: "edit", Always: true}, endpoint.Permission{Kind: "read"})(ctx, p, f)
			if err == nil {
				time.Sleep(9 * time.Second)
			}
			return reply, errors.Join(err, ctx.Err())
		}
		r := attended(t, l, slow, room.Limits{MaxTurns: 1})
		answers(t, r, 110*time.Second, room.Permit{Allowed: true, Always: true, Reason: "fine"}, room.Permit{Reason: "not that"})
		runToLimit(t, r)
		text, latency := said(t, l)
		if want := "true true me fine\nfalse false me not that"; text != want || latency != 59*time.Second {
			t.Errorf("said %q after %v", text, latency)
		}
	})
}

// TestPermissionTimeout: a request without an answer is refused, and the turn goes
// on. Without the time of the wait the turn still has its limit.
func TestPermissionTimeout(t *testing.T) {
	for _, work := range []time.Duration{59 * time.Second, 61 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			l := &memory.Log{}
			begun := time.Now()
			slow := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
				reply, err := asks(endpoint.Permission{Kind: "edit"})(ctx, p, f)
				if waited := time.Since(begun); waited != 90*time.Second {
					t.Errorf("waited %v", waited)
				}
				select {
				case <-time.After(work):
				case <-ctx.Done():
					err = ctx.Err()
				}
				return reply, err
			}
			r := attended(t, l, slow, room.Limits{MaxTurns: 1, PermissionTimeout: 90 * time.Second})
			runToLimit(t, r)
			if work > time.Minute {
				if got := types(events(t, l)); !slices.Contains(got, "turn.failed") {
					t.Errorf("after %v: %v", work, got)
				}
				return
			}
			if text, _ := said(t, l); text != "false false timeout no person has answered in time" {
				t.Errorf("said %q", text)
			}
		})
	}
}

// TestPermissionRules: rules answer without a person, files outside the folder are
// refused, and the rest is refused if no person can be there.
func TestPermissionRules(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "src"), 0o700), os.Symlink("/etc", filepath.Join(dir, "etc"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		headless, unattended bool
		last                 string
	}{
		{true, false, "false false room no owner is present"}, {false, true, "false false room no owner is present"}, {false, false, "true false me "},
	} {
		l := &memory.Log{}
		agent := asks(
			endpoint.Permission{Kind: "read", Paths: []string{"src/a.go"}, Always: true}, endpoint.Permission{Kind: "read", Paths: []string{"etc/passwd"}},
			endpoint.Permission{Kind: "execute", Command: "go test ./..."}, endpoint.Permission{Kind: "read", Paths: []string{"a.go"}, Dir: filepath.Join(dir, "src")},
			endpoint.Permission{Kind: "execute", Command: "go test; id"},
		)
		r := attended(t, l, agent, room.Limits{MaxTurns: 1}, func(cfg *coordinator.Config, s *room.Spec, ps []room.Participant) {
			cfg.Headless, cfg.Unattended = c.headless, c.unattended
			s.Dir = dir
			ps[0].Allow = []room.AllowRule{{Kind: "read"}, {Kind: "execute", Argv: []string{"go", "test", "*"}}}
		})
		answers(t, r, 0, room.Permit{}, room.Permit{}, room.Permit{}, room.Permit{}, map[bool]room.Permit{false: {Allowed: true}}[c.headless || c.unattended])
		runToLimit(t, r)
		text, _ := said(t, l)
		want := []string{"true false rule {kind: read}", `false false room "etc/passwd" is outside`, "true false rule {kind: execute, argv: [go, test, *]}", "true false rule {kind: read}", c.last}
		for i, line := range strings.Split(text, "\n") {
			if !strings.HasPrefix(line, want[i]) {
				t.Errorf("%+v: answer %d is %q, want %q", c, i+1, line, want[i])
			}
		}
		evs := events(t, l)
		if n := strings.Count(strings.Join(types(evs), " "), "permission."); n != 10 {
			t.Errorf("%d events about 5 requests", n)
		}
	}
}

// TestPermissionEnds: a request that waits is answered when its turn is interrupted,
// before the interruption, and when the agent waits no longer.
func TestPermissionEnds(t *testing.T) {
	for name, c := range map[string]struct {
		do   room.Act
		by   string
		then string
	}{
		"pause":     {room.Pause{}, "the turn was interrupted: paused", "turn.interrupted"},
		"stop":      {room.Stop{}, "the turn was interrupted: stopped", "turn.interrupted"},
		"takeover":  {room.TakeOver{Participant: "a"}, "the turn was interrupted: taken over by me", "turn.interrupted"},
		"removed":   {room.SetStanding{Participant: "a", Standing: room.Removed}, "the turn was interrupted: a removed", "turn.interrupted"},
		"withdrawn": {nil, "the agent waits no longer", "message.posted"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &memory.Log{}
				got := make(chan error, 1)
				agent := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
					waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
					defer cancel()
					a, err := f.Raise(waiting, endpoint.Signal{Kind: endpoint.SignalPermission, Permission: &endpoint.Permission{Kind: "edit"}})
					if err == nil && (a.Allowed || a.By != endpoint.Cancelled || a.Reason != c.by) {
						err = fmt.Errorf("answered %+v", a)
					}
					got <- err
					return endpoint.Reply{Outcome: endpoint.Said, Text: "x"}, ctx.Err()
				}
				r := attended(t, l, agent, room.Limits{MaxTurns: 1})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- r.Run(ctx) }()
				time.Sleep(time.Second)
				if c.do != nil {
					if _, err := r.Do(t.Context(), room.Command{Actor: "me", Do: c.do}); err != nil {
						t.Fatal(err)
					}
				}
				if err := <-got; (c.do == nil) != errors.Is(err, context.DeadlineExceeded) || c.do != nil && err != nil {
					t.Error(err)
				}
				time.Sleep(time.Second)
				cancel()
				<-done
				evs := events(t, l)
				i := slices.IndexFunc(evs, func(e room.Event) bool { return e.Body.Type() == "permission.answered" })
				if i < 0 || evs[i+1].Body.Type() != c.then || evs[i].Body.(room.PermissionAnswered).Reason != c.by || evs[i].Actor != room.ActorRoom {
					t.Errorf("events %v", types(evs))
				}
			})
		})
	}
}

// TestPauseAnswersPermission: an agent whose context a pause ends cannot withdraw its request
// before the pause is recorded; the request is answered by the pause.
func TestPauseAnswersPermission(t *testing.T) {
	const pauses = 1000
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16)) // the moment between the two is short
	agent := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		_, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalPermission, Permission: &endpoint.Permission{Kind: "edit"}})
		return endpoint.Reply{Outcome: endpoint.Said, Text: "x"}, err
	}
	reasons := map[string]int{}
	for range pauses {
		l := &memory.Log{}
		r := attended(t, l, agent, room.Limits{MaxTurns: 1})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		for u, err := range r.Watch(t.Context(), 0, room.Internal) {
			if err != nil {
				t.Fatal(err)
			}
			if u.Event != nil && u.Event.Body.Type() == "permission.asked" {
				break
			}
		}
		do(t, r, room.Pause{})
		cancel()
		<-done
		for _, e := range events(t, l) {
			if b, ok := e.Body.(room.PermissionAnswered); ok {
				reasons[b.Reason]++
			}
		}
	}
	if reasons["the turn was interrupted: paused"] != pauses || len(reasons) > 1 {
		t.Errorf("requests ended by %v", reasons)
	}
}

// TestPermissionAfterCrash: a request that waited when the process ended is answered
// as cancelled by the next one.
func TestPermissionAfterCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		r := attended(t, l, asks(endpoint.Permission{Kind: "edit"}), room.Limits{MaxTurns: 1})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		time.Sleep(time.Second)
		cancel()
		<-done
		if last := types(events(t, l)); last[len(last)-1] != "permission.asked" {
			t.Fatalf("events %v", last)
		}
		n := len(events(t, l))
		if _, err := coordinator.Reopen(t.Context(), config(l, rotate, count), "r1"); err != nil {
			t.Fatal(err)
		}
		evs := events(t, l)[n:]
		if got := strings.Join(types(evs), " "); got != "room.claimed permission.answered turn.interrupted room.paused" {
			t.Fatalf("events %v", got)
		}
		if b := evs[1].Body.(room.PermissionAnswered); b.Allowed || b.By != endpoint.Cancelled {
			t.Errorf("answered %+v", b)
		}
	})
}

// TestForeignPermission: an agent of another owner that asks here breaks the
// protocol, and gets no permission.
func TestForeignPermission(t *testing.T) {
	l := &memory.Log{}
	r := attended(t, l, asks(endpoint.Permission{Kind: "read"}), room.Limits{MaxTurns: 1}, func(_ *coordinator.Config, _ *room.Spec, ps []room.Participant) {
		ps[0].Kind, ps[0].Device = policy.Remote, "dev"
	})
	runToLimit(t, r)
	if text, _ := said(t, l); !strings.HasPrefix(text, "false false room only the owner") {
		t.Errorf("said %q", text)
	}
	if got := types(events(t, l)); !slices.Contains(got, "protocol.violation") || slices.Contains(got, "permission.asked") {
		t.Errorf("events %v", got)
	}
}

// TestPermissionOutsideTurn: only the agent that has the floor is given permissions.
func TestPermissionOutsideTurn(t *testing.T) {
	l := &memory.Log{}
	var floor endpoint.Floor
	r := attended(t, l, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		if floor != nil {
			return count(ctx, p, f)
		}
		floor = f
		return endpoint.Reply{Outcome: endpoint.Passed}, nil
	}, room.Limits{MaxTurns: 1})
	runToLimit(t, r)
	a, err := floor.Raise(t.Context(), endpoint.Signal{Kind: endpoint.SignalPermission, Permission: &endpoint.Permission{Kind: "read"}})
	if err != nil || a.Allowed || a.By != endpoint.Unasked {
		t.Errorf("answered %+v, %v", a, err)
	}
}
