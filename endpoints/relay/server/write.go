package server

import (
	"time"

	"github.com/gorilla/websocket"
)

// write is the connection's one writer. It ends when the outbox is closed and
// empty, or when the endpoint does not take what it is sent in time.
func (c *conn) write() {
	ping := time.NewTicker(c.s.limits.PingEvery)
	defer ping.Stop()
	for {
		f, notice, code := c.out.next()
		switch {
		case f != nil:
			if !c.wrote(f, notice) {
				return
			}
		case code != 0:
			c.say(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""))
			c.finish()
			return
		default:
			c.rest(ping.C)
		}
		if p := c.pong.Swap(nil); p != nil {
			c.say(websocket.PongMessage, []byte(*p))
		}
		select { // also under load
		case <-ping.C:
			c.say(websocket.PingMessage, nil)
		default:
		}
	}
}

// rest waits until something is to be written.
func (c *conn) rest(ping <-chan time.Time) {
	select {
	case <-c.out.ready:
	case <-ping:
		c.say(websocket.PingMessage, nil)
	}
}

// wrote writes one frame, or gives the connection up.
func (c *conn) wrote(f []byte, notice bool) bool {
	_ = c.ws.SetWriteDeadline(time.Now().Add(c.s.limits.WriteTimeout)) // a dead connection fails when it is written
	if err := c.ws.WriteMessage(websocket.BinaryMessage, f); err != nil {
		if isTimeout(err) {
			c.s.counts.slow.Inc()
			c.over(reasonSlow)
		}
		c.out.close(websocket.CloseGoingAway, false)
		c.ws.Close() // the reader ends with it
		return false
	}
	if !notice {
		c.sent.Add(1)
		c.s.counts.framesOut.Inc()
	}
	return true
}

// say sends a control message. One that cannot be sent is no loss of its
// own: the next frame, or the reader, finds the connection dead.
func (c *conn) say(kind int, data []byte) {
	_ = c.ws.WriteControl(kind, data, time.Now().Add(c.s.limits.WriteTimeout))
}
