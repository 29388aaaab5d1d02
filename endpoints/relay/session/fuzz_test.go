package session

import (
	"bytes"
	"testing"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

func FuzzFrame(f *testing.F) {
	f.Add(append(header{kindData, tag{1, 2, 3, 4}, 7}.encode(), make([]byte, 256+sealSize)...))
	f.Add(append(header{kindCtl, tag{1, 2, 3, 4}, 7}.encode(), make([]byte, ctlPlainSize+sealSize)...))
	f.Add(encodeData(typeMsg, []byte("text")))
	f.Add(encodeData(typeFrag, fragment{1, 0, 2, []byte("x")}.encode()))
	f.Add(encodeCtl(typePing, 9))
	f.Add(resetFrame(tag{1}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := parseHeader(b); err == nil && !bytes.Equal(h.encode(), b[:headerSize]) {
			t.Errorf("header %+v", h)
		}
		if typ, body, err := decodeData(b); err == nil {
			if !bytes.Equal(encodeData(typ, body), b) {
				t.Errorf("data %d %x", typ, body)
			}
			if frag, err := decodeFragment(body); err == nil && !bytes.Equal(frag.encode(), body) {
				t.Errorf("fragment %+v", frag)
			}
		}
		if typ, wanted, err := decodeCtl(b); err == nil && !bytes.Equal(encodeCtl(typ, wanted), b) {
			t.Errorf("ctl %d %d", typ, wanted)
		}
		if tag, err := parseReset(b); err == nil && !bytes.Equal(resetFrame(tag), b) {
			t.Errorf("reset %x", tag)
		}
	})
}

func FuzzHello(f *testing.F) {
	h := hello{V: 1, Limits: ownLimits(), Knows: &streamID{1}, Record: &identity.KeyRecord{}}
	b, err := h.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"v":1,"limits":{"message":1,"window":1},"stream":"0011223344556677"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHello(b)
		if err != nil {
			return
		}
		again, err := h.encode()
		if err != nil {
			t.Fatal(err)
		}
		if second, err := decodeHello(again); err != nil || second.Stream != h.Stream || (second.Knows == nil) != (h.Knows == nil) {
			t.Fatalf("%+v %+v %v", h, second, err)
		}
	})
}

// FuzzReceive: arbitrary payloads during a session do not stop it.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{kindHS1, 1, 2, 3})
	f.Add(append([]byte{kindHS2}, make([]byte, 1100)...))
	f.Add(append([]byte{kindData}, make([]byte, 284)...))
	f.Add(resetFrame(tag{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		w := newTestNet(t)
		w.send(w.a, "first")
		for _, s := range []*endpoint{w.a, w.b} {
			s.Receive(w.now, b)
			w.collect(s)
		}
		w.run(200_000_000)
		for _, s := range []*endpoint{w.a, w.b} {
			s.Receive(w.now, b)
			w.collect(s)
		}
		w.send(w.a, "second")
		w.run(20_000_000_000)
		w.checkComplete()
		if len(w.b.received) != 2 {
			t.Fatalf("got %q", w.b.received)
		}
	})
}

// FuzzDishonestPeer: an authenticated peer that sends arbitrary frames causes a
// violation at worst, and memory stays bounded.
func FuzzDishonestPeer(f *testing.F) {
	f.Add(uint64(1), encodeData(typeFrag, fragment{1, 0, 6, make([]byte, 200)}.encode()), byte(typeAck), uint64(1))
	f.Add(uint64(5), encodeData(typeMsg, []byte("x")), byte(typePong), uint64(99))
	f.Add(uint64(2), make([]byte, 256), byte(typePing), uint64(0))
	f.Fuzz(func(t *testing.T, seq uint64, plain []byte, ctl byte, wanted uint64) {
		if len(plain) > maxBody {
			return
		}
		w := newTestNet(t)
		w.send(w.a, "first")
		w.run(100_000_000)
		k := w.b.live
		for i := range uint64(4) {
			h := header{kindData, k.tag, seq + i}.encode()
			w.a.Receive(w.now, k.dataOut.Encrypt(h, seq+i, h[:headerSize:headerSize], plain))
			w.collect(w.a)
			w.a.Receive(w.now, k.sealCtl(ctl, wanted+i))
			w.collect(w.a)
		}
		if w.a.rx.bytes > reorderBytes || w.a.rx.partialBytes() > maxReassembly || len(w.a.rx.partial) > maxPartial || len(w.a.rx.held) > reorderFrames {
			t.Errorf("%d bytes are held, %d assembled", w.a.rx.bytes, w.a.rx.partialBytes())
		}
		for _, m := range w.a.received {
			if len(m) == 0 || len(m) > MaxMessage {
				t.Errorf("delivered %d bytes", len(m))
			}
		}
	})
}
