package server

import (
	"strings"
	"testing"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/delivery"
)

// TestMailDiff checks that a page gets each change once.
func TestMailDiff(t *testing.T) {
	var d mailDiff
	m := &room.MailView{Internal: 1, Deliveries: []delivery.Delivery{{Message: "a", To: "x", State: delivery.Queued}, {Message: "a", To: "y", State: delivery.Queued}}}
	if got := d.next(nil); got != nil {
		t.Errorf("a reader without control gets %+v", got)
	}
	if got := d.next(&room.MailView{}); got == nil || got.Deliveries != nil {
		t.Errorf("the first is %+v", got)
	}
	if got := d.next(m); got == nil || len(got.Deliveries) != 2 || got.Internal != 1 {
		t.Errorf("new ones: %+v", got)
	}
	if got := d.next(m); got != nil {
		t.Errorf("nothing has changed: %+v", got)
	}
	m.Deliveries[1].State = delivery.Acked
	m.Letters, m.Dead = []room.DeadLetter{{Seq: 7}}, 1
	if got := d.next(m); got == nil || len(got.Deliveries) != 1 || got.Deliveries[0].To != "y" || len(got.Letters) != 1 || got.Dead != 1 {
		t.Errorf("one has changed: %+v", got)
	}
	if got := d.next(m); got != nil {
		t.Errorf("nothing has changed since: %+v", got)
	}
}

// TestPagePayload checks that a page gets the size of a long payload only.
func TestPagePayload(t *testing.T) {
	for size, left := range map[int]bool{maxPagePayload: false, maxPagePayload + 1: true} {
		payload := `"` + strings.Repeat("x", size-2) + `"`
		e := room.Event{V: 1, Seq: 1, Body: room.MessagePosted{Message: room.Message{ID: "m", Payload: []byte(payload)}}}
		u, err := pageUpdate(moot.Update{Event: &e})
		if err != nil {
			t.Fatal(err)
		}
		line, err := encodeLine(u)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(line), "xxx") == left || strings.Contains(string(line), "payload_bytes") != left {
			t.Errorf("%d bytes: %.200s", size, line)
		}
	}
}
