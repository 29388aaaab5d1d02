package coordinator_test

import (
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
