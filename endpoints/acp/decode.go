package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/spawn"
	"github.com/folkmoot/moot/internal/strict"
)

// A message is one message of JSON-RPC 2.0. A request has an id and a method, a
// notification a method, and a response an id and a result or an error.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

func (m *message) hasID() bool { return len(m.ID) > 0 && string(m.ID) != "null" }

// ourID returns the id of a response. Ours are numbers.
func (m *message) ourID() (int64, error) { return strconv.ParseInt(string(m.ID), 10, 64) }

// An rpcError is the error of a request.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Codes of errors.
const (
	codeNoMethod   = -32601
	codeCancelled  = -32800
	codeSignedOut  = -32000
	codeBadRequest = -32602
)

func (e *rpcError) Error() string { return "the agent reports an error: " + e.describe() }

// maxReason bounds the texts of the agent in errors and reasons, in runes.
const maxReason = 4000

// describe returns the message and what the data say in addition, on one line.
func (e *rpcError) describe() string {
	text := e.Message
	if more := detailOf(e.Data); more != "" && more != text {
		if text != "" {
			text += ": "
		}
		text += more
	}
	if text == "" {
		text = "error " + strconv.Itoa(e.Code)
	}
	return endpoint.CleanLine(text, maxReason)
}

// detailOf returns the text in the data of an error: a string, or the field that
// agents use for one.
func detailOf(data json.RawMessage) string {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return text
	}
	var fields struct {
		Details string `json:"details"`
		Message string `json:"message"`
	}
	if json.Unmarshal(data, &fields) != nil {
		return ""
	}
	if fields.Details != "" {
		return fields.Details
	}
	return fields.Message
}

const (
	maxDepth = 256 // of the values of a message
	maxTries = 8   // braces of a line that are tried as the start of a message
)

// mark is in every message. A malformed line without it is noise.
var mark = []byte(`"jsonrpc"`)

// decode finds the message in a line. It returns nil for a blank line and for one
// without a message. noise says that the line has something else than a message,
// and err that the line has a message that cannot be read.
func decode(line []byte) (m *message, noise bool, err error) {
	line = spawn.TrimLine(line)
	start := bytes.IndexByte(line, '{')
	switch {
	case len(line) == 0:
		return nil, false, nil
	case start < 0 || !bytes.Contains(line, mark):
		return nil, true, nil
	}
	for at, tries := start, 1; ; tries++ { // text before a message may have braces too
		m, err := decodeMessage(line[at:])
		if err == nil {
			return m, at > 0 || m == nil, nil
		}
		next := bytes.Index(line[at+1:], []byte(`{"`))
		if next < 0 || tries == maxTries {
			return nil, start > 0, err
		}
		at += 1 + next
	}
}

// decodeMessage returns nil for JSON that is no message.
func decodeMessage(b []byte) (*message, error) {
	switch {
	case !utf8.Valid(b):
		return nil, errors.New("invalid UTF-8")
	case !strict.Shallow(b, maxDepth):
		return nil, errors.New("it nests deeper than " + strconv.Itoa(maxDepth))
	}
	var m message
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, errors.New(describe(err))
	}
	if m.Version != "2.0" || m.Method == "" && m.Result == nil && m.Error == nil {
		return nil, nil
	}
	return &m, nil
}

// encode returns a message as a line.
func encode(m message, params any) ([]byte, error) {
	m.Version = "2.0"
	if params != nil {
		b, err := json.Marshal(params)
		if err != nil {
			return nil, err
		}
		m.Params = b
	}
	b, err := json.Marshal(m)
	return append(b, '\n'), err
}

func rawID(id int64) json.RawMessage { return json.RawMessage(strconv.FormatInt(id, 10)) }

// describe words a decoding error without naming Go types.
func describe(err error) string {
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return te.Field + " is a " + te.Value + ", which does not fit"
	}
	return err.Error()
}
