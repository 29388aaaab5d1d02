package relay

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// A Shown is one answer of a host: events that came, in their order, each once.
type Shown struct {
	Room   string
	Head   []room.Event // with the first answer, when it begins later: what opens the room
	Events []room.Event
	State  string // "" while the room runs; else how it stands
	Phase  room.Phase
	Reason string
}

// Over reports whether the room has ended.
func (s Shown) Over() bool { return s.State == sceneOver }

// Away reports whether the room's host has ended, and may go on with it.
func (s Shown) Away() bool { return s.State == sceneAway }

// A WatcherConfig says what to watch. Host and Show are required.
type WatcherConfig struct {
	Host identity.DeviceID
	Room string // "" is the only one there is for this device
	// After is the last event that is known, nil for none: then Last events of
	// the past come first.
	After *int64
	Last  int
	// Show is called with each answer, by Run. While it does not return nothing
	// more is sent here.
	Show func(Shown) error
	// Wait is how long to wait for a host that does not answer; 0 is for ever.
	Wait time.Duration
	// Silent is told when a host has not answered for a while, and goes on being
	// asked. May be nil.
	Silent func()
}

// A Watcher watches a room on another owner's device. Make one with
// NewWatcher, give it to a Post and call Run once; Say may be called by
// anybody.
type Watcher struct {
	cfg  WatcherConfig
	post *Post
	ctx  context.Context // of the Post
	up   chan struct{}   // closed when the Post runs
	in   chan struct{}   // closed when the host has shown something
	over chan struct{}   // closed when Run has ended

	answers chan envelope.Envelope
	anew    chan struct{} // holds a token when the host was started anew

	// Of the goroutine of Run.
	room   string
	after  int64
	known  bool
	inside bool

	mu    sync.Mutex
	id    string // of the wish that is to be answered
	talk  map[string]chan envelope.Envelope
	again chan struct{} // closed, and replaced, when the host was started anew
	sends sync.WaitGroup
}

// Times of a Watcher.
const (
	askAgain   = sceneQuiet + 10*time.Second // with no answer for so long
	askRetry   = 2 * time.Second             // after a wish that did not arrive
	sayRetry   = 200 * time.Millisecond      // after a message that did not arrive
	byeTime    = 250 * time.Millisecond      // for the last word
	silentTime = 5 * time.Second             // until somebody is told that there is no answer
)

// NewWatcher returns a watcher for one Post.
func NewWatcher(cfg WatcherConfig) *Watcher {
	w := &Watcher{
		cfg: cfg, up: make(chan struct{}), in: make(chan struct{}), over: make(chan struct{}), answers: make(chan envelope.Envelope, 4), anew: make(chan struct{}, 1),
		room: cfg.Room, talk: map[string]chan envelope.Envelope{}, again: make(chan struct{}),
	}
	if cfg.After != nil {
		w.after, w.known = *cfg.After, true
	}
	return w
}

func (w *Watcher) begin(ctx context.Context, p *Post) {
	w.ctx, w.post = ctx, p
	close(w.up)
}

func (w *Watcher) end() {}

// met hears that a device was started again: what it was asked it has
// forgotten.
func (w *Watcher) met(from identity.DeviceID) {
	if from != w.cfg.Host {
		return
	}
	signal(w.anew)
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.again)
	w.again = make(chan struct{})
}

// take keeps what the host answers.
func (w *Watcher) take(from identity.DeviceID, e envelope.Envelope) bool {
	switch e.Type {
	case envelope.Event, envelope.Status, envelope.Error:
	default:
		return false
	}
	if from != w.cfg.Host {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.talk[e.ID]; c != nil && e.Type != envelope.Event {
		delete(w.talk, e.ID)
		c <- e // it holds one
		return true
	}
	if e.ID != w.id || e.Type == envelope.Status {
		return true // a greeting, or an answer to a wish that was given up
	}
	w.id = ""
	select {
	case w.answers <- e:
	default: // Run takes each before it asks again
	}
	return true
}

// Run asks and shows until the room has ended, Show returns an error, or ctx
// ends. Errors wrap endpoint's: ErrDenied, ErrUnreachable, ErrUntrusted and
// ErrProtocol.
func (w *Watcher) Run(ctx context.Context) error {
	defer w.sends.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer close(w.over)
	defer func() { w.leave(ctx) }()
	select {
	case <-w.up:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		e, err := w.ask(ctx)
		if err != nil {
			return err
		}
		over, err := w.show(e)
		if over || err != nil {
			return err
		}
	}
}

// leave tells the host that nobody watches any more, unless it knows. It need
// not hear of it.
func (w *Watcher) leave(ctx context.Context) {
	if !w.inside || ctx.Err() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), byeTime)
	defer cancel()
	<-w.dispatch(ctx, envelope.Envelope{ID: "bye", Type: envelope.Bye, Room: w.room})
}

