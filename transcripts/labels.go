package transcripts

import (
	"encoding/json"
	"strconv"
	"strings"
)

// MistakeField is the field of Extra in which the data set Who&When states the
// decisive error.
const MistakeField = "mistake_step"

// outcomeFields are the fields of Extra that state whether a run has succeeded.
var outcomeFields = []string{"outcome", "success", "is_correct"}

// Mistake returns the index of the turn that a field of Extra labels as the decisive
// error of the run: a number, or a text with one. ok is false if there is no such turn.
func (c *Conversation) Mistake(field string) (turn int, ok bool) {
	n, ok := c.number(field)
	turn = int(n)
	return turn, ok && n >= 0 && n < float64(len(c.Turns)) && float64(turn) == n
}

// Outcome returns what a field of Extra states about the success of the run: a number,
// a boolean as 1 or 0, or a text with either. With an empty field it is the first of
// outcome, success and is_correct.
func (c *Conversation) Outcome(field string) (value float64, ok bool) {
	if field != "" {
		return c.number(field)
	}
	for _, f := range outcomeFields {
		if value, ok = c.number(f); ok {
			return value, true
		}
	}
	return 0, false
}

// number returns a field of Extra as a number.
func (c *Conversation) number(field string) (float64, bool) {
	var extra map[string]json.RawMessage
	if json.Unmarshal(c.Extra, &extra) != nil {
		return 0, false
	}
	return Number(extra[field])
}

// Numbers returns the fields of Extra that [Number] reads.
func (c *Conversation) Numbers() map[string]float64 {
	var extra map[string]json.RawMessage
	all := map[string]float64{}
	if json.Unmarshal(c.Extra, &extra) != nil {
		return all
	}
	for field, value := range extra {
		if n, ok := Number(value); ok {
			all[field] = n
		}
	}
	return all
}

// Number reads a JSON value as a number: a number, a boolean as 1 or 0, or a text with
// either.
func Number(value json.RawMessage) (float64, bool) {
	text := strings.TrimSpace(string(value))
	var quoted string
	if json.Unmarshal(value, &quoted) == nil {
		text = strings.TrimSpace(quoted)
	}
	switch strings.ToLower(text) {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && n-n == 0
}
