package invariant

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/room"
)

// posted returns the message that ends the open turn with a text of its agent.
func (c *Checker) posted(e step) (room.MessagePosted, bool) {
	b, ok := e.Body.(room.MessagePosted)
	return b, ok && b.Turn != 0 && b.Message.By == "" && c.turn != nil && c.turn.Turn == b.Turn
}

func (c *Checker) manualApproved(e step) string {
	b, ok := c.posted(e)
	if ok && c.seatOf(b.Message.From).mode() == room.Manual && (!c.turn.drafted || c.turn.approved != c.turn.draft) {
		return fmt.Sprintf("turn %d of a seat in manual mode is posted without an approval", b.Turn)
	}
	return ""
}

// draftApproved checks that a draft is posted only with an approval, in every mode.
func (c *Checker) draftApproved(e step) string {
	if b, ok := c.posted(e); ok && c.turn.drafted && c.turn.approved != c.turn.draft {
		return fmt.Sprintf("the draft of turn %d is posted without an approval", b.Turn)
	}
	return ""
}

// reviewed checks that a semi_auto seat posts nothing by itself that a rule picks.
func (c *Checker) reviewed(e step) string {
	b, ok := c.posted(e)
	if !ok || c.turn.drafted {
		return ""
	}
	x := c.seatOf(b.Message.From)
	if x.mode() != room.SemiAuto {
		return ""
	}
	below := x.Review.ConfidenceBelow
	if below <= 0 {
		below = 0.5
	}
	p := b.Message.Confidence
	switch text := strings.ToLower(b.Message.Text); {
	case p == nil || !(*p >= below):
		return "posted without a review, and its confidence is unknown or low"
	case x.Review.LongerThan > 0 && utf8.RuneCountInString(b.Message.Text) > x.Review.LongerThan:
		return "posted without a review, and it is longer than the rule allows"
	default:
		for _, w := range x.Review.Words {
			if strings.Contains(text, strings.ToLower(w)) {
				return "posted without a review, and it contains " + w
			}
		}
	}
	return ""
}

func (c *Checker) approvedText(e step) string {
	if b, ok := c.posted(e); ok && c.turn.drafted && b.Message.Text != c.turn.text {
		return fmt.Sprintf("turn %d posts another text than its draft", b.Turn)
	}
	return ""
}

// draftHash checks that the hash of a draft is that of its request and its text.
func (c *Checker) draftHash(e step) string {
	hash, text := "", ""
	switch b := e.Body.(type) {
	case room.TurnDrafted:
		hash, text = b.Draft, b.Message.Text
	case room.TurnEdited:
		hash, text = b.Draft, b.Text
	default:
		return ""
	}
	if c.turn == nil {
		return "a draft without a turn"
	}
	sum := sha256.Sum256([]byte(c.turn.Request + "\x00" + text))
	if want := hex.EncodeToString(sum[:8]); hash != want {
		return "the draft " + hash + " has the text of " + want
	}
	return ""
}

// draftWaits checks that a draft that is edited, approved or rejected is the one that
// waits.
func (c *Checker) draftWaits(e step) string {
	turn, hash := 0, ""
	switch b := e.Body.(type) {
	case room.TurnEdited:
		turn = b.Turn
	case room.TurnApproved:
		turn, hash = b.Turn, b.Draft
	case room.TurnRejected:
		turn, hash = b.Turn, b.Draft
	case room.TurnDrafted:
		if c.turn == nil || c.turn.Turn != b.Turn || c.turn.drafted {
			return fmt.Sprintf("turn %d is drafted, and it is not open or has a draft", b.Turn)
		}
		return ""
	default:
		return ""
	}
	if c.turn == nil || c.turn.Turn != turn || !c.turn.drafted || hash != "" && hash != c.turn.draft {
		return e.Body.Type() + ": that draft does not wait"
	}
	return ""
}
