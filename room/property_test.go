package room_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/invariant"
)

// TestProperties gives random commands to a room. It checks that the invariants
// hold over every prefix of the log, that Decide does not change the state, and that
// the fold of the stored log equals the live state.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &script{checks: invariant.New()}
		step := func(line string) {
			var out strings.Builder
			s.do(t, &out, line)
			if t.Failed() {
				rt.Fatalf("%s", line)
			}
			windows(rt, s)
		}
		s.open(rt)
		step("claim")
		lines := rapid.SliceOfN(rapid.Custom(command), 1, 60).Draw(rt, "commands")
		for _, line := range lines {
			if d, ok := strings.CutPrefix(line, "wait "); ok {
				wait, _ := time.ParseDuration(d)
				s.clock += wait
				continue
			}
			step(line)
		}
		if folded := clone(t, s.log); !reflect.DeepEqual(folded, s.state) {
			rt.Fatalf("the fold of the log is not the live state")
		}
		for _, b := range s.checks.Ended(&s.state, s.log) {
			rt.Fatalf("%v", b)
		}
	})
}

// open opens a random room.
func (s *script) open(rt *rapid.T) {
	mode := rapid.SampledFrom([]string{"", "/manual", "/semi_auto"})
	starts := rapid.SampledFrom([]string{"", "/starts"}).Draw(rt, "starts")
	third := rapid.SampledFrom([]string{"c/remembers", "c/session", "one-to-one"}).Draw(rt, "third") // every kind of room
	line := fmt.Sprintf("a%s%s b%s/cooldown:%d/starts %s me/human tokens=20 summary=16", mode.Draw(rt, "a"), starts, mode.Draw(rt, "b"), rapid.IntRange(0, 2).Draw(rt, "cooldown"), third)
	act := openAct(nil, line)
	act.Spec.Limits = room.Defaults(false)
	act.Spec.Limits.MaxTurns = rapid.IntRange(1, 12).Draw(rt, "turns")
	act.Spec.Limits.MaxFailures = rapid.IntRange(1, 3).Draw(rt, "failures")
	act.Spec.Limits.MaxDuration = 5 * time.Minute
	cmd := room.Command{ID: "open", Actor: room.ActorHost, Do: act}
	evs, err := s.state.Decide(cmd, room.Now{})
	if err != nil {
		rt.Fatal(err)
	}
	broken := s.checks.Decided(cmd, &s.state, evs, err)
	for _, e := range evs {
		s.state.Apply(e)
		s.log = append(s.log, e)
		broken = append(broken, s.checks.Applied(e, &s.state)...)
	}
	for _, b := range broken {
		rt.Fatal(b)
	}
}

// command draws one line of a script.
func command(rt *rapid.T) string {
	who := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "who")
	text := rapid.SampledFrom([]string{"yes", "no", "a, what now?", "b c", "longer text than the others, one that fills windows"}).Draw(rt, "text")
	return rapid.SampledFrom([]string{
		"speak " + who + " because", "speak " + who + " because", "speak " + who + " because", "speak " + who + " because",
		"said " + text, "said " + text, "said 90% " + text, "said 10% " + text, "pass", "fail timeout slow", "fail exited gone", "late x",
		"decline nothing", "finish done", "stale " + who + " x", "policy-fails run.trap oops", "speak ghost x", "hint " + who + " x",
		"me: say " + text, "posts " + who + " " + text, "whispers " + who + " me psst", "say-as " + who + " " + text, "me: say-as " + who + " " + text,
		"pause", "resume", "resume", "me: stop", "complete", "tick", "wait 20s", "wait 90s",
		"me: takeover " + who, "me: release " + who, "approve", "approve", "approve wrong", "edit better", "edit-and-approve best", "reject no",
		"next " + who, "standing " + who + " suspended", "standing " + who + " muted", "standing " + who + " active", "standing me suspended", "standing me active", "redact 3",
		"me: say-id m1 " + text, "me: say-id c7 " + text, "bid " + who + " 0.5", "bid " + who + " NaN", "bid " + who + " -1",
		"started " + who, "started " + who, "started " + who, "start-fails " + who + " interrupted again", "start-fails " + who + " exited gone",
		"exited " + who + " interrupted again", "exited " + who + " exited gone",
		"asks read plan.md", "asks read plan.md", "asks-always edit a.go", "asks-ruled read", "asks-refused execute", "permit", "me: permit", "permit-always", "me: deny", "eve: permit",
		who + ": permit", "absent", "withdraw", who + ": withdraw", "wait 130s",
		"me: mode " + who + " full_auto", "me: mode " + who + " manual", "mode " + who, who + ": mode " + who + " full_auto", "eve: mode a full_auto",
		"live c", "live c", "live c", "idle c", "away c", "away c", "answers c " + text, "answers c " + text, "passes c", "c: say " + text, "fail timeout slow",
		"limits maxTurns=3", "limits maxTurns=-3", "violate " + who + " noise", "forgot " + who, "claim", "claim restart", "policy other", "a: stop",
		"join eve Eve", "join A x", "eve: say " + text, "eve: pause", "eve: stop", "eve: limits maxTurns=99", "standing eve muted", "standing eve active", "standing eve removed",
	}).Draw(rt, "command")
}

// windows checks that a window covers all messages that the participant may read:
// delivered, summarised and omitted together.
func windows(rt *rapid.T, s *script) {
	for _, x := range s.state.Seats {
		w := s.state.WindowFor(x.ID)
		seen, total := 0, 0
		for _, e := range s.log {
			b, ok := e.Body.(room.MessagePosted)
			if !ok || !room.Audience(b.Message).Includes(x.ID) {
				continue
			}
			total++
			if covered(w, e.Seq) {
				seen++
			}
			if e.Seq > w.After && e.Seq <= w.Through && !covered(w, e.Seq) && !left(w, e.Seq) && b.Message.From != x.ID {
				rt.Fatalf("window of %s loses message %d: %+v", x.ID, e.Seq, w)
			}
		}
		for _, o := range w.Omitted {
			seen += o.Messages
		}
		if seen != total {
			rt.Fatalf("window of %s accounts for %d of %d messages: %+v", x.ID, seen, total, w)
		}
	}
}

func covered(w room.Window, seq int64) bool {
	for _, spans := range [][]room.Span{w.Verbatim, w.Lines} {
		for _, p := range spans {
			if seq >= p.From && seq <= p.To {
				return true
			}
		}
	}
	return false
}

func left(w room.Window, seq int64) bool {
	for _, o := range w.Omitted {
		if seq >= o.From && seq <= o.To {
			return true
		}
	}
	return false
}
