package invariant

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/kinds"
)

// watched is what people and programs were shown.
type watched struct {
	watchers map[string]*watcher
	private  []bool         // by event: only readers with control are shown it
	redacted map[int64]bool // events
}

// A watcher is a reader of the room.
type watcher struct {
	level room.Visibility
	after int64
}

func (w *watched) init() { *w = watched{watchers: map[string]*watcher{}, redacted: map[int64]bool{}} }

// Watches notes that a watcher reads the events after a seq, at first or again.
func (c *Checker) Watches(name string, level room.Visibility, after int64) {
	c.watchers[name] = &watcher{level, after}
}

// Shown checks an event that a watcher was shown.
func (c *Checker) Shown(name string, e room.Event) []Broken {
	w := c.watchers[name]
	if w == nil {
		c.report("W1", e.Seq, name+" is shown an event, and does not watch")
		return c.done()
	}
	c.report("V1", e.Seq, hidden(w.level, e))
	c.report("V3", e.Seq, secret(w.level, e))
	if c.redacted[e.Seq] && texts(e.Body) != "" {
		c.report("V6", e.Seq, name+" is shown the text of a redacted event")
	}
	switch {
	case e.Seq <= w.after:
		c.report("W1", e.Seq, fmt.Sprintf("%s is shown event %d after event %d", name, e.Seq, w.after))
	case e.Seq > c.stored && c.shown:
		c.report("W2", e.Seq, fmt.Sprintf("%s is shown event %d, and the log holds %d", name, e.Seq, c.stored))
	case e.Seq <= int64(len(c.history)) && c.history[e.Seq-1] != e.ID:
		c.report("W3", e.Seq, name+" is shown "+e.ID+" in place of "+c.history[e.Seq-1])
	}
	for seq := w.after + 1; seq < e.Seq && seq <= int64(len(c.private)); seq++ {
		if w.level == room.Internal || !c.private[seq-1] {
			c.report("W4", e.Seq, fmt.Sprintf("%s is not shown event %d, and then event %d", name, seq, e.Seq))
			break
		}
	}
	w.after = max(w.after, e.Seq)
	return c.done()
}

// private reports whether only readers with control may be shown an event.
func private(b room.Body) bool {
	switch b := b.(type) {
	case room.MessagePosted:
		return b.Message.Visibility == room.Internal
	case room.CallStarted, room.CallChanged, room.CallEnded, room.PlanChanged, room.PermissionAsked, room.PermissionAnswered, room.HandoffAsked,
		room.MessageAcked, room.MessageReleased, room.AckMissed, room.MessageDead, room.PayloadStored:
		return true
	}
	return false
}

// hidden says what of e a reader of a level may not be shown.
func hidden(level room.Visibility, e room.Event) string {
	if level == room.Internal {
		return ""
	}
	if private(e.Body) {
		return fmt.Sprintf("%s is shown to a reader of the level %s", e.Body.Type(), level)
	}
	switch b := e.Body.(type) {
	case room.MessagePosted:
		m := b.Message
		if m.Visibility == room.UserRedacted && level != room.UserRedacted && (m.Text != m.Summary || m.Payload != nil) {
			return "the text of the redacted message " + m.ID + " is shown"
		}
		if m.Tools != nil || m.Receivers != nil {
			return "the tools or the receivers of message " + m.ID + " are shown"
		}
	case room.TurnDrafted, room.TurnEdited:
		if texts(b) != "" {
			return "the text of a draft is shown"
		}
	}
	return ""
}

// secret says which secret of the room e shows to a reader of a level.
func secret(level room.Visibility, e room.Event) string {
	if level == room.Internal {
		return ""
	}
	switch b := e.Body.(type) {
	case room.Opened:
		if b.Spec.Secret != "" || b.Spec.Agents != nil || b.Spec.Dir != "" {
			return "the secret, the folder or the agents of the room are shown"
		}
	case room.Joined:
		if p := b.Participant; p.Endpoint != nil || p.Instructions != "" || p.Allow != nil {
			return "the command, the instructions or the rules of " + p.ID + " are shown"
		}
	}
	return ""
}

// texts returns the text of an event that a redaction removes.
func texts(b room.Body) string {
	switch b := b.(type) {
	case room.MessagePosted:
		return b.Message.Text + b.Message.Summary + string(b.Message.Payload)
	case room.TurnDrafted:
		return b.Message.Text
	case room.TurnEdited:
		return b.Text
	}
	return ""
}

// widens checks that a message has no more readers than its kind allows.
func (c *Checker) widens(e step) string {
	b, ok := e.Body.(room.MessagePosted)
	if !ok || !c.side(b) {
		return ""
	}
	if r, known := kinds.Of(b.Message.Kind); known && width(string(b.Message.Visibility)) > width(r.Visibility) {
		return fmt.Sprintf("message %s of the kind %s is %s", b.Message.ID, b.Message.Kind, b.Message.Visibility)
	}
	return ""
}

func width(visibility string) int {
	switch room.Visibility(visibility) {
	case room.Internal:
		return 0
	case room.UserRedacted:
		return 1
	}
	return 2
}

// bounded checks that an event holds no text without a bound, and that a payload is
// stored under its digest.
func (c *Checker) bounded(e step) string {
	switch b := e.Body.(type) {
	case room.MessagePosted:
		if len(b.Message.Text) > maxText || b.Turn == 0 && len(b.Message.Payload) > maxInline && b.Message.Kind != kinds.CallResult {
			return fmt.Sprintf("message %s has %d bytes and a payload of %d", b.Message.ID, len(b.Message.Text), len(b.Message.Payload))
		}
	case room.PayloadStored:
		if sum := sha256.Sum256(b.Payload); len(b.Payload) > maxPayload || len(b.Payload) > 0 && hex.EncodeToString(sum[:]) != b.Digest {
			return fmt.Sprintf("a payload of %d bytes is stored as %s", len(b.Payload), b.Digest)
		}
	}
	return ""
}

func (c *Checker) learnWatched(e step) {
	c.private = append(c.private, private(e.Body))
	if b, ok := e.Body.(room.Redacted); ok {
		c.redacted[b.Target] = true
	}
}
