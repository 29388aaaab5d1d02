package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// A turn is one prompt and what the agent answers to it. The lock of its client
// guards it.
type turn struct {
	ctx     context.Context // has the clock of the turn
	prompt  endpoint.Prompt
	session *session
	ids     bool // the agent's messages have ids
	all     bool // everything is said

	text    []byte // what is said; bounded by limit
	over    bool   // text did not fit
	limit   int
	message string // id of the latest message
	begin   int    // of the latest message in text
	notices []byte
	latest  string              // the notice behind all text, or ""
	counted tokens              // the sum of what the model calls of the turn have used, as Qwen Code states it
	calls   map[string]toolCall // by id; bounded by maxToolCalls
	order   []string            // ids of calls, oldest first
	refused []string            // actions that were not allowed, and questions without an answer
	asked   map[string]*asked   // open permission requests and questions, by their id

	shown   []byte        // live text that is not yet shown
	changed []string      // ids of the calls whose state is not yet shown, each once
	news    chan struct{} // holds a token when shown or changed is not empty

	failed    *fault        // a line of the agent could not be read
	broken    chan struct{} // closed when failed is set
	cancelled bool          // the agent was told to end the turn
	ended     chan struct{} // closed at the end, when the following are set
	result    promptResult
	err       error
	spent     endpoint.Usage
}

// Bounds of a turn.
const (
	defaultOutputChars = 12_000
	maxText            = 8 << 20  // bytes
	maxNotices         = 16 << 10 // bytes
	maxShown           = 1 << 20  // bytes that wait for the room
	maxToolCalls       = 1_000
)

func newTurn(ctx context.Context, cfg Config, p endpoint.Prompt, s *session) *turn {
	if p.MaxOutputChars <= 0 {
		p.MaxOutputChars = defaultOutputChars
	}
	return &turn{
		ctx: ctx, prompt: p, session: s, ids: cfg.Preset.MessageIDs, all: cfg.SayAll,
		limit: min(utf8.UTFMax*(p.MaxOutputChars+1), maxText),
		calls: map[string]toolCall{}, asked: map[string]*asked{}, news: make(chan struct{}, 1),
		broken: make(chan struct{}), ended: make(chan struct{}),
	}
}

// take handles an update of the turn. It reports false for one that cannot be read.
func (t *turn) take(kind string, b json.RawMessage) bool {
	switch kind {
	case updateMessage, updateThought:
		var c chunk
		if decodeLenient(b, &c) != nil || c.Content == nil {
			return false
		}
		t.chunk(kind, c)
	case updateToolCall, updateToolNews:
		var call toolCall
		if decodeLenient(b, &call) != nil || call.ID == "" {
			return false
		}
		t.toolCall(call, kind == updateToolCall)
	case updatePlan:
		var p plan
		if decodeLenient(b, &p) != nil {
			return false
		}
		for _, e := range p.Entries {
			t.showLine("[plan] " + e.Status + ": " + e.Content)
		}
	case updateInfo:
		var info sessionInfo
		if decodeLenient(b, &info) == nil && info.Meta.Codex.Error != nil {
			t.text, t.over = t.text[:t.begin], false // the model call is repeated, and its answer with it
		}
	}
	return true
}

// chunk takes a part of a message or of a thought. Pictures and sounds are no text.
func (t *turn) chunk(kind string, c chunk) {
	t.addUsage(c.Meta)
	if c.Content.Type != "text" || c.Content.Text == "" {
		return
	}
	t.show(c.Content.Text)
	if kind == updateThought {
		return
	}
	if t.ids && !c.named() {
		text := c.Content.Text[:min(len(c.Content.Text), maxNotices-len(t.notices))]
		t.latest += text
		t.notices = append(t.notices, text...)
		return
	}
	t.nextMessage(string(c.MessageID))
	if len(t.text)+len(c.Content.Text) > t.limit {
		t.over = true
		return
	}
	t.text = append(t.text, c.Content.Text...)
}

