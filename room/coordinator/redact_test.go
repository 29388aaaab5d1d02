package coordinator_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// TestRedactionReachesDrafts checks that a redaction removes the drafts of the
// message and no other draft.
func TestRedactionReachesDrafts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		ps := agents("a")
		ps[0].Mode = room.Manual
		r, err := coordinator.Open(t.Context(), config(l, rotate, count), spec(room.Limits{MaxTurns: 2}), ps)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- r.Run(t.Context()) }()
		do := func(act room.Act) []room.Event {
			evs, err := r.Do(t.Context(), room.Command{Actor: room.ActorHost, Do: act})
			if err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
			return evs
		}
		time.Sleep(time.Second)
		do(room.Edit{Draft: r.View().Draft.Hash, Text: "the secret is tulip", Approve: true})
		target := int64(0)
		for _, e := range events(t, l) {
			if e.Body.Type() == "message.posted" {
				target = e.Seq
			}
		}
		if evs := do(room.Redact{Target: target}); len(evs) != 3 {
			t.Errorf("redacted by %v, want the message, its edit and its draft", types(evs))
		}
		for _, e := range events(t, l) {
			raw, err := room.MarshalEvent(e)
			if err != nil || strings.Contains(string(raw), "tulip") || strings.Contains(string(raw), "a at turn 1") {
				t.Errorf("event %d (%v): %s", e.Seq, err, raw)
			}
		}
		if d := r.View().Draft; d == nil || d.Message.Text != "a at turn 2" {
			t.Errorf("the draft that waits is %+v", d)
		}
		do(room.Approve{Draft: r.View().Draft.Hash})
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

// TestRedactionReachesPlan checks that a redaction of a message takes the texts of the
// plan that came from it, and that the rest of the plan stays.
func TestRedactionReachesPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		ps := agents("m", "w")
		ps[0].Role, ps[1].Role = "manager", "worker"
		r, err := coordinator.Open(t.Context(), config(l, silent, count), spec(room.Limits{MaxDeclines: 1 << 30, MaxDuration: 1 << 60}), ps)
		if err != nil {
			t.Fatal(err)
		}
		do := func(actor string, act room.Act) {
			if _, err := r.Do(t.Context(), room.Command{Actor: actor, Do: act}); err != nil {
				t.Error(err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		do("m", room.Posted{Message: room.Message{ID: "i1", Kind: "intent_brief", To: "w", Payload: []byte(
			`{"intent":{"objective":"tulip","acceptance_criteria":["tulip"]},"tasks":[{"id":"t1","title":"tulip"}]}`)}})
		do("w", room.ClaimTask{Task: "t1"})
		for _, e := range events(t, l) {
			if b, ok := e.Body.(room.MessagePosted); ok && b.Message.ID == "i1" {
				do(room.ActorHost, room.Redact{Target: e.Seq})
			}
		}
		for _, e := range events(t, l) {
			if raw, err := room.MarshalEvent(e); err != nil || strings.Contains(string(raw), "tulip") {
				t.Errorf("event %d (%v): %s", e.Seq, err, raw)
			}
		}
		v := r.View()
		if len(v.Tasks) != 1 || v.Tasks[0].Owner != "w" || v.Tasks[0].Title != "" || v.Intent.Objective != "" || len(v.Criteria) != 1 {
			t.Errorf("the plan is %+v %+v %+v", v.Intent, v.Criteria, v.Tasks)
		}
		stop()
		<-done
	})
}
