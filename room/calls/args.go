package calls

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Defaults and bounds of the arguments.
const (
	DefaultTimeout       = 300 * time.Second
	DefaultContextTokens = 4000
	maxContextTokens     = 100_000
	maxTask              = 16_000   // characters
	maxInput             = 64 << 10 // bytes of input and of context
	maxAtOnce            = 16       // calls of one request
	maxName              = 32
)

// Args are the arguments of a call. The first seven are those of the note.
type Args struct {
	Agent            string          `json:"agent_name"`
	Task             string          `json:"task"`
	Context          json.RawMessage `json:"context,omitempty"` // the filter of what is handed over; absent hands nothing over
	Input            json.RawMessage `json:"input,omitempty"`
	MaxContextTokens int             `json:"max_context_tokens,omitempty"` // 0 is DefaultContextTokens
	AllowedTools     []string        `json:"allowed_tools,omitzero"`       // nil asks for no restriction, an empty list for no tools
	AllowNested      bool            `json:"allow_nested_calls,omitempty"`

	MaxTokens int64  `json:"max_tokens,omitempty"` // budget of the child room; 0 is a share of what is left
	TimeoutMS int64  `json:"timeout_ms,omitempty"` // 0 is DefaultTimeout
	WaitMS    *int64 `json:"wait_ms,omitempty"`    // how long the caller waits; absent is until the end, 0 not at all
}

// Timeout returns the time limit of the call.
func (a Args) Timeout() time.Duration {
	if a.TimeoutMS > 0 {
		return time.Duration(a.TimeoutMS) * time.Millisecond
	}
	return DefaultTimeout
}

// ContextTokens returns the largest size of the context that is handed over.
func (a Args) ContextTokens() int {
	if a.MaxContextTokens > 0 {
		return a.MaxContextTokens
	}
	return DefaultContextTokens
}

// Wait returns how long the caller waits for a call that takes at most timeout.
func (a Args) Wait(timeout time.Duration) time.Duration {
	if a.WaitMS == nil {
		return timeout
	}
	return min(time.Duration(min(*a.WaitMS, int64(24*time.Hour/time.Millisecond)))*time.Millisecond, timeout)
}

// Parse decodes the arguments of one call, or of several in the field "calls", from a
// JSON object. It refuses unknown and repeated fields, other forms, and values out of
// range. Fields with the names in other are not arguments, and are skipped.
func Parse(b []byte, other ...string) ([]Args, error) {
	fields, err := object(b)
	if err != nil {
		return nil, err
	}
	for _, name := range other {
		delete(fields, name)
	}
	list, many := fields["calls"]
	if !many {
		a, err := parseOne(fields)
		return []Args{a}, err
	}
	var raws []json.RawMessage
	switch {
	case len(fields) > 1:
		return nil, errors.New(`a request has either the arguments of one call, or "calls"`)
	case json.Unmarshal(list, &raws) != nil || len(raws) == 0:
		return nil, errors.New(`"calls" is a list of one call or more`)
	case len(raws) > maxAtOnce:
		return nil, fmt.Errorf("%d calls in one request, and the limit is %d", len(raws), maxAtOnce)
	}
	all := make([]Args, len(raws))
	for i, raw := range raws {
		one, err := object(raw)
		if err == nil {
			all[i], err = parseOne(one)
		}
		if err != nil {
			return nil, fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	return all, nil
}

// object decodes an object whose fields have different names.
func object(b []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(b) {
		return nil, errors.New("the request is no valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("the request is no JSON object")
	}
	fields := map[string]json.RawMessage{}
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, errors.New("the request is no JSON object")
		}
		if _, twice := fields[name]; twice {
			return nil, fmt.Errorf("the field %.40q stands twice", name)
		}
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return nil, fmt.Errorf("the field %.40q cannot be read", name)
		}
		fields[name] = v
	}
	if _, err := dec.Token(); err != nil {
		return nil, errors.New("the request is no JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the request")
	}
	return fields, nil
}

// parseOne decodes the fields of one call.
func parseOne(fields map[string]json.RawMessage) (a Args, err error) {
	for name, v := range fields {
		var to any
		switch name {
		case "agent_name":
			to = &a.Agent
		case "task":
			to = &a.Task
		case "context":
			to = &a.Context
		case "input":
			to = &a.Input
		case "max_context_tokens":
			to = &a.MaxContextTokens
		case "allowed_tools":
			to = &a.AllowedTools
		case "allow_nested_calls":
			to = &a.AllowNested
		case "max_tokens":
			to = &a.MaxTokens
		case "timeout_ms":
			to = &a.TimeoutMS
		case "wait_ms":
			to = &a.WaitMS
		default:
			return Args{}, fmt.Errorf("unknown field %.40q", name)
		}
		if bytes.Equal(v, []byte("null")) {
			continue // as absent
		}
		if json.Unmarshal(v, to) != nil {
			return Args{}, fmt.Errorf("the field %q has another form", name)
		}
	}
	return a, a.Check()
}

// Check says what is wrong with the arguments.
func (a Args) Check() error {
	switch {
	case a.Agent == "":
		return errors.New("agent_name is missing")
	case len(a.Agent) > maxName:
		return fmt.Errorf("agent_name is over %d characters", maxName)
	case strings.TrimSpace(a.Task) == "":
		return errors.New("task is missing")
	case utf8.RuneCountInString(a.Task) > maxTask:
		return fmt.Errorf("task is over %d characters; put it into a file and name that", maxTask)
	case len(a.Input) > maxInput || len(a.Context) > maxInput:
		return fmt.Errorf("input or context is over %d bytes", maxInput)
	case a.MaxContextTokens < 0 || a.MaxContextTokens > maxContextTokens:
		return fmt.Errorf("max_context_tokens is not from 0 to %d", maxContextTokens)
	case a.MaxTokens < 0 || a.MaxTokens > maxSum:
		return errors.New("max_tokens is out of range")
	case a.TimeoutMS < 0 || a.TimeoutMS > int64(24*time.Hour/time.Millisecond):
		return errors.New("timeout_ms is not from 0 to a day")
	case a.WaitMS != nil && *a.WaitMS < 0:
		return errors.New("wait_ms is negative")
	case len(a.AllowedTools) > maxTools:
		return fmt.Errorf("allowed_tools has over %d names", maxTools)
	}
	return nil
}
