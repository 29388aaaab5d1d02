package timeline

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/termtest"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A fakeRoom shows the events that a test gives it and keeps what the person
// does.
type fakeRoom struct {
	mu    sync.Mutex
	view  room.View
	next  int64
	acts  []room.Act
	acted chan struct{}
	gate  chan struct{} // messages wait until it is closed; may be nil
	queue chan coordinator.Update
}

func newFakeRoom() *fakeRoom {
	r := &fakeRoom{acted: make(chan struct{}, 1), queue: make(chan coordinator.Update)}
	r.view = room.View{Room: "r_1", Name: "review", Phase: room.PhaseLive, Limits: room.Limits{MaxTurns: 40, MaxDuration: time.Hour}}
	for _, id := range []string{"code", "dba", "sec"} {
		r.view.Seats = append(r.view.Seats, room.SeatView{ID: id, Name: strings.ToUpper(id) + " agent", Kind: policy.Local})
	}
	return r
}

func (r *fakeRoom) Watch(ctx context.Context, _ int64, _ room.Visibility) iter.Seq2[coordinator.Update, error] {
	return func(yield func(coordinator.Update, error) bool) {
		for {
			select {
			case <-ctx.Done():
				return
			case u, ok := <-r.queue:
				if !ok || !yield(u, nil) {
					return
				}
			}
		}
	}
}

// Do keeps the act. A pause is answered at once, so that a session can end.
func (r *fakeRoom) Do(ctx context.Context, c room.Command) ([]room.Event, error) {
	r.mu.Lock()
	r.acts = append(r.acts, c.Do)
	r.mu.Unlock()
	select {
	case r.acted <- struct{}{}:
	default:
	}
	switch c.Do.(type) {
	case room.Say:
		if r.gate != nil {
			<-r.gate
		}
	case room.Pause:
		go r.emit(room.Paused{Cause: room.CausePerson, Reason: "paused"})
	case room.Stop:
		go r.emit(room.Stopped{Cause: room.CausePerson, Reason: "stopped"})
	}
	return nil, ctx.Err()
}

func (r *fakeRoom) View() room.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.view
	v.Seats = slices.Clone(v.Seats) // emit changes them
	return v
}

// emit gives an event to the session. It waits until the session takes it.
func (r *fakeRoom) emit(body room.Body) {
	r.mu.Lock()
	r.next++
	e := room.Event{Seq: r.next, Actor: "host", Body: body}
	if b, ok := body.(room.PermissionAnswered); ok {
		e.Actor = b.By
	}
	switch b := body.(type) {
	case room.TurnGranted:
		r.view.Turn = b.Turn
	case room.TurnDrafted:
		r.view.Draft = &room.Draft{Hash: b.Draft, Message: b.Message, Why: b.Why}
	case room.PermissionAsked:
		r.view.Requests = append(r.view.Requests, room.PermissionRequest{ID: b.ID, Permission: b.Permission, Timeout: b.Timeout})
		r.view.Seats[0].Phase = "waiting for permission"
	case room.PermissionAnswered:
		r.view.Requests = slices.DeleteFunc(slices.Clone(r.view.Requests), func(q room.PermissionRequest) bool { return q.ID == b.ID })
	case room.Stopped:
		r.view.Phase = room.PhaseStopped
	case room.Paused:
		r.view.Phase = room.PhasePaused
	}
	r.view.Seq = r.next
	r.mu.Unlock()
	select {
	case r.queue <- coordinator.Update{Event: &e}:
	case <-time.After(3 * time.Minute): // the session has ended
	}
}

func (r *fakeRoom) done() []room.Act {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.acts)
}

// A fixture is a session in a pseudo terminal.
type fixture struct {
	t      *testing.T
	room   *fakeRoom
	keys   *os.File
	screen *termtest.Screen
	more   chan struct{}
	ended  chan error

	mu   sync.Mutex
	sent []byte
}

// show runs a session in a terminal of that size, after it was changed.
func show(t *testing.T, cols, rows int, change ...func(*Session)) *fixture {
	t.Helper()
	ours, theirs := termtest.Pty(t, cols, rows)
	t.Setenv("TERM", "xterm-256color")
	x := &fixture{t: t, room: newFakeRoom(), keys: ours, screen: termtest.New(cols, rows), more: make(chan struct{}, 1), ended: make(chan error, 1)}
	s := &Session{
		Room: x.room, Printer: &Printer{You: "me"}, Actor: "me", Out: theirs, Err: io.Discard,
		Terminal: FindTerminal(theirs, theirs),
	}
	if s.Terminal == nil {
		t.Fatal("the pseudo terminal is not one")
	}
	s.Terminal.Color = true
	for _, f := range change {
		f(s)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		x.read()
	}()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		x.ended <- s.Run(ctx)
		theirs.Close()
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-x.ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(3 * time.Minute):
			t.Error("the session does not end")
		}
		ours.Close()
		<-read
	})
	return x
}

func (x *fixture) read() {
	b := make([]byte, 4096)
	for {
		n, err := x.keys.Read(b)
		x.mu.Lock()
		x.sent = append(x.sent, b[:n]...)
		x.mu.Unlock()
		_, _ = x.screen.Write(b[:n])
		select {
		case x.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (x *fixture) press(keys string) {
	x.t.Helper()
	if _, err := x.keys.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// resize changes the size of the terminal. The kernel signals that only to the
// processes of a terminal, and the test is none of this one.
func (x *fixture) resize(cols, rows int) {
	x.t.Helper()
	x.screen.Resize(cols, rows)
	termtest.SetSize(x.t, x.keys, cols, rows)
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		x.t.Fatal(err)
	}
}

// sees waits until the screen shows each of the texts.
func (x *fixture) sees(texts ...string) {
	x.t.Helper()
	x.until(fmt.Sprintf("shows %q", texts), func() bool {
		screen := x.screen.String()
		return !slices.ContainsFunc(texts, func(s string) bool { return !strings.Contains(screen, s) })
	})
}

func (x *fixture) until(what string, ok func() bool) {
	x.t.Helper()
	deadline := time.After(3 * time.Minute)
	for !ok() {
		select {
		case <-x.more:
		case <-x.room.acted:
		case <-deadline:
			x.t.Fatalf("never %s; the screen is\n%s", what, x.screen)
		}
	}
}

// does waits until the person has done exactly these acts.
func (x *fixture) does(want ...room.Act) {
	x.t.Helper()
	x.until(fmt.Sprintf("did %v", want), func() bool { return len(x.room.done()) >= len(want) })
	if got := x.room.done(); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
		x.t.Errorf("the person did %#v, want %#v", got, want)
	}
}

// drafts grants a turn to code and lets its draft wait.
func (x *fixture) drafts(hash, text string) {
	x.room.emit(room.TurnGranted{Turn: 1, Participant: "code"})
	x.room.emit(room.TurnDrafted{Turn: 1, Draft: hash, Why: "manual", Message: room.Message{From: "code", To: room.Broadcast, Text: text}})
	x.sees("DRAFT of", "Ctrl-O approve")
}

// delta gives a part of a reply to the session.
func (r *fakeRoom) delta(who, text string) {
	r.queue <- coordinator.Update{Participant: who, Delta: text}
}
