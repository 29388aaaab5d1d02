package server

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/bus"
	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// noBus is a bus without other relays.
type noBus struct{}

func (noBus) Subscribe(frame.ID) (ready, cancel func()) { return func() {}, func() {} }
func (noBus) Publish(bus.Message) error                 { return nil }
func (noBus) Run(context.Context, bus.Receiver)         {}

// FuzzGroupMessage: whatever comes from the bus for a device, the relay queues at
// most one frame for it, which a device can decode, and answers at most one device.
func FuzzGroupMessage(f *testing.F) {
	id := frame.ID{1}
	for _, v := range []frame.Frame{frame.Recv{From: id, Payload: []byte("payload")}, frame.Gone{To: id, Reason: frame.GoneQueueFull}, frame.Health{Text: "no"}, frame.Send{To: id}} {
		b, err := frame.Append(nil, v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(appendClaim(nil, time.Hour))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := New(Config{Hosts: []string{"relay.example.org"}, Open: true, Bus: noBus{}})
		if err != nil {
			t.Fatal(err)
		}
		c := &conn{s: s, id: id, queue: newSendQueue(&s.queued), registered: time.Now()}
		c.senders.strangerFrames = 5
		s.devices[id] = c
		receiver{s.group}.Receive(id, bytes.Clone(b))
		queued := append(append([][]byte{}, c.queue.frames...), c.queue.notices...)
		if len(queued)+len(s.group.out) > 1 {
			t.Fatalf("%d frames for the device, %d messages for others", len(queued), len(s.group.out))
		}
		for _, q := range queued {
			got, err := frame.Decode(q)
			if err != nil {
				t.Fatal(err)
			}
			switch got.(type) {
			case frame.Recv, frame.Gone, frame.Health:
			default:
				t.Fatalf("the device gets %T", got)
			}
		}
		if age, err := parseClaim(b); err == nil && !bytes.Equal(appendClaim(nil, age), b) {
			t.Fatalf("%x is read as %v", b, age)
		}
	})
}
