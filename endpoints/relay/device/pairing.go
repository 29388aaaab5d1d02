package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/problem"
)

// A Phase is how far a pairing is.
type Phase string

// The phases of a Pairing.
const (
	PairingWaiting Phase = "waiting" // for the other device
	PairingAsked   Phase = "asked"   // for the answer of this device's owner
	PairingAgreed  Phase = "agreed"  // this device's owner has agreed; for the other owner
	PairingPaired  Phase = "paired"
	PairingRefused Phase = "refused"
	PairingExpired Phase = "expired"
	PairingFailed  Phase = "failed"
)

// Over reports whether nothing more happens in this phase.
func (p Phase) Over() bool {
	return p == PairingPaired || p == PairingRefused || p == PairingExpired || p == PairingFailed
}

// A Question is whether to pair with a device. Its owner sees the same digits
// unless an attacker sits between.
type Question struct {
	Name   string // stated by the device: cleaned, not trustworthy
	Device identity.DeviceID
	Grant  identity.Grant // of the device that has used an invite; 0 when this one joins
	Digits string
}

// A PairingState is how a pairing is at one time.
type PairingState struct {
	Version  int // grows with each change
	Phase    Phase
	Question *Question     // the latest; answered unless Phase is PairingAsked
	Offline  bool          // a relay says that the device that made the invite is not connected
	Notes    []string      // what a person should know, such as a failed attempt
	Peer     identity.Peer // once paired
	Err      error         // once refused, expired or failed
}

// Times of a pairing.
const (
	// refusalTime is how long a refusal may take to reach the other device.
	refusalTime = 5 * time.Second
	// settleTime is how long the confirmation of the other device may take. A
	// device that is stored is a peer without it.
	settleTime = 5 * time.Second
	// ackTime is how long the last acknowledgement of a join takes to leave.
	ackTime = 250 * time.Millisecond
)

// maxNotes bounds the notes of a pairing: the holder of an invite can make any
// number of attempts.
const maxNotes = 50

// A Pairing is one invite of this device, or one use of another device's. Its
// methods are safe for concurrent use.
type Pairing struct {
	Invite  identity.Invite
	Joining bool   // this device uses the invite
	name    string // what this device calls itself; "" for the name of the connection

	withdrawn func() // called once, by Withdraw

	mu       sync.Mutex
	state    PairingState
	changed  chan struct{} // closed and replaced with each change
	answer   chan<- bool   // of the open question; nil without one
	refusing bool          // this device's owner has refused, which the other is being told
	late     bool          // the invite has expired during an attempt
	timers   []*time.Timer
}

func newPairing(in identity.Invite, joining bool, name string) *Pairing {
	return &Pairing{Invite: in, Joining: joining, name: name, state: PairingState{Version: 1, Phase: PairingWaiting}, changed: make(chan struct{})}
}

// State returns how the pairing is now.
func (p *Pairing) State() PairingState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.snapshot()
}

// snapshot copies the state. The caller holds mu.
func (p *Pairing) snapshot() PairingState {
	s := p.state
	s.Notes = slices.Clone(s.Notes)
	return s
}

// Next returns the state once its version is above after, or when ctx ends, with
// the error of ctx.
func (p *Pairing) Next(ctx context.Context, after int) (PairingState, error) {
	for {
		p.mu.Lock()
		s, changed := p.snapshot(), p.changed
		p.mu.Unlock()
		if s.Version > after {
			return s, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return s, ctx.Err()
		}
	}
}

// Answer answers the open question, which must be the one with these digits: a
// person must not accept another device than the one that was shown.
func (p *Pairing) Answer(digits string, yes bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.answer == nil:
		return &problem.Error{Code: "INVITE-ANSWERED", What: "no question about this pairing is open", Fix: "it may have been answered, or the other device has given up"}
	case p.state.Question.Digits != digits:
		return &problem.Error{Code: "INVITE-ANSWERED", What: "the open question has other digits than the answer", Fix: "compare the digits of the open question, and answer that"}
	}
	p.answer <- yes // it holds one
	p.answer = nil
	p.state.Phase = PairingAgreed
	if !yes {
		p.state.Phase, p.refusing = PairingWaiting, true
		if !p.Joining {
			p.after(refusalTime, func() { p.end(PairingRefused, errRefusedHere) })
		}
	}
	p.touch()
	return nil
}

// Withdraw ends the pairing unless it is over. An invite cannot be used any
// more.
func (p *Pairing) Withdraw() {
	if p.end(PairingFailed, errWithdrawn) {
		p.withdrawn()
	}
}

// touch tells those that wait of a change. The caller holds mu.
func (p *Pairing) touch() {
	p.state.Version++
	close(p.changed)
	p.changed = make(chan struct{})
}

// after calls f later, unless the pairing is over then. The caller holds mu.
func (p *Pairing) after(d time.Duration, f func()) { p.timers = append(p.timers, time.AfterFunc(d, f)) }

// end ends the pairing, and reports whether it was not over.
func (p *Pairing) end(phase Phase, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.finish(phase, err)
}

// finish is end for a caller who holds mu.
func (p *Pairing) finish(phase Phase, err error) bool {
	if p.state.Phase.Over() {
		return false
	}
	p.state.Phase, p.state.Err, p.state.Offline = phase, err, false
	if p.answer != nil {
		p.answer <- false
		p.answer = nil
	}
	for _, t := range p.timers {
		t.Stop()
	}
	p.touch()
	return true
}

