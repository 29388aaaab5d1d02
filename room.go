package moot

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A Source describes a room to create, by exactly one of File, YAML and Spec.
type Source struct {
	File string // path of a room.yaml
	YAML string // text of a room.yaml; its relative paths start at Dir
	Dir  string // "" is the working folder; Options.Policy starts there too
	ID   string // of the new room; "" makes one

	// Spec describes the room in Go. Of its policy Use is enough; an empty id
	// and an empty secret are made.
	Spec         *Spec
	Participants []Participant
}

// Options change how a room is run. The zero Options run it as it is described.
type Options struct {
	// Headless ends the room when it is no longer live, because no person is
	// there to go on with it.
	Headless bool
	// Mode is the approval mode of all agents of a new room; "" is that of
	// room.yaml.
	Mode Mode
	// Policy replaces the policy: a built-in or installed one by its name, one
	// of Config.Policies, ./folder or ./file.wasm.
	Policy string
	// MaxTurns replaces the limit of turns when it is not 0.
	MaxTurns int
	// Limits replace those of the room that are not 0 here. A stored room that
	// one of them has stopped goes on.
	Limits room.Limits
	// Restore are the seats of a stored room that are suspended or muted and
	// take part again.
	Restore []string
	// As is the person who opens the room; "" is the first person on the
	// roster, else the host.
	As string
	// Say is a message that this person posts before the room runs. In a new room
	// it takes the place of the opening in room.yaml.
	Say string
	// First is what that person does before the room runs, after Say.
	First []Act
	// TrustCommands lets a room that was imported start the commands that its
	// log names.
	TrustCommands bool
	// Foreground keeps the room loaded until it ends, and no longer. Otherwise
	// it answers commands after its end and is unloaded when it is idle.
	Foreground bool
	// Share also shares the agents of the settings' profiles with other owners
	// for as long as the Host is open.
	Share bool
	// Warn gets what is questionable in room.yaml; may be nil.
	Warn func(warnings error)
}

// Create makes a new room and runs it.
func (h *Host) Create(ctx context.Context, s Source, o Options) (*Room, error) {
	d, err := h.prepare(ctx, s, o)
	if err != nil {
		return nil, err
	}
	if err := h.known(d); err != nil {
		return nil, err
	}
	if err := h.connectFor(ctx, d.spec, d.participants, o.Share); err != nil {
		return nil, err
	}
	run := coordinator.RunOptions{Headless: o.Headless, Unattended: o.Headless && !h.mayBeWatched(d.spec), Foreground: o.Foreground, Interrupt: interrupt(ctx, o)}
	var acts []Act
	if d.opening != "" {
		acts = []Act{room.Say{Text: d.opening, Opening: true}}
	}
	if acts = append(acts, o.First...); len(acts) > 0 {
		run.ResumeAs, run.ResumeWith = cmp.Or(person(d.participants, o.As), room.ActorHost), acts
	}
	return h.rooms.Create(ctx, d.spec, d.participants, run)
}

// Open runs a stored room again, after a crash as after a pause. The person
// that Options name resumes a room that is paused. A room that is loaded already
// is changed and resumed in the same way, but its own Headless and Foreground stay.
func (h *Host) Open(ctx context.Context, id string, o Options) (*Room, error) {
	state, err := h.fold(ctx, id)
	if err != nil {
		return nil, err
	}
	participants := participantsOf(state)
	run := coordinator.RunOptions{Headless: o.Headless, Unattended: o.Headless && !h.mayBeWatched(state.Spec), Foreground: o.Foreground, Interrupt: interrupt(ctx, o), ResumeAs: cmp.Or(person(participants, o.As), room.ActorHost)}
	if err := h.checkTrusted(ctx, state, o); err != nil {
		return nil, err
	}
	if o.TrustCommands {
		h.trust(id)
	}
	if run.ResumeWith, err = h.changes(ctx, state, o); err != nil {
		return nil, err
	}
	if err := checkAttended(state, o); err != nil {
		return nil, err
	}
	if err := h.connectFor(ctx, state.Spec, participants, o.Share); err != nil {
		h.wiring.note("remote seats cannot be reached: %v", err) // their turns fail, other seats go on
	}
	return h.rooms.Open(ctx, id, run)
}

// interrupt returns what ends the wait of a foreground room for a busy log: the
// end of the caller's context.
func interrupt(ctx context.Context, o Options) <-chan struct{} {
	if !o.Foreground {
		return nil
	}
	return ctx.Done()
}

// Do carries out a command in a room, which it loads if need be, and returns
// the events that record it once they are on stable storage. The caller
// authenticates Command.Actor. A command with the id of an earlier one of the same
// actor changes nothing, and gets the events that record that one. An imported room
// that would start commands has to be opened first, with [Options].TrustCommands.
func (h *Host) Do(ctx context.Context, id string, c Command) ([]Event, error) {
	if err := h.checkLoadable(ctx, id); err != nil {
		return nil, err
	}
	events, err := h.rooms.Do(ctx, id, c)
	if err != nil || len(events) > 0 || c.ID == "" {
		return events, err
	}
	r, err := h.rooms.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	events, err = r.Recorded(ctx, c.ID)
	if err != nil || len(events) == 0 || slices.ContainsFunc(events, func(e Event) bool { return e.Actor == c.Actor }) {
		return events, err
	}
	return nil, &problem.Error{
		Code: "ROOM-ID-TAKEN", What: fmt.Sprintf("the id %q belongs to a command of another actor", c.ID), Where: "room " + id,
		Fix: "give every command an id of its own", Kind: room.ErrTaken,
	}
}

// checkLoadable refuses to load an imported room by a command: it might start what
// its log names.
func (h *Host) checkLoadable(ctx context.Context, id string) error {
	h.mu.Lock()
	trusted := h.trusted[id]
	h.mu.Unlock()
	if _, running := h.rooms.Running(id); running || trusted {
		return nil
	}
	if imported, err := h.log.Imported(ctx, id); err != nil || !imported {
		return err
	}
	state, err := h.fold(ctx, id)
	if err != nil {
		return err
	}
	return h.checkTrusted(ctx, state, Options{})
}

// Inbox returns what waits for a person in the rooms of this Host, and in stored ones
// that no process runs. It serves the moot command, and is no part of the stable
// interface.
func (h *Host) Inbox() *inbox.Inbox { return h.inbox }

// newSecret returns 128 random bits in hex.
func newSecret() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