// nextMessage notes the message that a part belongs to.
func (t *turn) nextMessage(id string) {
	if t.latest = ""; id != t.message {
		t.message, t.begin = id, len(t.text)
	}
}

// toolCall takes an action, or news of one. A new action ends the text before it.
// Some agents announce an action only by the request for permission, or by its end.
func (t *turn) toolCall(call toolCall, announced bool) {
	was, known := t.calls[call.ID]
	if !known || announced {
		if !t.all {
			t.text, t.over, t.begin = t.text[:0], false, 0
		}
	}
	if !known && len(t.calls) >= maxToolCalls {
		return
	}
	if !known {
		t.order = append(t.order, call.ID)
	}
	t.calls[call.ID] = was.merged(call)
	if !slices.Contains(t.changed, call.ID) {
		t.changed = append(t.changed, call.ID)
	}
	t.notify()
}

// tools returns the actions with those ids as the room sees them.
func (t *turn) tools(ids []string, redact func(string) string) (calls []endpoint.ToolCall) {
	for _, id := range ids {
		call := t.calls[id]
		c := endpoint.ToolCall{ID: id, Kind: actionOf(call.Kind), Title: redact(call.Title), Status: call.Status}
		for _, l := range call.Locations {
			c.Paths = append(c.Paths, redact(l.Path))
		}
		calls = append(calls, c.Bounded())
	}
	return calls
}

// merged returns the action with the fields that its news has.
func (call toolCall) merged(news toolCall) toolCall {
	news.Title, news.Kind = cmp.Or(news.Title, call.Title), cmp.Or(news.Kind, call.Kind)
	if news.input = call.input; len(news.Input) > 0 && string(news.Input) != "null" {
		news.input = inputOf(news.Input)
	}
	news.Status = cmp.Or(news.Status, call.Status)
	news.Input, news.Content = nil, nil
	if len(news.Locations) == 0 {
		news.Locations = call.Locations
	}
	return news
}

// show adds live text. The goroutine of Speak takes it to the room, so that the
// reader does not wait; text that does not fit is dropped.
func (t *turn) show(text string) {
	if len(t.shown)+len(text) > maxShown {
		return
	}
	t.shown = append(t.shown, text...)
	t.notify()
}

// notify wakes the goroutine of Speak.
func (t *turn) notify() {
	select {
	case t.news <- struct{}{}:
	default:
	}
}

func (t *turn) showLine(text string) { t.show("\n" + endpoint.CleanLine(text, 200) + "\n") }

// fail ends the turn as failed, unless it has ended.
func (t *turn) fail(f *fault) {
	if t.failed == nil {
		t.failed = f
		close(t.broken)
	}
}

// turnDone ends a turn with the response to its prompt. In version 2 of the
// protocol an update does that.
func (c *client) turnDone(t *turn, r response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.err = r.decode(methodPrompt, &t.result)
	s := t.session
	var wrong bool
	if t.spent, wrong = t.usage(); wrong {
		c.signals.Violation("bad_metrics", "the usage of the turn is out of range")
	}
	s.settleUsage()
	if c.turn == t {
		c.turn = nil
	}
	switch {
	case r.cause != nil && t.cancelled:
		s.leave = "the agent did not end a turn that was cancelled"
	case r.cause == nil && s.leave == "" && s.full():
		s.leave = "its context is full"
	}
	for _, a := range t.takeAsked() {
		c.settle(a, a.cancelled)
	}
	if t.cancelled {
		c.tooLate(t)
	}
	close(t.ended)
}

// tooLate reports the answer of a turn that has been abandoned. The caller holds
// c.mu.
func (c *client) tooLate(t *turn) {
	if text := strings.TrimSpace(string(t.text)); text != "" && t.err == nil && t.result.StopReason != stopCancelled {
		c.signals.Late(t.prompt.Request, text)
	}
	if t.session.leave != "" {
		c.reportLeft(t.session)
	}
}
