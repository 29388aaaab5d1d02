package server

import (
	"errors"
	"io"
	"net"
	"sync"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// read takes frames until the connection ends, and returns the code to close
// it with.
func (c *conn) read() (code int) {
	for {
		if err := c.extend(); err != nil {
			return c.lost(err)
		}
		b, err := c.message()
		if err != nil {
			return c.lost(err)
		}
		if err := c.take(b); err != nil {
			return c.lost(err)
		}
	}
}

// scratch holds buffers for messages that are being read, so that a message
// is allocated once, in the size that it has, and idle connections hold none.
var scratch = sync.Pool{New: func() any { return new([frame.MaxFrame]byte) }}

var errProtocol = errors.New("not what the protocol has")

// message reads the next message.
func (c *conn) message() ([]byte, error) {
	typ, r, err := c.ws.NextReader()
	if err != nil {
		return nil, err
	}
	if typ != websocket.BinaryMessage {
		return nil, errProtocol
	}
	buf := scratch.Get().(*[frame.MaxFrame]byte)
	defer scratch.Put(buf)
	n, err := io.ReadFull(r, buf[:])
	switch {
	case err == nil: // full: the read limit has let no more through
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // shorter; a lost connection is a CloseError
	default:
		return nil, err
	}
	return append(make([]byte, 0, n), buf[:n]...), nil
}

// take does what a frame asks for.
func (c *conn) take(b []byte) error {
	c.in.Add(1)
	c.s.counts.framesIn.Inc()
	if err := wait(c.meter.ctx, c.frames, 1, c.s.counts.frameWaits); err != nil {
		return err
	}
	if frame.IsSend(b) {
		c.s.pass(c, b)
		return nil
	}
	f, err := frame.Decode(b)
	if err != nil {
		return errProtocol
	}
	a, ok := f.(frame.Allow)
	if !ok {
		return errProtocol
	}
	c.doors.allow(a.Devices)
	return nil
}

// control charges a ping or a pong like a frame. A pong counts as heard.
func (c *conn) control() error {
	if err := wait(c.meter.ctx, c.frames, 1, c.s.counts.frameWaits); err != nil {
		return err
	}
	return c.extend()
}

// pinged lets the writer answer: writing from here would let an endpoint that
// does not read block its own reader (gorilla/websocket#97).
func (c *conn) pinged(text string) error {
	c.pong.Store(&text)
	c.out.wake()
	return c.control()
}

// lost notes why reading ended, and returns the code to close with.
func (c *conn) lost(err error) int {
	var closed *websocket.CloseError
	var timeout net.Error
	switch {
	case errors.Is(err, errProtocol), errors.Is(err, websocket.ErrReadLimit):
		c.s.counts.violations.Inc()
		c.over(reasonProtocol)
		return websocket.ClosePolicyViolation
	case errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		c.over(reasonClosed)
	case errors.As(err, &timeout) && timeout.Timeout():
		c.over(reasonSilent)
	default:
		c.over(reasonLost)
	}
	return websocket.CloseNormalClosure
}