// paired ends the pairing with a peer.
func (p *Pairing) paired(peer identity.Peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.state.Phase.Over() {
		p.state.Peer = peer
		p.finish(PairingPaired, nil)
	}
}

// ask asks this device's owner, after the questions before. It returns false
// when ctx ends first or the pairing is over.
func (p *Pairing) ask(ctx context.Context, q Question) bool {
	answer := make(chan bool, 1)
	if !p.open(ctx, q, answer) {
		return false
	}
	select {
	case yes := <-answer:
		return yes
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case yes := <-answer: // at the same time
		return yes
	default:
	}
	p.answer, p.state.Question = nil, nil
	p.wait()
	return false
}

// open makes q the open question once there is no other.
func (p *Pairing) open(ctx context.Context, q Question, answer chan<- bool) bool {
	for {
		p.mu.Lock()
		changed := p.changed
		switch {
		case p.state.Phase.Over() || p.refusing || ctx.Err() != nil:
			p.mu.Unlock()
			return false
		case p.answer == nil:
			p.answer, p.state.Question, p.state.Phase = answer, &q, PairingAsked
			p.touch()
			p.mu.Unlock()
			return true
		}
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// wait goes back to waiting, or ends the pairing if the invite has expired. The
// caller holds mu.
func (p *Pairing) wait() {
	if p.late {
		p.finish(PairingExpired, errExpired)
		return
	}
	p.state.Phase = PairingWaiting
	p.touch()
}

// expire ends an invite that nobody uses now.
func (p *Pairing) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = true
	if p.state.Phase == PairingWaiting && !p.refusing {
		p.finish(PairingExpired, errExpired)
	}
}

// unpaired takes the end of an attempt to use the invite.
func (p *Pairing) unpaired(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.state.Phase.Over():
	case p.refusing && errors.Is(err, session.ErrRefused):
		p.finish(PairingRefused, errRefusedHere)
	case errors.Is(err, session.ErrDeclined):
		p.finish(PairingRefused, errRefusedThere)
	case errors.Is(err, identity.ErrRevoked):
		p.finish(PairingFailed, err)
	default:
		p.note(fmt.Sprintf("a device has used the invite and was not paired: %v", err))
		if p.answer == nil && !p.refusing {
			p.wait()
		}
	}
}

// note adds a note. The caller holds mu.
func (p *Pairing) note(text string) {
	if len(p.state.Notes) < maxNotes {
		p.state.Notes = append(p.state.Notes, text)
		p.touch()
	}
}

// offline takes whether the device that made the invite is connected.
func (p *Pairing) offline(now bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.state.Phase.Over() && p.state.Offline != now {
		p.state.Offline = now
		p.touch()
	}
}

// Ends of a pairing.
var (
	errRefusedHere  = &problem.Error{Code: "INVITE-REFUSED", What: "you have refused the device that used the invite", Fix: "make another invite for the right device: `moot invite`"}
	errRefusedThere = &problem.Error{Code: "INVITE-REFUSED", What: "the other owner has refused to pair the devices", Fix: "ask them; if the digits differed, an attacker may have the invite: make another and send it on another way", Kind: session.ErrDeclined}
	errExpired      = &problem.Error{Code: "INVITE-EXPIRED", What: "nobody has used the invite in time", Fix: "make another: `moot invite`"}
	errWithdrawn    = &problem.Error{Code: "INVITE-WITHDRAWN", What: "the pairing was ended on this device", Fix: "make another invite, or ask for one"}
)

// joinError adds what to do to an error of a join.
func joinError(err error) error {
	for kind, p := range map[error]problem.Error{
		identity.ErrInvite:        {Code: "INVITE-INVALID", What: "this is no invite", Fix: "copy the whole text that starts with mootinv1."},
		identity.ErrInviteExpired: {Code: "INVITE-EXPIRED", What: "the invite has expired", Fix: "ask for another"},
		identity.ErrInviteUsed:    {Code: "INVITE-USED", What: "the invite has been used", Fix: "ask for another; if it was not you, tell the other owner"},
		session.ErrRefused:        {Code: "INVITE-REFUSED", What: "the other owner has refused", Fix: "ask them, and compare the digits"},
		session.ErrDeclined:       {Code: "INVITE-REFUSED", What: "you have refused the pairing, so nothing is stored", Fix: "if the digits differed, an attacker may have the invite: ask for another on another way"},
		session.ErrOldRelease:     {Code: "INVITE-OLD", What: "the other device has an older release of moot, in which an attacker could forge the digits", Fix: "update moot there, and ask for another invite"},
		session.ErrNoAnswer:       {Code: "INVITE-EXPIRED", What: "the owners have not both agreed in time", Fix: "ask for another invite"},
		session.ErrUnreachable:    {Code: "INVITE-UNREACHABLE", What: "the device that made the invite cannot be reached", Fix: "see that `moot invite` waits there"},
	} {
		if errors.Is(err, kind) {
			p.Err, p.Kind = err, kind
			return &p
		}
	}
	return err
}

// ParseInvite reads the text of an invite.
func ParseInvite(text string) (identity.Invite, error) {
	in, err := identity.ParseInvite(text)
	if err == nil && !in.Commitment {
		err = session.ErrOldRelease
	}
	return in, joinError(err)
}
