package relaycmd

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/client"
)

// pairingWords are what a person is asked and told.
type pairingWords struct {
	ask    func(context.Context, api.PairingQuestion) bool
	agreed func(api.PairingQuestion)
}

// followPairing asks and tells the person until the pairing is over.
func (a *commands) followPairing(ctx context.Context, p *client.Pairing, words pairingWords) error {
	v := pairingView{app: a, pairing: p, words: words}
	defer v.close()
	for !p.State.Over() {
		v.show(ctx)
		if err := p.Next(ctx); err != nil {
			withdraw, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
			defer cancel()
			_ = p.Withdraw(withdraw) // the process that had the pairing may have ended
			return ended(ctx, cmp.Or(ctx.Err(), err))
		}
	}
	v.show(ctx)
	if p.State.Problem != nil {
		return p.State.Problem.Problem()
	}
	return a.EmitText(Pairing{Peer: p.State.Peer}, "paired with %s, device %s\n", p.State.Peer.Name, p.State.Peer.Device)
}

// withdrawTime bounds the wait for the end of a pairing that was interrupted.
const withdrawTime = 2 * time.Second

// A pairingView shows the states of a pairing to a person.
type pairingView struct {
	app     *commands
	pairing *client.Pairing
	words   pairingWords

	asked   string // the digits of the question that was put
	agreed  string // the digits that were agreed to
	notes   int    // that were shown
	offline bool
	void    func() // ends the open question; nil without one
	asking  sync.WaitGroup
}

func (v *pairingView) show(ctx context.Context) {
	s := v.pairing.State
	for _, note := range s.Notes[min(v.notes, len(s.Notes)):] {
		v.app.Note("%s", note)
	}
	v.notes = len(s.Notes)
	if s.Offline && !v.offline {
		v.app.Note("the device that made the invite is not connected to the relay; waiting for it")
	}
	v.offline = s.Offline
	if s.Phase != "asked" || s.Question.Digits != v.asked {
		v.close()
	}
	switch {
	case s.Phase == "asked" && v.void == nil:
		v.ask(ctx, *s.Question)
	case s.Phase == "agreed" && v.agreed != s.Question.Digits:
		v.agreed = s.Question.Digits
		v.words.agreed(*s.Question)
	}
}

// ask asks the person in the background, until the question is void.
func (v *pairingView) ask(ctx context.Context, q api.PairingQuestion) {
	v.asked = q.Digits
	open, cancel := context.WithCancel(ctx)
	v.void = cancel
	v.asking.Go(func() {
		yes := v.words.ask(open, q)
		if open.Err() != nil {
			return // the answer of another terminal, or no answer is wanted any more
		}
		if err := v.pairing.Answer(ctx, q.Digits, yes); err != nil {
			v.app.printProblem(err)
		}
	})
}

// close ends the open question and waits for it.
func (v *pairingView) close() {
	if v.void != nil {
		v.void()
		v.void = nil
	}
	v.asking.Wait()
}
