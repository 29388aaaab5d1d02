package relay

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

const (
	maxRepeats = 8           // of one request: its answer is the same
	lookEvery  = time.Second // until a seat learns that its device is not trusted any more
)

// await sends the request, again when the other device was started again,
// until it is answered.
func (e *Endpoint) await(ctx context.Context, x *exchange, message []byte) (endpoint.Reply, error) {
	o := errand{seat: e, ctx: ctx, message: message, sent: make(chan error, maxRepeats+1)}
	o.post()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		err := error(nil)
		select {
		case r := <-x.result:
			return r.reply, r.err
		case <-x.again:
			o.repeat(x)
		case err = <-o.sent:
			err = o.arrived(x, err)
		case <-look.C:
			if e.cfg.Trusted != nil {
				err = e.cfg.Trusted()
			}
		case <-e.over:
			e.settle(x, abandoned)
			return endpoint.Reply{}, errClosed
		case <-ctx.Done():
			if e.settle(x, abandoned) {
				e.cancel(x.prompt)
				return endpoint.Reply{}, ended(ctx)
			}
		}
		if err != nil && e.settle(x, abandoned) {
			return endpoint.Reply{}, unsent(err)
		}
	}
}

// An errand is a request on its way.
type errand struct {
	seat    *Endpoint
	ctx     context.Context
	message []byte
	sent    chan error // what became of each sending
	under   int        // sendings of which that is not known
}

func (o *errand) post() {
	o.under++
	o.seat.sends.Go(func() { o.sent <- o.seat.cfg.Post.link.Send(o.ctx, o.seat.cfg.Device, o.message) })
}

// repeat sends the request again to a device that was started again, unless
// the Link still has it.
func (o *errand) repeat(x *exchange) {
	if o.under > 0 {
		select {
		case err := <-o.sent:
			if o.arrived(x, err) != nil {
				return // it is asked again at its next start
			}
		default:
		}
	}
	if o.under == 0 && o.seat.mayRepeat(x) {
		o.post()
	}
}

// arrived takes what became of a sending. It returns the error that ends the
// request.
func (o *errand) arrived(x *exchange, err error) error {
	o.under--
	switch {
	case err == nil || o.ctx.Err() != nil: // ctx says why
		return nil
	case errors.Is(err, session.ErrForgotten): // the device is back, and may or may not have it
		if o.seat.mayRepeat(x) {
			o.post()
		}
		return nil
	}
	return err
}

// mayRepeat counts how often a request was repeated: so many answers more than
// one are no breach.
func (e *Endpoint) mayRepeat(x *exchange) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x.repeats >= maxRepeats {
		return false
	}
	x.repeats++
	return true
}
