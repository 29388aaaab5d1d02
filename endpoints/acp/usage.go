package acp

import (
	"encoding/json"
	"math"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// tokens are the fields of result.usage.
type tokens struct {
	Input   *float64 `json:"inputTokens"`
	Output  *float64 `json:"outputTokens"`
	Thought *float64 `json:"thoughtTokens"`
	Read    *float64 `json:"cachedReadTokens"`
	Written *float64 `json:"cachedWriteTokens"`
	Total   *float64 `json:"totalTokens"`
}

// quota is the _meta of a result of Gemini CLI.
type quota struct {
	Quota struct {
		Count struct {
			Input  *float64 `json:"input_tokens"`
			Output *float64 `json:"output_tokens"`
		} `json:"token_count"`
	} `json:"quota"`
}

// usage returns what the agent said of the turn: in its result, in the result's
// _meta, or else by how much the context has grown. wrong says that a number was
// out of range; it is then unknown. The caller holds the client's lock.
func (t *turn) usage() (u endpoint.Usage, wrong bool) {
	var stated tokens
	var meta quota
	_ = decodeLenient(t.result.Usage, &stated) // absent, or of another form: unknown
	if stated.Input == nil {
		stated = t.counted
	}
	_ = decodeLenient(t.result.Meta, &meta)
	count := meta.Quota.Count
	switch s := t.session; {
	case stated.Input != nil && stated.Output != nil:
		u, wrong = stated.usage()
	case count.Input != nil && count.Output != nil:
		u, wrong = tokens{Input: count.Input, Output: count.Output}.usage()
	case s.used > s.counted:
		u = endpoint.Usage{Known: true, Input: s.used - s.counted}
	}
	if s := t.session; s.priced && s.cost > 0 { // opencode states 0 for models whose price it does not know
		u.CostKnown, u.Cost = true, s.cost-s.charged
		if u.Cost < 0 { // the agent counts from the start of its process
			u.Cost = s.cost
		}
	}
	return u, wrong
}

// stated reports whether the agent states the usage with the end of the turn.
func (t *turn) stated() bool {
	var k tokens
	_ = decodeLenient(t.result.Usage, &k) // absent, or of another form: not stated
	return k.Input != nil
}

// addUsage takes the usage of one model call from the _meta of a chunk.
func (t *turn) addUsage(b json.RawMessage) {
	var meta chunkMeta
	var k tokens
	if len(b) == 0 || decodeLenient(b, &meta) != nil || decodeLenient(meta.Usage, &k) != nil || k.Input == nil || k.Output == nil {
		return
	}
	t.counted.add(k)
}

// add adds the fields of l. A field that one of them lacks counts as 0.
func (k *tokens) add(l tokens) {
	for _, f := range []struct {
		sum **float64
		n   *float64
	}{{&k.Input, l.Input}, {&k.Output, l.Output}, {&k.Thought, l.Thought}, {&k.Read, l.Read}, {&k.Written, l.Written}, {&k.Total, l.Total}} {
		if f.n == nil {
			continue
		}
		if *f.sum == nil {
			*f.sum = new(float64)
		}
		**f.sum += *f.n
	}
}

// settleUsage makes the next turn count from here: a number that the agent states
// after the end of a turn counts for the next one.
func (s *session) settleUsage() { s.counted, s.charged, s.priced = s.used, s.cost, false }

// usage returns the tokens as the room counts them. Agents count cached input
// either in the input or apart from it, and thoughts likewise; the total tells.
func (k tokens) usage() (u endpoint.Usage, wrong bool) {
	n := make([]int64, 6)
	for i, f := range []*float64{k.Input, k.Output, k.Thought, k.Read, k.Written, k.Total} {
		if f == nil {
			continue
		}
		if !(*f >= 0 && *f <= endpoint.MaxTokens) || *f != math.Trunc(*f) {
			return endpoint.Usage{}, true
		}
		n[i] = int64(*f)
	}
	input, output, thought, read, written, total := n[0], n[1], n[2], n[3], n[4], n[5]
	switch total {
	case input + output: // all of it is inside
	case input + output + read + written:
		input += read + written
	case input + output + read + written + thought:
		input, output = input+read+written, output+thought
	case input + output + thought:
		output += thought
	default:
		if read > input {
			input += read + written
		}
		if thought > output {
			output += thought
		}
	}
	u = endpoint.Usage{Known: true, Input: input, Output: output, CachedInput: min(read, input), Reasoning: min(thought, output)}
	if u.OutOfRange() != "" {
		return endpoint.Usage{}, true
	}
	return u, false
}

// noteUsage takes what the agent says of the context and the cost of its session.
func (c *client) noteUsage(s *session, b json.RawMessage) {
	var u struct {
		Used *float64 `json:"used"`
		Size *float64 `json:"size"`
		Cost *struct {
			Amount   *float64 `json:"amount"`
			Currency string   `json:"currency"`
		} `json:"cost"`
	}
	inRange := func(f *float64, limit float64) bool { return f != nil && *f >= 0 && *f <= limit }
	if decodeLenient(b, &u) != nil || !inRange(u.Used, endpoint.MaxTokens) || !inRange(u.Size, endpoint.MaxTokens) {
		c.signals.Violation("bad_metrics", "a usage_update is out of range")
		return
	}
	s.used, s.size = int64(*u.Used), int64(*u.Size)
	if c.turn == nil && s.full() {
		c.leave(s, "its context is full")
	}
	if u.Cost == nil || u.Cost.Currency != "USD" {
		return
	}
	if !inRange(u.Cost.Amount, endpoint.MaxCost/1e6) {
		c.signals.Violation("bad_metrics", "a cost is out of range")
		return
	}
	s.cost, s.priced = int64(math.Round(*u.Cost.Amount*1e6)), true
}
