//go:build unix

package moot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/folkmoot/moot/room"
)

// onceAlive is an agent in shell whose first process ends after its first answer.
const onceAlive = `while read -r line; do
id=${line#*'"request_id":"'}; id=${id%%'"'*}
printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"hello"}\n' "$id"
[ -e died ] || { >died; exit 3; }
done`

// held is an agent that keeps the floor until the test releases it.
type held chan struct{}

func (h held) Speak(ctx context.Context, p Prompt, _ Floor) (Reply, error) {
	select {
	case <-h:
		return Reply{Outcome: Said, Text: fmt.Sprintf("turn %d", p.Turn)}, nil
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	}
}

func (held) Close() error { return nil }

// TestNoTurnForAnExitedProcess ends the process of an agent between its turns. Its seat
// gets no turn before another process is ready, and none if no other is started.
func TestNoTurnForAnExitedProcess(t *testing.T) {
	for restarts, want := range []string{
		"ready, granted, failed, suspended",
		"ready, granted, failed, ready, granted",
	} {
		t.Run(fmt.Sprintf("%d restarts", restarts), func(t *testing.T) {
			b := make(held)
			release := sync.OnceFunc(func() { close(b) })
			defer release()
			host, err := Open(Config{
				Data: t.TempDir(), Cache: t.TempDir(),
				Policies:  map[string]Policy{"silent": PolicyFunc(longestSilent)},
				Endpoints: map[string]func(context.Context, Participant) (Endpoint, error){"held": func(context.Context, Participant) (Endpoint, error) { return b, nil }},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer host.Close()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "agent.sh"), []byte(onceAlive), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := host.Create(t.Context(), Source{Dir: dir, YAML: fmt.Sprintf(`
version: room/v1
participants:
  - {id: a, mode: full_auto, endpoint: {kind: ndjson, command: [sh, agent.sh], restart: %d}}
  - {id: b, mode: full_auto, endpoint: {kind: go, name: held}}
policy: {use: silent}
limits: {maxTurns: 3}
`, restarts)}, Options{Headless: true})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for update, err := range r.Watch(t.Context(), 0, room.UserVisible) {
				if err != nil {
					t.Fatal(err)
				}
				if update.Event == nil {
					continue
				}
				switch e := update.Event.Body.(type) {
				case room.SeatReady:
					got = note(got, e.Participant, "ready")
				case room.TurnGranted:
					got = note(got, e.Participant, "granted")
				case room.SeatFailed:
					got = note(got, e.Participant, "failed")
				case room.SeatChanged:
					got = note(got, e.Participant, string(e.Standing))
				case room.TurnFailed:
					t.Errorf("turn %d failed: %s", e.Turn, e.Error)
				}
				if len(got) == 4 { // a is suspended, or ready again
					release()
				}
			}
			if s := strings.Join(got, ", "); s != want {
				t.Errorf("got  %s\nwant %s", s, want)
			}
		})
	}
}

// note adds what has happened to the seat a.
func note(all []string, who, what string) []string {
	if who != "a" {
		return all
	}
	return append(all, what)
}
