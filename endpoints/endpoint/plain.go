package endpoint

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// PassWord is the whole answer of an agent in plain text that has nothing to add.
const PassWord = "PASS"

// IsPass reports whether text is exactly [PassWord], apart from white space.
func IsPass(text string) bool { return strings.TrimSpace(text) == PassWord }

// PlainAnswer returns the reply of an agent that answers p in plain text. The error
// wraps [ErrTooLarge] for a text over p.MaxOutputChars, and [ErrAgent] for one
// without any visible character.
func PlainAnswer(text string, p Prompt) (Reply, error) {
	if n := utf8.RuneCountInString(text); p.MaxOutputChars > 0 && n > p.MaxOutputChars {
		return Reply{}, fmt.Errorf("%w: %d characters, and the limit is %d", ErrTooLarge, n, p.MaxOutputChars)
	}
	switch {
	case IsPass(text):
		return Reply{Outcome: Passed}, nil
	case strings.TrimSpace(Clean(text)) == "":
		return Reply{}, fmt.Errorf("%w: the answer is empty; an agent with nothing to add answers %s", ErrAgent, PassWord)
	}
	return Reply{Outcome: Said, Text: strings.TrimSpace(text)}, nil
}

// PlainInstructions returns what an agent that answers in plain text is told before
// the text of p: the instructions of its owner, and how it passes.
func PlainInstructions(p Prompt) string {
	how := "Your whole answer is posted to the room. To pass, answer with the single word " + PassWord + "."
	if p.Instructions == "" {
		return how
	}
	return p.Instructions + "\n\n" + how
}
