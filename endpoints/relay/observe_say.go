package relay

import (
	"errors"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/room"
)

// refusal is the envelope that ends what somebody who watches asked.
func refusal(q envelope.Envelope, v verdict) envelope.Envelope {
	t := envelope.Error
	if v.Status == statusOK {
		t = envelope.Status
	}
	return envelope.Envelope{ID: q.ID, Type: t, Room: q.Room, Body: body(v)}
}

// heard handles a message of somebody who watches. One of a device that may
// not is no message at all.
func (g *Gallery) heard(from identity.DeviceID, e envelope.Envelope) bool {
	p, code := g.admit(from, e.Room)
	if code == verdictDenied {
		g.refused(from, e.Room, "unsolicited")
		return false
	}
	var w words
	if err := e.DecodeBody(&w); err != nil {
		g.post.violation(from, "", "bad_frame", err.Error())
		return true
	}
	answer := func(v verdict) { g.post.send(from, refusal(e, v)) }
	if code == "" {
		code = w.fit()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.ended:
		return true
	case code == "" && g.talking[from] >= maxTalking:
		g.counts.Limited++
		answer(verdict{Status: statusError, Code: verdictLimit, RetryMS: 1000})
		return true
	case code != "":
		answer(verdict{Status: statusError, Code: code})
		return true
	}
	g.talking[from]++
	g.wg.Go(func() {
		v := g.say(p, e.ID, w.Text)
		g.mu.Lock()
		g.talking[from]--
		if g.talking[from] == 0 {
			delete(g.talking, from)
		}
		g.mu.Unlock()
		answer(v)
	})
	return true
}

// talk is the profile whose rate messages have: that of turns.
var talk = Profile{Name: "observers"}

// say posts a message, once for an id.
func (g *Gallery) say(p pass, id, text string) verdict {
	bad := func(code string) verdict { return verdict{Status: statusError, Code: code} }
	wait, err := g.cfg.Gate.take(serving, talk.withDefaults(), p.guest.Device, "message")
	if err == nil && wait > 0 {
		g.mu.Lock()
		g.counts.Limited++
		g.mu.Unlock()
		v := bad(verdictLimit)
		v.RetryMS = wait.Milliseconds() + 1
		return v
	}
	if err == nil {
		err = g.audit(p.guest.Device, p.stage.ID(), "said", "")
	}
	if err != nil {
		g.cfg.Log.Error("a message is refused, for it could not be written down", "error", err)
		return bad(verdictFailed)
	}
	err = p.stage.Say(g.ctx, p.guest, "o_"+digest(p.guest.Device.String()+"\x00"+id), text)
	switch {
	case errors.Is(err, room.ErrOver):
		return bad(verdictOver)
	case errors.Is(err, room.ErrDenied):
		return bad(verdictMuted)
	case err != nil:
		g.cfg.Log.Warn("a message was not posted", "device", p.guest.Device.Short(), "error", err)
		return bad(verdictFailed)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts.Said++
	return verdict{Status: statusOK}
}
