package moot

import (
	"context"
	"errors"
	"testing"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A deaf agent does not answer.
type deaf struct{ asked chan struct{} }

func (d deaf) Speak(ctx context.Context, _ Prompt, _ Floor) (Reply, error) {
	d.asked <- struct{}{}
	<-ctx.Done()
	return Reply{}, ctx.Err()
}

func (deaf) Close() error { return nil }

// openDeaf opens a Host whose agents do not answer.
func openDeaf(t *testing.T, data string, all bool) (h *Host, asked <-chan struct{}) {
	t.Helper()
	settings, _, err := config.LoadSettings(nil)
	if err != nil {
		t.Fatal(err)
	}
	settings.Data, settings.Cache = data, t.TempDir()
	prompts := make(chan struct{}, 16)
	w := Wiring{
		Settings: settings, AllRooms: all, Policies: map[string]Policy{"silent": PolicyFunc(longestSilent)},
		Endpoints: map[string]func(context.Context, Participant) (Endpoint, error){"deaf": func(context.Context, Participant) (Endpoint, error) { return deaf{prompts}, nil }},
	}
	if h, err = w.OpenHost(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h, prompts
}

// deafRoom is a room whose agent is at work for ever.
func deafRoom(t *testing.T, h *Host, asked <-chan struct{}, more string) string {
	t.Helper()
	r, err := h.Create(t.Context(), Source{YAML: "version: room/v1\nopening: go on\nparticipants:\n  - {id: a, mode: full_auto, instructions: obey, endpoint: {kind: go, name: deaf}}\npolicy: {use: silent}\n" + more}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	<-asked
	return r.ID()
}

// phaseOf returns the phase of a room and why it ended.
func phaseOf(t *testing.T, h *Host, id string) (room.Phase, string) {
	t.Helper()
	v, err := h.View(t.Context(), id, room.Internal)
	if err != nil {
		t.Fatal(err)
	}
	return v.Phase, v.Ending.Cause
}

// TestRecover: rooms that were live when their process ended go on or are paused, once
// a Host of all rooms opens the folder.
func TestRecover(t *testing.T) {
	data := t.TempDir()
	h, asked := openDeaf(t, data, false)
	plain, on := deafRoom(t, h, asked, ""), deafRoom(t, h, asked, "onRestart: continue\n")
	if err := h.Close(); err != nil { // in the middle of a turn, as if it was killed
		t.Fatal(err)
	}
	h, asked = openDeaf(t, data, true)
	if err := h.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-asked // the one that goes on
	if phase, cause := phaseOf(t, h, plain); phase != room.PhasePaused || cause != room.CauseInterrupted {
		t.Errorf("the room is %s by %s", phase, cause)
	}
	if phase, _ := phaseOf(t, h, on); phase != room.PhaseLive || !h.Running(on) {
		t.Errorf("the room that goes on is %s", phase)
	}
	if err := h.Rest(t.Context(), "the end"); err != nil {
		t.Fatal(err)
	}
	if phase, _ := phaseOf(t, h, on); phase != room.PhaseLive {
		t.Errorf("the room that goes on by itself is %s", phase)
	}
}

// TestImportedWaits: a Host of all rooms loads no imported room whose log instructs
// agents, unless the user has trusted it there.
func TestImportedWaits(t *testing.T) {
	elsewhere, asked := openDeaf(t, t.TempDir(), false)
	id := deafRoom(t, elsewhere, asked, "")
	entries, err := elsewhere.log.Read(t.Context(), id, log.Pos{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	h, asked := openDeaf(t, data, false)
	if err := h.log.Restore(t.Context(), id, entries); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Open(t.Context(), id, Options{TrustCommands: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Do(t.Context(), id, Command{Actor: room.ActorHost, Do: room.Say{Text: "go on"}}); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h, asked = openDeaf(t, data, true)
	if due, err := h.log.Due(t.Context(), endOfTime); err != nil || len(due) != 1 {
		t.Fatalf("due are %v, %v", due, err)
	}
	if err := h.Recover(t.Context()); err != nil || h.Running(id) {
		t.Errorf("loaded without the user's word: %v", err)
	}
	if _, err := h.Do(t.Context(), id, Command{Actor: room.ActorHost, Do: room.Resume{}}); !hasCode(err, "ROOM-IMPORTED") {
		t.Errorf("resumed without the user's word: %v", err)
	}
	if _, err := h.Open(t.Context(), id, Options{TrustCommands: true}); err != nil {
		t.Fatal(err)
	}
	<-asked
}

func hasCode(err error, code string) bool {
	p, ok := errors.AsType[*problem.Error](err)
	return ok && p.Code == code
}
