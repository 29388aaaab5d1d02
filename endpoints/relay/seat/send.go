package seat

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

const (
	maxResends = 8           // of one request
	checkEvery = time.Second // between two checks that the device is trusted
)

// exchange sends the request and waits for its response. It sends the request
// again when the other device was restarted.
func (e *Endpoint) exchange(ctx context.Context, x *inflight.Request, message []byte) (endpoint.Reply, error) {
	s := sender{seat: e, request: x, message: message, sent: make(chan error, maxResends+1)}
	s.send()
	check := time.NewTicker(checkEvery)
	defer check.Stop()
	offline := false
	for {
		err := error(nil)
		select {
		case r := <-x.Result():
			e.signals.Flush(ctx) // what the agent has sent before is a part of its turn
			return r.Reply, r.Err
		case <-e.resend:
			s.resend()
		case err = <-s.sent:
			err = s.delivered(err)
		case <-check.C:
			if e.cfg.Trusted != nil {
				err = e.cfg.Trusted()
			}
			offline = e.showOffline(offline)
		case <-e.done:
			e.abandon(x)
			return endpoint.Reply{}, wire.ErrClosed
		case <-ctx.Done():
			if e.abandon(x) {
				if !moved(ctx) {
					e.sendCancel(x.Prompt)
				}
				return endpoint.Reply{}, wire.Ended(ctx)
			}
		}
		if err != nil && e.abandon(x) {
			return endpoint.Reply{}, wire.Undeliverable(err)
		}
	}
}

// offlineMark is the live text that a watcher sees when the device is not
// connected. The request waits for it.
const offlineMark = "(its device is not connected to the relay) "

// showOffline tells watchers when the device has gone offline since the last
// call, and reports whether it is offline.
func (e *Endpoint) showOffline(was bool) bool {
	now := e.cfg.Offline != nil && e.cfg.Offline()
	if floor := e.currentFloor(); now && !was && floor != nil {
		floor.Show(offlineMark)
	}
	return now
}

// A sender delivers one request, again when needed.
type sender struct {
	seat    *Endpoint
	request *inflight.Request
	message []byte
	sent    chan error // the result of each delivery
	pending int        // deliveries whose result has not arrived
}

func (s *sender) send() {
	s.pending++
	c := s.seat.cfg
	s.seat.sends.Go(func() { s.sent <- c.Dispatcher.Deliver(s.request.Context, c.Device, s.message) })
}

// resend sends the request to a restarted device, unless the Link still has it.
func (s *sender) resend() {
	if s.pending > 0 {
		select {
		case err := <-s.sent:
			if s.delivered(err) != nil {
				return // the next restart of the device sends it again
			}
		default:
		}
	}
	if s.pending == 0 && s.mayResend() {
		s.send()
	}
}

// delivered handles the result of a delivery. It returns an error that ends the
// request.
func (s *sender) delivered(err error) error {
	s.pending--
	switch {
	case err == nil || s.request.Context.Err() != nil: // the context says why
		return nil
	case errors.Is(err, session.ErrForgotten): // the device is back, and may or may not have the request
		if s.mayResend() {
			s.send()
		}
		return nil
	}
	return err
}

// mayResend counts the resends. The other device may answer each of them. A
// request whose response has arrived is not sent again: its next response would
// count as a violation.
func (s *sender) mayResend() bool {
	s.seat.mu.Lock()
	defer s.seat.mu.Unlock()
	if s.seat.requests.Open() != s.request || s.request.Resent >= maxResends {
		return false
	}
	s.request.Resent++
	return true
}
