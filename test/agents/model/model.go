package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// maxBody limits the bytes of a request.
const maxBody = 32 << 20

// A Config says what a server answers. The zero value answers by Script and
// keeps no log.
type Config struct {
	// Script returns the reply to a request, or nil for the reply of
	// function Script. It may be called by several goroutines at a time.
	Script func(Request) *Reply

	// Log gets one line of JSON for each model call. It never contains a
	// header or a message.
	Log io.Writer
}

// A Message is one message of a conversation: its text, or the result of a
// tool.
type Message struct {
	Role string // system, user, assistant or tool
	Text string
}

// A Request is a model call in terms that all dialects share.
type Request struct {
	Seat     string // the first part of the path, or ""
	Dialect  string // chat, responses, messages, gemini or ollama
	Model    string
	Stream   bool
	Tools    []string
	Messages []Message
	Bytes    int
	Keyed    bool // the request has a header or parameter with a key
	Side     bool // the agent asks for itself, such as for a session's title
	JSON     bool // the answer is to be JSON
	Attempt  int  // from 1: how often this seat has sent these bytes

	usage bool // a stream should end with the usage (chat alone asks for it)
}

// A Call orders the call of a tool.
type Call struct {
	ID        string
	Name      string
	Arguments json.RawMessage
}

// Usage counts the tokens of one model call. Input and Output are all tokens;
// Cached is a part of Input, Reasoning a part of Output.
type Usage struct {
	Input     int `json:"input"`
	Output    int `json:"output"`
	Cached    int `json:"cached"`
	Reasoning int `json:"reasoning"`
}

// A Reply says how the model answers a request.
type Reply struct {
	Text  string
	Call  *Call // instead of Text
	Usage Usage // the zero value is replaced with figures made from the sizes

	id         string // of this answer, unlike all others
	Status     int    // an HTTP error instead of an answer, such as 429
	RetryAfter int    // seconds, of an error
	Cut        bool
	Hold       bool // answer the beginning, then wait until the client leaves
}

// Count is what a server has counted. Usage is what it reported.
type Count struct {
	Calls     int   `json:"calls"` // answered in full, side calls excluded
	Side      int   `json:"side"`  // side calls answered in full
	Failed    int   `json:"failed"`
	Usage           // of Calls
	SideUsage Usage `json:"sideUsage"`
}

// Stats are the counts since the server started.
type Stats struct {
	Total Count            `json:"total"`
	Seats map[string]Count `json:"seats"`
}

// A Server is a fake model. Its methods may be called by several goroutines.
type Server struct {
	cfg Config

	mu       sync.Mutex
	seats    map[string]Count
	attempts map[[32]byte]int
	answers  int
}

// New returns a server, to be passed to net/http.
func New(cfg Config) *Server {
	return &Server{cfg: cfg, seats: map[string]Count{}, attempts: map[[32]byte]int{}}
}

// ServeHTTP answers a model call, GET /stats, and the lists of models that
// agents ask for when they start.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the request cannot be read, or is over "+strconv.Itoa(maxBody>>20)+" MiB", http.StatusRequestEntityTooLarge)
		return
	}
	seat, d, found := dialectOf(r.URL.Path)
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/stats":
		writeJSON(w, s.Stats())
	case r.Method == http.MethodPost && found:
		s.serveCall(w, r, seat, d, body)
	default:
		serveOther(w, r)
	}
}

// serveCall answers one model call, counts it and writes it to the log.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request, seat string, d dialect, body []byte) {
	req := Request{Seat: seat, Dialect: d.name, Bytes: len(body), Keyed: hasKey(r)}
	err := d.decode(r.URL.Path, body, &req)
	if err == nil {
		err = checkTools(d.name, body)
	}
	if err != nil {
		d.fail(w, http.StatusBadRequest, "the request is not valid: "+err.Error())
		return
	}
	req.Side = isSide(req)
	req.Attempt = s.attempt(seat, body)
	reply := s.reply(req)
	err = answer(w, r, d, req, reply)
	s.count(req, *reply, err)
	if errors.Is(err, errCut) {
		panic(http.ErrAbortHandler) // the connection ends without a last chunk
	}
}

