package wasteguard

import (
	"math/bits"

	"github.com/folkmoot/moot/policies/policy"
)

// The features of a turn.
const (
	tool     = iota // the speaker is a tool
	position        // log2 of 1 + the number of messages before it
	squared         // position squared, so that errors may gather at some place
	length          // log2 of 1 + its bytes
	digits          // log2 of 1 + the digits in it
	list            // log2 of 1 + the lines in it that are items of a list
	code            // it has a code fence
	invented        // it has a word such as "assume", "simulate" or "placeholder"
	failure         // it has a word such as "error", "failed" or "traceback"
	asked           // the message before it is a person's

	// Count is the number of features.
	Count
)

// Names are the names of the features, as settings have them.
var Names = [Count]string{"tool", "position", "position2", "length", "digits", "list", "code", "invented", "failure", "asked"}

// Features are what the score of a turn depends on.
type Features [Count]float64

// A Watch counts the messages of a room. The zero Watch is at the start of a room.
type Watch struct {
	Said   int  // messages so far
	Person bool // the latest one is a person's
}

// Next returns the features of the message e, which follows the ones that w counts. ok
// is false for a message of a person, which is never flagged.
func (w *Watch) Next(in *policy.Input, e *policy.Event) (x Features, ok bool) {
	said, afterPerson := w.Said, w.Person
	from := in.Agent(e.From)
	w.Said++
	w.Person = e.Kind == policy.KindHuman || from != nil && from.Kind == policy.Human
	if w.Person {
		return x, false
	}
	x[tool] = truth(from != nil && isTool(from))
	x[position] = log2(1 + said)
	x[squared] = float64(x[position] * x[position])
	x[length] = log2(1 + max(e.Bytes, len(e.Text)))
	x[asked] = truth(afterPerson)
	x.read(e.Text)
	return x, true
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// log2 is the logarithm of n to the base 2, which is linear between the powers of two.
// It is exact, so that it is the same in the sandbox and on all processors.
func log2(n int) float64 {
	b := bits.Len(uint(n)) - 1
	return float64(b) + float64(n)/float64(uint(1)<<b) - 1
}

// toolWords begin a word in the id of a participant that runs what others wrote.
var toolWords = []string{"terminal", "execut", "tool", "interpreter", "runner", "shell", "console"}

func isTool(a *policy.Agent) bool {
	if a.Role == "tool" {
		return true
	}
	for i := range len(a.ID) {
		if !beginsWord(a.ID, i) {
			continue
		}
		for _, w := range toolWords {
			if startsWith(a.ID[i:], w) {
				return true
			}
		}
	}
	return false
}

// words has the words of two features by their first letter, a at 1. Each begins a word of
// the text.
var words = func() (by [32][]wordOf) {
	add := func(feature int, all ...string) {
		for _, w := range all {
			by[w[0]&31] = append(by[w[0]&31], wordOf{feature, w})
		}
	}
	add(invented, "assum", "simulat", "hypothe", "mock", "placeholder", "suppos", "presum", "pretend", "fictional", "manually")
	add(failure, "error", "fail", "traceback", "exception", "denied", "timeout", "timed out")
	return by
}()

type wordOf struct {
	feature int
	word    string
}

// read sets the features of the text.
func (x *Features) read(text string) {
	figures, items := 0, 0
	lineStart := true
	for i := range len(text) {
		c := text[i]
		switch {
		case isLetter(c):
			if all := words[c&31]; len(all) > 0 && beginsWord(text, i) {
				x.find(text[i:], all)
			}
		case c >= '0' && c <= '9':
			figures++
		case c == '`' && i+2 < len(text) && text[i+1] == '`' && text[i+2] == '`':
			x[code] = 1
		}
		if lineStart {
			if isItem(text[i:]) {
				items++
			}
			lineStart = c == ' ' || c == '\t'
		}
		lineStart = lineStart || c == '\n'
	}
	x[digits], x[list] = log2(1+figures), log2(1+items)
}

// find sets the features of the words that text starts with.
func (x *Features) find(text string, all []wordOf) {
	for _, w := range all {
		if startsWith(text, w.word) {
			x[w.feature] = 1
		}
	}
}

// isItem reports whether a line that begins like text is an item of a list: a number
// with a period, a hyphen or an asterisk, and a space.
func isItem(text string) bool {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n >= len(text) {
		return false
	}
	if mark := text[n]; n > 0 && mark != '.' || n == 0 && mark != '-' && mark != '*' {
		return false
	}
	return n+1 < len(text) && (text[n+1] == ' ' || text[n+1] == '\t')
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// beginsWord reports whether a word begins at text[i]: after anything but a letter, or
// with a capital after a small letter.
func beginsWord(text string, i int) bool {
	return i == 0 || !isLetter(text[i-1]) || text[i] <= 'Z' && text[i-1] >= 'a'
}

// startsWith reports whether text starts with a word of small letters, in any case.
func startsWith(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if text[i] != word[i] && text[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}
