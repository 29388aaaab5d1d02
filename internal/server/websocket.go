package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
)

// Bounds of a WebSocket.
const (
	readLimit = 64 << 10         // of a message of the reader, none of which has a meaning
	pingEvery = 30 * time.Second // how often the server asks whether the reader is there
)

// linger is how long a reader may take to answer the end of the stream.
const linger = 2 * time.Second

// upgrader makes WebSockets. It refuses the pages of other origins, as gorilla does by
// itself. Frames are not compressed: their length would tell what an attacker's text
// has in common with them.
func (s *Server) upgrader() *websocket.Upgrader {
	return &websocket.Upgrader{
		HandshakeTimeout: writeTimeout,
		Error: func(w http.ResponseWriter, _ *http.Request, status int, reason error) {
			e := &problem.Error{Code: "API-REQUEST", What: reason.Error(), Fix: "open a WebSocket of version 13 from a page of this server"}
			if status == http.StatusForbidden {
				e.Code = "API-ORIGIN"
			}
			s.fail(w, api.ProblemOf(status, e))
		},
	}
}

// A socketWriter sends frames as text messages of a WebSocket.
type socketWriter struct {
	ws     *websocket.Conn
	pinged time.Time
	ended  bool // the reader was told that the stream ends
}

// serveWebSocket serves q over a WebSocket.
func (s *Server) serveWebSocket(w http.ResponseWriter, r *http.Request, q subscription) {
	s.overWebSocket(w, r, func(ctx context.Context, out frameWriter) { s.stream(ctx, q, out) })
}

// overWebSocket lets serve write to a WebSocket. The context ends when the reader has
// gone.
func (s *Server) overWebSocket(w http.ResponseWriter, r *http.Request, serve func(context.Context, frameWriter)) {
	ws, err := s.upgrader().Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	defer ws.Close()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer cancel()
		readAll(ws)
	}()
	c := &socketWriter{ws: ws, pinged: time.Now()}
	serve(ctx, c)
	if !c.ended {
		ws.Close()
	}
	<-read
}

// readAll reads what the reader sends, which has no meaning, until it has gone.
func readAll(ws *websocket.Conn) {
	ws.SetReadLimit(readLimit)
	answered := func(string) error { return ws.SetReadDeadline(time.Now().Add(2*pingEvery + writeTimeout)) }
	_ = answered("")
	ws.SetPongHandler(answered)
	for {
		if _, _, err := ws.NextReader(); err != nil {
			return
		}
	}
}

// frame implements [frameWriter], like the other methods.
func (c *socketWriter) frame(f frame, _ bool) error {
	_ = c.ws.SetWriteDeadline(time.Now().Add(writeTimeout)) // it always succeeds
	return c.ws.WriteMessage(websocket.TextMessage, f.line)
}

// end tells the reader in a message and by the code of the close whether to resume.
func (c *socketWriter) end(e api.End, line []byte) {
	code, reason := websocket.CloseNormalClosure, e.Code
	switch e.Code {
	case api.EndSlow:
		code, reason = websocket.CloseTryAgainLater, fmt.Sprintf("too slow: resume with after=%d", e.After)
	case api.EndServer:
		code, reason = websocket.CloseGoingAway, fmt.Sprintf("the server ends: resume with after=%d", e.After)
	case api.EndFailed:
		code = websocket.CloseInternalServerErr
	}
	if err := c.frame(frame{line: line}, false); err != nil {
		return
	}
	err := c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(writeTimeout))
	c.ended = err == nil && c.ws.SetReadDeadline(time.Now().Add(linger)) == nil
}

// alive sends a ping. A reader that does not answer two is dropped.
func (c *socketWriter) alive() error {
	if time.Since(c.pinged) < pingEvery {
		return nil
	}
	c.pinged = time.Now()
	return c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeTimeout))
}