// reply asks the scripts.
func (s *Server) reply(req Request) *Reply {
	var reply *Reply
	if s.cfg.Script != nil {
		reply = s.cfg.Script(req)
	}
	if reply == nil {
		reply = Script(req)
	}
	s.mu.Lock()
	s.answers++
	reply.id = fmt.Sprintf("%06d", s.answers)
	s.mu.Unlock()
	if reply.Call != nil && reply.Call.ID == "" {
		reply.Call.ID = "call_" + reply.id
	}
	if reply.Usage == (Usage{}) {
		reply.Usage = usageOf(req, *reply)
	}
	return reply
}

// Errors of an answer that is not complete.
var (
	errCut    = errors.New("the answer is cut off")
	errStatus = errors.New("the answer is an error")
	errLeft   = errors.New("the client has left")
)

// answer writes a reply in the dialect of its request.
func answer(w http.ResponseWriter, r *http.Request, d dialect, req Request, reply *Reply) error {
	if reply.Status != 0 {
		if reply.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(reply.RetryAfter))
		}
		d.fail(w, reply.Status, fmt.Sprintf("the fake model was told to fail with status %d", reply.Status))
		return errStatus
	}
	out := &stream{w: w, reply: *reply, left: r.Context().Done(), named: d.named, lines: d.lines}
	if !req.Stream {
		if err := out.pause(); err != nil {
			return err
		}
		writeJSON(w, d.whole(req, *reply))
		return nil
	}
	out.begin()
	d.stream(out, req, *reply)
	return out.err
}

// count adds a call to the figures of its seat, and writes its log line.
func (s *Server) count(req Request, reply Reply, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.seats[req.Seat]
	switch {
	case err != nil:
		c.Failed++
		reply.Usage = Usage{}
	case req.Side:
		c.Side++
		c.SideUsage.add(reply.Usage)
	default:
		c.Calls++
		c.Usage.add(reply.Usage)
	}
	s.seats[req.Seat] = c
	if s.cfg.Log == nil {
		return
	}
	line := map[string]any{
		"seat": req.Seat, "dialect": req.Dialect, "model": req.Model, "stream": req.Stream, "bytes": req.Bytes,
		"tools": len(req.Tools), "messages": len(req.Messages), "side": req.Side, "keyed": req.Keyed, "attempt": req.Attempt, "usage": reply.Usage,
	}
	if reply.Call != nil {
		line["call"] = reply.Call.Name
	}
	if err != nil {
		line["error"], line["status"] = err.Error(), reply.Status
	}
	b, _ := json.Marshal(line)              // strings and numbers
	_, _ = s.cfg.Log.Write(append(b, '\n')) // a log that fails is not the agent's matter
}

func (u *Usage) add(v Usage) {
	u.Input += v.Input
	u.Output += v.Output
	u.Cached += v.Cached
	u.Reasoning += v.Reasoning
}

// Stats returns the counts so far.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Stats{Seats: map[string]Count{}}
	for seat, c := range s.seats {
		out.Seats[seat] = c
		out.Total.Calls += c.Calls
		out.Total.Side += c.Side
		out.Total.Failed += c.Failed
		out.Total.add(c.Usage)
		out.Total.SideUsage.add(c.SideUsage)
	}
	return out
}

// hasKey says whether a request is authorized in one of the vendors' ways.
func hasKey(r *http.Request) bool {
	for _, h := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key"} {
		if r.Header.Get(h) != "" {
			return true
		}
	}
	return r.URL.Query().Has("key")
}

// serveOther answers requests of agents that are no model calls.
func serveOther(w http.ResponseWriter, r *http.Request) {
	p := r.URL.Path
	entry := map[string]any{"id": "fake-1", "object": "model", "created": 1, "owned_by": "fake", "type": "model", "display_name": "fake-1"}
	switch {
	case strings.HasSuffix(p, "/count_tokens"):
		writeJSON(w, map[string]int{"input_tokens": 10})
	case strings.HasSuffix(p, ":countTokens"):
		writeJSON(w, map[string]int{"totalTokens": 10})
	case strings.HasSuffix(p, "/models"):
		writeJSON(w, map[string]any{"object": "list", "data": []any{entry}, "models": []any{}})
	case strings.HasSuffix(p, "/api/tags"):
		writeJSON(w, map[string]any{"models": []any{map[string]string{"name": "fake-1", "model": "fake-1"}}})
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"message":"the fake model has no such route","type":"not_found"}}`)
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that has left needs no answer
}
