package transcripts

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// long returns a room of n messages of 1 KiB each.
func long(n int) []room.Event {
	b := eventBuilder{}
	b.add(room.ActorHost, room.Opened{Spec: room.Spec{Room: "r_long"}})
	b.add(room.ActorHost, room.Joined{Participant: room.Participant{ID: "dba", Kind: "local"}})
	text := strings.Repeat("To verify it we run the script below. ", 27)
	for i := range n {
		b.add("dba", room.TurnGranted{Turn: i + 1, Participant: "dba", Reason: "its turn"})
		b.add("dba", room.MessagePosted{Turn: i + 1, Message: room.Message{ID: fmt.Sprint(i), From: "dba", To: room.Broadcast, Visibility: room.UserVisible, Text: text}})
	}
	return b.events
}

func BenchmarkForms(b *testing.B) {
	const messages = 1000
	entries := chainOf(b, long(messages))
	file := write(b, Header{Room: "r_long", Level: All, Chain: true}, entries)
	run := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("write", func() error { return Write(io.Discard, Header{Room: "r_long", Level: All, Chain: true}, each(entries)) })
	run("read", func() error {
		r, err := NewReader(bytes.NewReader([]byte(file)), "x")
		if err != nil {
			return err
		}
		var last log.Entry
		for e, err := range r.Entries() {
			if err != nil {
				return err
			}
			last = e
		}
		if last.Seq != uint64(len(entries)) {
			return fmt.Errorf("read %d events", last.Seq)
		}
		return nil
	})
	run("markdown", func() error { return WriteMarkdown(io.Discard, each(entries), Internal) })
	run("html", func() error { return WriteHTML(io.Discard, each(entries), Internal) })
}
