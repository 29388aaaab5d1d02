//go:build unix

package inbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/room"
)

// notifier runs a Notifier whose program writes its input and its environment to a
// pipe. next returns what one run has written.
func notifier(t *testing.T, b *inbox.Inbox, n inbox.Notifier, script string) (next func() string) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	n.Command = []string{"/bin/sh", "-c", script, "sh", pipe}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); n.Run(ctx, b) }()
	t.Cleanup(func() { stop(); <-ended })
	return func() string {
		text, err := os.ReadFile(pipe)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// TestNotify: the program is run once for each item that begins to wait, gets no text
// and no secret of the environment, and one that fails ends nothing.
func TestNotify(t *testing.T) {
	t.Setenv("MOOT_TOKEN", "secret")
	var logged bytes.Buffer
	b := newInbox(&stored{ends: map[string][]room.Body{"old": {room.TurnDrafted{}}}}, "r1")
	next := notifier(t, b, inbox.Notifier{Log: slog.New(slog.NewTextHandler(&logged, nil))}, `{ cat; env; } > "$1"; exit 3`)
	ask := func(ids ...string) {
		w := room.Waiting{Room: "r1", Phase: room.PhaseLive, Turn: 1}
		for i, id := range ids {
			q := asks(id, int64(i))
			q.Permission.Title, q.Permission.Detail = "the title", "the detail"
			w.Requests = append(w.Requests, q)
		}
		b.Update(w)
	}
	ask("1.1", "1.2")
	for _, id := range []string{"r1/1.1", "r1/1.2"} {
		line, env, _ := strings.Cut(next(), "\n")
		var x inbox.Item
		if err := json.Unmarshal([]byte(line), &x); err != nil || x.ID != id || x.Permission.Kind != "execute" || x.Permission.Command != "" || strings.Contains(line, "the ") {
			t.Errorf("the program has got %s, %v", line, err)
		}
		if strings.Contains(env, "secret") || !strings.Contains(env, "PATH=") {
			t.Errorf("its environment is %s", env)
		}
	}
	ask("1.2") // nothing new
	b.Update(room.Waiting{Room: "r1", Draft: &room.Draft{Hash: "h", Edited: true}})
	b.Update(room.Waiting{Room: "r1", Draft: &room.Draft{Hash: "i", Message: room.Message{Text: "the text", To: "bob"}, Why: "contains the"}})
	line, _, _ := strings.Cut(next(), "\n")
	if !strings.Contains(line, `"id":"r1/i"`) || !strings.Contains(line, `"to":"bob"`) || strings.Contains(line, "the ") {
		t.Errorf("of a draft the program has got %s", line)
	}
	if text := logged.String(); !strings.Contains(text, "item=r1/1.1") || !strings.Contains(text, "exit status 3") {
		t.Errorf("logged is %s", text)
	}
}

// TestNotifyText: with notify.text the program gets the whole item.
func TestNotifyText(t *testing.T) {
	b := newInbox(&stored{}, "r1")
	next := notifier(t, b, inbox.Notifier{Text: true, Log: slog.New(slog.DiscardHandler)}, `cat > "$1"`)
	b.Update(room.Waiting{Room: "r1", Requests: []room.PermissionRequest{asks("1.1", 1)}})
	if text := next(); !strings.Contains(text, `"command":"make"`) {
		t.Errorf("the program has got %s", text)
	}
}

// TestNotifyEnds: a program that does not end is ended with the host, and one that
// cannot be started is only logged.
func TestNotifyEnds(t *testing.T) {
	b := newInbox(&stored{}, "r1")
	next := notifier(t, b, inbox.Notifier{Log: slog.New(slog.DiscardHandler)}, `echo started > "$1"; exec sleep 1000`)
	b.Update(room.Waiting{Room: "r1", Requests: []room.PermissionRequest{asks("1.1", 1)}})
	if text := next(); text != "started\n" {
		t.Errorf("the program has written %s", text)
	}
	ctx, stop := context.WithCancel(t.Context())
	log := &lines{stop: stop}
	inbox.Notifier{Command: []string{"/no/such/program"}, Log: slog.New(slog.NewTextHandler(log, nil))}.Run(ctx, b)
	if !strings.Contains(log.text, "/no/such/program") {
		t.Errorf("logged is %s", log.text)
	}
}

// lines is a log that ends a run with its first line.
type lines struct {
	text string
	stop func()
}

func (l *lines) Write(b []byte) (int, error) {
	l.text += string(b)
	l.stop()
	return len(b), nil
}
