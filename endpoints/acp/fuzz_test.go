package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
	"github.com/folkmoot/moot/endpoints/subprocess"
)

// seedLines returns the lines of the agents in the scripts of this package.
func seedLines(f *testing.F) (lines []string) {
	names, err := filepath.Glob("testdata/life/*.txt")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if text, ok := strings.CutPrefix(line, "< "); ok {
				lines = append(lines, strings.TrimSuffix(text, "\n"))
			}
		}
	}
	return lines
}

// FuzzDecode checks that each line is a message, noise, blank or an error, and that a
// message has a form that can be read again.
func FuzzDecode(f *testing.F) {
	for _, line := range append(seedLines(f), "", "noise", "\x1b[2K{", `x {"jsonrpc":"2.0","method":"m"}`, `{"jsonrpc":"1.0","id":1,"result":1}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"data":[1]}}`, `{"jsonrpc":"2.0","result":{"":"&"}}`) {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, noise, err := decode(line)
		if m != nil && err != nil || m == nil && err == nil && !noise && strings.Trim(string(line), "\x00\r\n\t \ufeff") != "" && !bytes.Contains(line, []byte{0x1b}) {
			t.Fatalf("%+v, noise %t, %v", m, noise, err)
		}
		if m == nil {
			return
		}
		if m.Error != nil && !utf8.ValidString(m.Error.describe()) {
			t.Errorf("the error is %q", m.Error.describe())
		}
		again, err := encode(*m, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n, noise, err := decode(again); err != nil || noise || n == nil || n.Method != m.Method || !sameJSON(n.ID, m.ID) || !sameJSON(n.Result, m.Result) {
			t.Errorf("%s became %+v, noise %t, %v", again, n, noise, err)
		}
	})
}

// sameJSON reports whether two texts are the same but for white space and the escapes of
// HTML's characters, which encoding adds.
func sameJSON(a, b json.RawMessage) bool {
	if len(a) == 0 && len(b) == 0 {
		return true
	}
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// FuzzTurn gives a turn lines of an agent. Its text, its live text and what the room
// is asked stay within their bounds, and it ends.
func FuzzTurn(f *testing.F) {
	for _, line := range seedLines(f) {
		f.Add([]byte(line + "\n" + line))
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		room := &boundedRoom{T: t}
		signals := inflight.NewQueue(func() endpoint.Floor { return room })
		cfg := Config{Preset: Preset{Name: "test", Mode: "ask", MessageIDs: true}}.withDefaults()
		c := newClient(cfg, subprocess.Link{Stderr: func() string { return "" }, Signals: signals})
		c.ready, c.session = closed(), &session{id: "s1", moded: true}
		p := endpoint.Prompt{Text: "hello", MaxOutputChars: 100}
		s := c.session
		turn := newTurn(t.Context(), cfg, p, s)
		c.mu.Lock()
		c.turn, s.prompted = turn, true
		c.mu.Unlock()
		c.calls[3] = func(r response) { c.turnDone(turn, r) }
		c.last = 3
		for line := range bytes.Lines(lines) {
			c.handle(bytes.TrimSuffix(line, []byte("\n")), false)
		}
		c.End(io.EOF)
		<-turn.ended
		signals.Close(true)
		r, err := c.reply(turn)
		if err == nil && (utf8.RuneCountInString(r.Text) > p.MaxOutputChars || r.Usage.OutOfRange() != "" || r.Outcome == "") {
			t.Errorf("the reply is %+v", r)
		}
		if len(turn.shown) > maxShown || len(turn.text) > maxText || len(turn.calls) > maxToolCalls {
			t.Errorf("%d bytes shown, %d said, %d tool calls", len(turn.shown), len(turn.text), len(turn.calls))
		}
	})
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// A boundedRoom checks the size of what it is asked.
type boundedRoom struct{ *testing.T }

// Raise refuses each permission.
func (r *boundedRoom) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	if p := s.Permission; p != nil {
		if b, err := json.Marshal(p); err != nil || len(b) > 1<<20 || strings.Contains(p.Title, "\n") || p.ID == "" {
			r.Errorf("the permission is %.300s, %v", b, err)
		}
	}
	return endpoint.Answer{}, nil
}

// Show drops live text.
func (r *boundedRoom) Show(string) {}

func (r *boundedRoom) ShowTool(endpoint.ToolCall) {}
