package audit

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

// standard is a line as package encoding/json writes it.
func standard(t testing.TB, e Event) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// FuzzLine: a line is the one that package encoding/json writes of the cleaned event.
func FuzzLine(f *testing.F) {
	f.Add("coder", "d1", "alice", "r1", "manual", "refused", "rate <limit> & more", 4, int64(2), 1, int64(0))
	f.Add("", "", "", "", "", "", "", 0, int64(0), 0, int64(1))
	f.Add("a\"b\\", "\x1b[31mred", "\u2028\u200b\ufffd\xff", "ä日🙂", "a\r\nb\tc", "\x00\x7f\u0085", "</script>", -1, int64(-7), -3, int64(1e18))
	f.Fuzz(func(t *testing.T, profile, device, requester, room, mode, status, reason string, turn int, ms int64, count int, nanos int64) {
		l := &Log{}
		e := Event{time.Unix(0, nanos), profile, device, requester, room, turn, mode, status, reason, ms, count}
		got, err := l.line(e)
		if err != nil {
			t.Fatal(err)
		}
		e.Time = e.Time.UTC()
		for _, v := range []*string{&e.Profile, &e.Device, &e.Requester, &e.Room, &e.Mode, &e.Status} {
			*v = l.value(*v, maxValue)
		}
		e.Reason = l.value(e.Reason, maxReason)
		if want := standard(t, e); string(got) != want {
			t.Errorf("got  %swant %s", got, want)
		}
	})
}

func BenchmarkLine(b *testing.B) {
	l := &Log{}
	e := Event{
		Time: time.Now(), Profile: "coder", Requester: "policy", Room: "r_01m85mpaznm8fa7mpmrs6jky0j", Turn: 4,
		Mode: "full_auto", Status: "granted", Reason: "the next of the round", MS: 2,
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.line(e); err != nil {
			b.Fatal(err)
		}
	}
}
