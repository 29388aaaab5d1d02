package room_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

func (s *script) effects(out *strings.Builder) {
	for _, e := range s.state.Effects() {
		switch e := e.(type) {
		case room.Ask:
			fmt.Fprintf(out, "%s not before %v\n", e.Key(), e.NotBefore)
		default:
			fmt.Fprintln(out, e.Key())
		}
	}
	if at, ok := s.state.Deadline(); ok {
		fmt.Fprintf(out, "deadline %v\n", at)
	}
}

func (s *script) window(out *strings.Builder, id string) {
	w := s.state.WindowFor(id)
	fmt.Fprintf(out, "after=%d through=%d full=%t whole=%v lines=%v tokens=%d\n", w.After, w.Through, w.Full, w.Verbatim, w.Lines, w.Tokens)
	if len(w.First)+len(w.Kept) > 0 {
		fmt.Fprintf(out, "first=%v kept=%v\n", w.First, w.Kept)
	}
	for _, o := range w.Omitted {
		fmt.Fprintf(out, "omitted %d to %d: %d %v\n", o.From, o.To, o.Messages, o.By)
	}
}

func (s *script) input(t *testing.T, out *strings.Builder) {
	in, err := s.state.Input(s.state.Policy, s.clock, nil)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(out, "decision=%d turn=%d init=%t turns_left=%d\n", in.Decision, in.Turn, in.Init, in.Limits.TurnsLeft)
	printHandOff(out, in.Handoff)
	for _, a := range in.Agents {
		fmt.Fprintf(out, "  %s eligible=%t %s turns=%d failures=%d followed=%v", a.ID, a.Eligible, a.Ineligible, a.Turns, a.Failures, a.Followed)
		if a.Presence != "" {
			fmt.Fprintf(out, " presence=%s", a.Presence)
		}
		if a.Unread > 0 {
			fmt.Fprintf(out, " unread=%d", a.Unread)
		}
		fmt.Fprintln(out)
	}
	for _, e := range in.Events {
		fmt.Fprintf(out, "  #%d %s %s %q addressed=%v\n", e.Seq, e.Kind, e.From, e.Text, e.Addressed)
	}
}

// scores reads "a:0.5 b:2 because".
func scores(line string) (all []policy.Score, rest string) {
	for w := range strings.FieldsSeq(line) {
		id, n, ok := strings.Cut(w, ":")
		x, err := strconv.ParseFloat(n, 64)
		if !ok || err != nil {
			rest = strings.TrimSpace(rest + " " + w)
			continue
		}
		all = append(all, policy.Score{Agent: id, Score: x})
	}
	return all, rest
}
