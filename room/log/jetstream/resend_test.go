package jetstream_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/folkmoot/moot/room/log/jetstream"
)

// TestResend checks which answer counts when a request is sent again: a refusal of the second
// message says nothing while the first one is being stored.
func TestResend(t *testing.T) {
	s := startServers(t, 1)
	d := s.openAs(t, "resend")
	defer d.Close()
	nc, err := nats.Connect(s.url())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	const stored, refused = `{"seq":7}`, `{"error":{"code":400,"err_code":10071}}`
	for _, c := range []struct {
		name          string
		first, second string // the answers; "" is none
		open          bool   // the outcome
	}{
		{"the first is lost", "", stored, false},
		{"the first is being stored", stored, refused, false},
		{"the answer to the first is lost", "", refused, true},
	} {
		messages := make(chan *nats.Msg, 8)
		sub, err := nc.ChanSubscribe("resend.test", messages)
		if err != nil {
			t.Fatal(err)
		}
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			first, second := <-messages, <-messages
			if err := second.Respond([]byte(c.second)); err != nil {
				t.Error(err)
			}
			if c.first == "" {
				return
			}
			if err := errors.Join(nc.Flush(), first.Respond([]byte(c.first))); err != nil {
				t.Error(err)
			}
		}()
		if err := nc.FlushTimeout(time.Minute); err != nil {
			t.Fatal(err)
		}
		seq, err := d.Publish(t.Context(), "resend.test", 0)
		if open := errors.Is(err, jetstream.ErrNoAnswer); open != c.open || !open && (err != nil || seq != 7) {
			t.Errorf("%s: message %d is stored: %v", c.name, seq, err)
		}
		<-answered
		if err := sub.Unsubscribe(); err != nil {
			t.Fatal(err)
		}
	}
}
