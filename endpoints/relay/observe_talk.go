package relay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

// Say says something in the room, once its host shows it, and returns when it was posted or why it
// was not. It is posted once, whatever happens on the way. Errors wrap
// endpoint.ErrDenied, ErrLimited, ErrTooLarge, ErrClosed and ErrAgent.
func (w *Watcher) Say(ctx context.Context, text string) error {
	id := "m_" + rand.Text()
	for {
		v, err := w.sayOnce(ctx, id, text)
		if err != nil {
			return err
		}
		if v.Status == statusOK {
			return nil
		}
		if v.Code != verdictLimit || v.RetryMS == 0 || v.RetryMS > maxRetry {
			return unsaid(v.Code)
		}
		if !pause(ctx, time.Duration(v.RetryMS)*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// sayOnce sends a message, again when it may have been lost, until there is a
// verdict.
func (w *Watcher) sayOnce(ctx context.Context, id, text string) (v verdict, err error) {
	select {
	case <-w.in:
	case <-w.over:
		return v, unsaid(verdictOver)
	case <-ctx.Done():
		return v, ctx.Err()
	}
	for {
		c := make(chan envelope.Envelope, 1)
		w.mu.Lock()
		w.talk[id] = c
		again := w.again
		w.mu.Unlock()
		sent := w.dispatch(ctx, envelope.Envelope{ID: id, Type: envelope.Message, Room: w.cfg.Room, Body: body(words{text})})
		e, ok, err := w.hear(ctx, c, sent, again)
		if err != nil {
			return v, err
		}
		if !ok {
			continue
		}
		if err := e.DecodeBody(&v); err != nil || v.check() != nil || v.Status == statusOK != (e.Type == envelope.Status) {
			return v, problemOf("AGENT-PROTOCOL", "what the other owner's device answers cannot be read", "ask its owner which release of moot it runs", endpoint.ErrProtocol)
		}
		return v, nil
	}
}

// hear waits for a verdict; not ok means to send once more.
func (w *Watcher) hear(ctx context.Context, c <-chan envelope.Envelope, sent <-chan error, again <-chan struct{}) (e envelope.Envelope, ok bool, err error) {
	t := time.NewTimer(askAgain)
	defer t.Stop()
	for {
		select {
		case e = <-c:
			return e, true, nil
		case err := <-sent:
			sent = nil
			switch {
			case errors.Is(err, session.ErrUnknownPeer), errors.Is(err, session.ErrSuspended), errors.Is(err, session.ErrTooLarge):
				return e, false, unsent(err)
			case err != nil:
				pause(ctx, sayRetry)
				return e, false, nil
			}
			t.Reset(askAgain)
		case <-again:
			again = nil
			if sent == nil {
				return e, false, nil
			}
		case <-t.C:
			if sent == nil {
				return e, false, nil
			}
		case <-w.over:
			return e, false, unsaid(verdictOver)
		case <-ctx.Done():
			return e, false, ctx.Err()
		}
	}
}

// unsaid says why a message was not posted.
func unsaid(code string) error {
	switch code {
	case verdictSize:
		return problemOf("WATCH-SIZE", "the message is over "+strconv.Itoa(maxWords)+" characters", "say it in several", endpoint.ErrTooLarge)
	case verdictOver:
		return problemOf("WATCH-OVER", "the message was not posted: the room does not run any more", "ask its owner for another room", endpoint.ErrClosed)
	case verdictMuted:
		return problemOf("WATCH-MUTED", "the message was not posted: you may watch and not speak", "ask who holds the room to unmute you", endpoint.ErrDenied)
	case verdictLimit:
		return problemOf("RELAY-RATE", "the message was not posted: there have been too many", "wait", endpoint.ErrLimited)
	case verdictDenied:
		return problemOf("WATCH-DENIED", "the message was not posted: the other owner's device does not let this one speak", "ask its owner for an invite of `moot invite --grant observer`", endpoint.ErrDenied)
	}
	return problemOf("AGENT-ERROR", fmt.Sprintf("the message was not posted: %s", quote(code)), "ask who holds the room what happened", endpoint.ErrAgent)
}