// ask sends a wish, again when it was lost, until it is answered.
func (w *Watcher) ask(ctx context.Context) (e envelope.Envelope, err error) {
	var giveUp <-chan time.Time
	if w.cfg.Wait > 0 {
		t := time.NewTimer(w.cfg.Wait)
		defer t.Stop()
		giveUp = t.C
	}
	quiet := time.NewTimer(silentTime + sceneQuiet)
	if !w.known {
		quiet.Reset(silentTime)
	}
	defer quiet.Stop()
	sent, again := w.wish(ctx), (<-chan time.Time)(nil)
	var last error
	for {
		select {
		case e = <-w.answers:
			if e.Type != envelope.Error || w.worded(e) != verdictAbsent {
				return e, nil
			}
			again = time.After(askRetry)
		case err := <-sent:
			sent = nil
			switch {
			case errors.Is(err, session.ErrUnknownPeer), errors.Is(err, session.ErrSuspended):
				return e, unsent(err)
			case err != nil:
				last, again = err, time.After(askRetry)
			default:
				again = time.After(askAgain)
			}
		case <-w.anew:
			if sent == nil { // else the link brings what is under way, or says that it does not
				sent, again = w.wish(ctx), nil
			}
		case <-again:
			sent, again = w.wish(ctx), nil
		case <-quiet.C:
			if w.cfg.Silent != nil {
				w.cfg.Silent()
			}
		case <-giveUp:
			return e, w.unanswered(last)
		case <-ctx.Done():
			return e, ctx.Err()
		case <-w.ctx.Done():
			return e, context.Cause(w.ctx)
		}
	}
}

func (w *Watcher) unanswered(err error) error {
	return &problem.Error{
		Code: "RELAY-UNREACHABLE", What: "the other owner's device has not answered for " + w.cfg.Wait.String(), Err: err, Kind: endpoint.ErrUnreachable,
		Fix: "see that `moot run` runs the room there and both use the same relay",
	}
}

// wish sends what is wanted next, under an id of its own, and returns how that
// went.
func (w *Watcher) wish(ctx context.Context) <-chan error {
	q := wish{Last: w.cfg.Last}
	if w.known {
		q = wish{After: &w.after}
	}
	e := envelope.Envelope{ID: "w_" + rand.Text(), Type: envelope.Watch, Room: w.room, Body: body(q)}
	w.mu.Lock()
	w.id = e.ID
	w.mu.Unlock()
	return w.dispatch(ctx, e)
}

// dispatch sends e beside, and returns how that went.
func (w *Watcher) dispatch(ctx context.Context, e envelope.Envelope) <-chan error {
	sent := make(chan error, 1)
	b, err := envelope.Encode(e)
	if err != nil {
		sent <- err
		return sent
	}
	w.sends.Go(func() { sent <- w.post.link.Send(ctx, w.cfg.Host, b) })
	return sent
}

// show checks an answer and hands it on.
func (w *Watcher) show(e envelope.Envelope) (over bool, err error) {
	if e.Type == envelope.Error {
		return true, w.turnedAway(w.worded(e))
	}
	var v scene
	err = e.DecodeBody(&v)
	var head, events []room.Event
	if err == nil {
		head, events, err = v.read(w.after, w.known)
	}
	switch {
	case err == nil && (e.Room == "" || w.room != "" && e.Room != w.room):
		err = errors.New("it is of another room")
	case err == nil && len(head) > 0 && w.known:
		err = errors.New("it opens a room that was open")
	}
	if err != nil {
		w.post.violation(w.cfg.Host, "", "bad_frame", err.Error())
		return true, problemOf("AGENT-PROTOCOL", "what the other owner's device shows cannot be read: "+endpoint.CleanLine(err.Error(), maxReason),
			"ask its owner which release of moot it runs", endpoint.ErrProtocol)
	}
	w.room, w.after, w.known = e.Room, v.Through, true
	if !w.inside {
		w.inside = true
		close(w.in)
	}
	s := Shown{Room: e.Room, Head: head, Events: events, State: v.State, Phase: v.Phase, Reason: endpoint.CleanLine(v.Reason, maxReason)}
	return s.Over(), w.cfg.Show(s)
}

// worded is the code of a verdict, "" when there is none.
func (w *Watcher) worded(e envelope.Envelope) string {
	var v verdict
	if e.DecodeBody(&v) != nil || v.check() != nil {
		return ""
	}
	return v.Code
}

// turnedAway says why a room is not shown.
func (w *Watcher) turnedAway(code string) error {
	switch code {
	case verdictDenied:
		return problemOf("WATCH-DENIED", "the other owner's device shows no such room to this one", "ask its owner for an invite of `moot invite --grant observer`, and to list this device under observers: of the room", endpoint.ErrDenied)
	case verdictWhich:
		return problemOf("WATCH-ROOM", "several rooms of the other owner's device may be watched", "name one: --room ID", endpoint.ErrDenied)
	case verdictLimit:
		return problemOf("RELAY-BUSY", "the other owner's device shows as much as it can", "try again later", endpoint.ErrLimited)
	}
	return faultOf(code, "")
}
