package acp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// questionParams are those of elicitation/create. Only forms of the session of a turn
// are put to the owner: the client states no support for addresses to open.
type questionParams struct {
	SessionID string `json:"sessionId"`
	ToolCall  string `json:"toolCallId"`
	Mode      string `json:"mode"`
	Message   string `json:"message"`
	Schema    struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	} `json:"requestedSchema"`
}

const modeForm = "form"

// property is the schema of a field.
type property struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Enum        []string        `json:"enum"`
	OneOf       []enumOption    `json:"oneOf"`
	MinLength   *int            `json:"minLength"`
	MaxLength   *int            `json:"maxLength"`
	Pattern     string          `json:"pattern"`
	Format      string          `json:"format"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	MinItems    *int            `json:"minItems"`
	MaxItems    *int            `json:"maxItems"`
	Items       struct {
		Enum  []string     `json:"enum"`
		AnyOf []enumOption `json:"anyOf"`
		OneOf []enumOption `json:"oneOf"`
	} `json:"items"`
}

type enumOption struct {
	Value       string `json:"const"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// questionResult is the answer to elicitation/create.
type questionResult struct {
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content,omitempty"`
}

// Actions of a questionResult.
var (
	declined = questionResult{Action: "decline"} // the owner gives no answer
	unasked  = questionResult{Action: "cancel"}  // no person has decided
)

// question handles a form that the agent asks its owner to fill in. It goes the way
// of a permission request.
func (c *client) question(id json.RawMessage, params json.RawMessage) {
	var p questionParams
	err := json.Unmarshal(params, &p)
	switch {
	case err != nil:
		c.signals.Violation("bad_question", "a question cannot be read")
		c.refuse(id, codeBadRequest, "the form cannot be read")
		return
	case p.Mode != modeForm || p.SessionID == "":
		c.refuse(id, codeBadRequest, "only forms in a session are supported")
		return
	}
	q, err := p.question()
	if err != nil {
		c.signals.Violation("bad_question", "a question that cannot be put to a person: "+err.Error())
		c.refuse(id, codeBadRequest, err.Error())
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s, t := c.ours(p.SessionID, "a question"), c.turn
	if s == nil || t == nil || t.cancelled || t.failed != nil || t.asked[string(id)] != nil {
		c.answer(id, unasked)
		return
	}
	title := endpoint.CleanLine(p.Message, maxTitle)
	ask := endpoint.Permission{ID: cmp.Or(endpoint.CleanLine(p.ToolCall, 80), endpoint.CleanLine(string(id), 80)), Kind: endpoint.ActionQuestion, Title: title, Question: &q}
	c.raise(t, &asked{id: id, title: title, cancelled: unasked}, ask, c.filledIn)
}

// filledIn takes the answer of the owner to the agent.
func (c *client) filledIn(t *turn, a *asked, answer endpoint.Answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(t.asked, string(a.id))
	result := declined
	switch {
	case err == nil && answer.Allowed:
		result = questionResult{Action: "accept", Content: answer.Body}
	case err != nil || slices.Contains([]string{"", endpoint.NoAnswer, endpoint.Unasked, endpoint.Cancelled}, answer.By):
		result = unasked
	}
	if !a.settled && !(err == nil && answer.Allowed) {
		t.refuse("not answered: "+cmp.Or(a.title, "a question without a text"), answer.Reason)
	}
	c.settle(a, result)
}

// question returns the form, with its fields in their order.
func (p questionParams) question() (endpoint.Question, error) {
	names, schemas, err := ordered(p.Schema.Properties)
	if err != nil {
		return endpoint.Question{}, err
	}
	q := endpoint.Question{Message: p.Message}
	for _, name := range names {
		f := schemas[name].field()
		f.Name, f.Required = name, slices.Contains(p.Schema.Required, name)
		q.Fields = append(q.Fields, f)
	}
	return q.Bounded()
}

// ordered decodes the properties of a form and returns their names in their order,
// which a map does not keep.
func ordered(b json.RawMessage) (names []string, schemas map[string]property, err error) {
	if len(b) == 0 || string(b) == "null" {
		return nil, nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, nil, errors.New("the properties are no object")
	}
	schemas = map[string]property{}
	for d.More() {
		name, err := d.Token()
		var p property
		if err == nil {
			err = d.Decode(&p)
		}
		if err != nil {
			return nil, nil, errors.New("the properties cannot be read: " + describe(err))
		}
		names = append(names, name.(string)) // a key of an object
		schemas[name.(string)] = p
	}
	return names, schemas, nil
}

// field returns the field that a schema describes, without its name.
func (p property) field() endpoint.Field {
	f := endpoint.Field{
		Type: p.Type, Title: p.Title, Description: p.Description, Default: p.Default, MinLength: p.MinLength, MaxLength: p.MaxLength,
		Pattern: p.Pattern, Format: p.Format, Minimum: p.Minimum, Maximum: p.Maximum, MinItems: p.MinItems, MaxItems: p.MaxItems,
	}
	for _, v := range slices.Concat(p.Enum, p.Items.Enum) {
		f.Options = append(f.Options, endpoint.Option{Value: v})
	}
	for _, o := range slices.Concat(p.OneOf, p.Items.AnyOf, p.Items.OneOf) {
		f.Options = append(f.Options, endpoint.Option{Value: o.Value, Title: o.Title, Description: o.Description})
	}
	return f
}
