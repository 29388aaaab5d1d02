package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/internal/strict"
)

// TestSnapshotRead checks which snapshots of a host are refused.
func TestSnapshotRead(t *testing.T) {
	ev := func(seq int) string {
		return fmt.Sprintf(`{"v":1,"seq":%d,"id":"1.%d","type":"room.resumed","agentFunc":"a","epoch":1,"at":"2026-01-01T00:00:00Z","clock_ns":0,"body":{}}`, seq, seq)
	}
	read := func(text string, after int64, known bool) error {
		var v Snapshot
		if err := strict.Decode([]byte(text), envelope.MaxDepth, &v); err != nil {
			return err
		}
		_, _, err := v.Read(after, known)
		return err
	}
	for _, good := range []string{
		`{"after":5,"through":5}`, `{"after":5,"through":7,"events":[` + ev(6) + `,` + ev(7) + `]}`, `{"after":5,"through":9,"events":[` + ev(8) + `]}`,
		`{"after":5,"through":5,"state":"over","phase":"stopped","reason":"x"}`,
	} {
		if err := read(good, 5, true); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	if err := read(`{"after":5,"through":6,"head":[`+ev(1)+`,`+ev(3)+`],"events":[`+ev(6)+`]}`, 0, false); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		`{"after":4,"through":5}`, `{"after":6,"through":6}`, `{"after":5,"through":4}`, `{"after":-1,"through":5}`,
		`{"after":5,"through":6,"events":[` + ev(5) + `]}`, `{"after":5,"through":6,"events":[` + ev(7) + `]}`,
		`{"after":5,"through":7,"events":[` + ev(7) + `,` + ev(6) + `]}`, `{"after":5,"through":7,"events":[` + ev(6) + `,` + ev(6) + `]}`,
		`{"after":5,"through":5,"head":[` + ev(6) + `]}`, `{"after":5,"through":5,"state":"on fire"}`, `{"after":5,"through":5,"more":1}`, `{"After":5,"through":5}`,
		`{"after":5,"through":6,"events":["x"]}`, `{"after":5,"through":6,"events":[{}]}`, `{"after":5,"through":6,"events":null,"events":[]}`,
		`{"after":5,"through":6,"events":[` + strings.Replace(ev(6), `"v":1`, `"v":2`, 1) + `]}`,
		`{"after":5,"through":6,"events":[` + strings.Replace(ev(6), `"seq":6`, `"seq":6,"seq":6`, 1) + `]}`,
		`{"after":5,"through":6,"events":[` + strings.Replace(ev(6), `resumed`, `burnt`, 1) + `]}`,
		`{"after":5,"through":6,"events":[` + strings.Replace(ev(6), `"body":{}`, `"body":`+strings.Repeat("[", 13)+strings.Repeat("]", 13), 1) + `]}`,
		`{"after":5,"through":1000,"events":[` + strings.TrimSuffix(strings.Repeat(ev(6)+",", MaxEvents+1), ",") + `]}`,
	} {
		if err := read(bad, 5, true); err == nil {
			t.Errorf("accepted: %s", bad)
		}
	}
}

// FuzzSubscribe decodes arbitrary requests of a client. Each is refused or within
// its bounds.
func FuzzSubscribe(f *testing.F) {
	for _, s := range []string{`{}`, `{"after":0}`, `{"after":12}`, `{"last":50}`, `{"after":-1}`, `{"last":1e3}`, `{"after":null,"last":5}`, `{"text":"hello"}`, `{"text":"\u0000"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var w Subscribe
		if strict.Decode(b, envelope.MaxDepth, &w) == nil && w.Check() == nil && (w.Last < 0 || w.Last > MaxLast || w.After != nil && *w.After < 0) {
			t.Fatalf("accepted: %+v", w)
		}
		var said Say
		if strict.Decode(b, envelope.MaxDepth, &said) == nil && said.Check() == "" && len(said.Text) > 4*MaxSayChars {
			t.Fatalf("accepted: %d bytes", len(said.Text))
		}
	})
}
