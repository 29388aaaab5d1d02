package room_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/names"
)

// TestInputFits checks that the input of every room fits. The oldest events are
// dropped, and the input says so.
func TestInputFits(t *testing.T) {
	roster500 := ""
	for i := range 500 {
		roster500 += fmt.Sprintf("p%03d ", i)
	}
	for name, c := range map[string]struct{ roster, objective, text string }{
		"controls":  {"a b me/human ", "talk", strings.Repeat("\x01", 8<<10)},
		"mentions":  {roster500 + "me/human ", "talk", roster500},
		"objective": {"a b me/human ", strings.Repeat("\x01 all ", 1<<18), "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{}
			open := openAct(t, c.roster)
			open.Spec.Objective, open.Spec.Constraints = c.objective, []string{c.objective, "be kind"}
			evs, err := s.state.Decide(room.Command{ID: "open", Actor: room.ActorHost, Do: open}, room.Now{})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range evs {
				s.state.Apply(e)
			}
			s.state.Apply(room.Event{Seq: s.state.Seq + 1, Body: room.RoundDeclined{Record: policy.Record{Decision: 1}}})
			names := names.New(ids(s), nil)
			texts := map[int64]string{}
			for i := range 200 {
				m := room.Message{From: "me", To: room.Broadcast, Visibility: room.UserVisible, Text: fmt.Sprint(i, c.text)}
				m.Mentions, m.Addressed = names.Scan(m.Text, "me")
				e := room.Event{Seq: s.state.Seq + 1, Body: room.MessagePosted{Message: m}}
				texts[e.Seq] = m.Text
				s.state.Apply(e)
			}
			in, err := s.state.Input(s.state.Policy, 0, func(seq int64) (string, error) { return texts[seq], nil })
			if err != nil {
				t.Fatal(err)
			}
			b := in.AppendJSON(nil)
			if len(b) > policy.MaxInput || !in.Truncated {
				t.Errorf("%d bytes, %d events, truncated %t", len(b), len(in.Events), in.Truncated)
			}
			if n := len(in.Events); n == 0 || in.Events[n-1].Seq != s.state.Seq {
				t.Errorf("the newest of %d events is missing", n)
			}
		})
	}
}

func ids(s *script) []string {
	var out []string
	for _, x := range s.state.Seats {
		out = append(out, x.ID)
	}
	return out
}
