package moot

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/folkmoot/moot/room"
)

type answering struct{}

func (answering) Speak(_ context.Context, p Prompt, _ Floor) (Reply, error) {
	return Reply{Outcome: Said, Text: fmt.Sprintf("answer %d", p.Turn)}, nil
}

func (answering) Close() error { return nil }

// runUntilEnd creates a room of answering agents. rest waits until the room ends, again
// after each message that continues it, and returns who has spoken meanwhile and why it
// ended.
func runUntilEnd(t *testing.T, yaml string) (say func(actor, text string), rest func() (speakers []string, cause string)) {
	t.Helper()
	h, err := Open(Config{
		Data: t.TempDir(), Cache: t.TempDir(),
		Endpoints: map[string]func(context.Context, Participant) (Endpoint, error){"agent": func(context.Context, Participant) (Endpoint, error) { return answering{}, nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	r, err := h.Create(t.Context(), Source{YAML: yaml}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	say = func(actor, text string) {
		t.Helper()
		if _, err := h.Do(t.Context(), r.ID(), Command{Actor: actor, Do: room.Say{Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	after := int64(0)
	return say, func() (speakers []string, cause string) {
		t.Helper()
		for u, err := range h.Watch(t.Context(), r.ID(), after, room.Internal) {
			if err != nil {
				t.Fatal(err)
			}
			if u.Event == nil {
				continue
			}
			after = u.Event.Seq
			switch b := u.Event.Body.(type) {
			case room.MessagePosted:
				speakers = append(speakers, b.Message.From)
			case room.Completed:
				return speakers, b.Cause
			case room.Stopped:
				return speakers, b.Cause
			}
		}
		t.Fatal("the room has no end")
		return nil, ""
	}
}

// TestSilenceAmongPeople: where people outnumber the agents, adaptive leaves turns to
// people. The room settles then. The next message of a person continues it, and an agent
// that is addressed answers.
func TestSilenceAmongPeople(t *testing.T) {
	say, rest := runUntilEnd(t, `
version: room/v1
opening: Hello everyone.
participants:
  - {id: ann, kind: human}
  - {id: bo, kind: human}
  - {id: cy, kind: human}
  - {id: di, kind: human}
  - {id: bot, mode: full_auto, endpoint: {kind: go, name: agent}}
policy: {use: adaptive}
limits: {declineRetry: 100ms}
`)
	for _, step := range []struct {
		actor, text string
		want        []string
	}{
		{"", "", []string{"ann", "bot"}},
		{"bo", "Good morning.", []string{"bo"}}, // the agent has had its share
		{"cy", "The meeting is at noon.", []string{"cy"}},
		{"di", "bot, is it at noon?", []string{"di", "bot"}},
		{"cy", "Then we have an hour.", []string{"cy"}},
		{"di", "@bot remind us.", []string{"di", "bot"}},
	} {
		if step.actor != "" {
			say(step.actor, step.text)
		}
		if got, cause := rest(); cause != room.CauseSettled || !slices.Equal(got, step.want) {
			t.Errorf("after %q: %v, %s, want %v", step.text, got, cause, step.want)
		}
	}
}

// TestNoSilenceAmongAgents: a room with as many agents as people, or without people,
// goes on to its limit.
func TestNoSilenceAmongAgents(t *testing.T) {
	for _, people := range []string{"", "  - {id: ann, kind: human}\n  - {id: bo, kind: human}\n"} {
		_, rest := runUntilEnd(t, `
version: room/v1
opening: Begin.
participants:
  - {id: one, mode: full_auto, endpoint: {kind: go, name: agent}}
  - {id: two, mode: full_auto, endpoint: {kind: go, name: agent}}
`+people+`policy: {use: adaptive}
limits: {maxTurns: 12, declineRetry: 100ms}
`)
		if got, cause := rest(); cause != room.CauseLimit || len(got) != 13 {
			t.Errorf("people %q: %v, %s", people, got, cause)
		}
	}
}
