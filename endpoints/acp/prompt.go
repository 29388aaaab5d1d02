package acp

import (
	"context"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/subprocess"
)

// prompt begins a turn. Once for a session the instructions precede the text.
func (c *client) prompt(ctx context.Context, s *session, p endpoint.Prompt) (*turn, error) {
	params := promptParams{SessionID: s.id}
	c.mu.Lock()
	t := newTurn(ctx, c.cfg, p, s)
	if !s.instructed {
		params.Prompt = append(params.Prompt, content{Type: "text", Text: endpoint.PlainInstructions(p)})
	}
	c.turn = t
	before := *s
	s.prompted, s.instructed = true, true
	c.mu.Unlock()
	params.Prompt = append(params.Prompt, content{Type: "text", Text: p.Text})
	c.clearNoise()
	_, err := c.begin(ctx, methodPrompt, params, func(r response) { c.turnDone(t, r) })
	if err == nil {
		return t, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn, s.prompted, s.instructed = nil, before.prompted, before.instructed
	if ctx.Err() != nil {
		err = subprocess.ContextError(ctx)
	}
	return nil, err
}

// await waits for the end of a turn and shows its text and tool calls meanwhile.
// Its error says why it stopped before the end.
func (c *client) await(ctx context.Context, t *turn, floor endpoint.Floor) error {
	defer c.showTo(t, floor)
	for {
		select {
		case <-t.news:
			c.showTo(t, floor)
		case <-t.ended:
			return nil
		case <-t.broken:
			return t.failed.problem()
		case <-ctx.Done():
			return subprocess.ContextError(ctx)
		}
	}
}

// showTo gives the live text and the tool calls that have arrived to the room.
func (c *client) showTo(t *turn, floor endpoint.Floor) {
	c.mu.Lock()
	text := string(t.shown)
	calls := t.tools(t.changed, c.redact)
	t.shown, t.changed = t.shown[:0], t.changed[:0]
	c.mu.Unlock()
	if floor == nil {
		return
	}
	if text != "" {
		floor.Show(text)
	}
	for _, call := range calls {
		floor.ShowTool(call)
	}
}

// cancelTurn asks the agent to end a turn: open permission requests are answered
// first, because some agents wait for these answers. It reports false if the turn
// has ended.
func (c *client) cancelTurn(t *turn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-t.ended:
		return false
	default:
	}
	t.cancelled = true
	for _, a := range t.takeAsked() {
		c.settle(a, a.cancelled)
	}
	c.notify(methodCancel, sessionOnly{SessionID: t.session.id})
	return true
}

// leaves reports whether the session is left and the room does not know it.
func (c *client) leaves(s *session) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.leave == "" || s.reported {
		return false
	}
	s.reported = true
	return true
}
