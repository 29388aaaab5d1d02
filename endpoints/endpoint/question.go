package endpoint

import (
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"
)

// ActionQuestion is the kind of a [Permission] that is a question: a form for the
// agent's owner. No rule answers one, and there are no tool calls of this kind.
const ActionQuestion = "question"

// Types of fields (Agent Client Protocol, elicitation in form mode).
const (
	FieldString  = "string"
	FieldNumber  = "number"
	FieldInteger = "integer"
	FieldBoolean = "boolean"
	FieldArray   = "array" // any number of options
)

var fieldTypes = []string{FieldString, FieldNumber, FieldInteger, FieldBoolean, FieldArray}

// A Question is a form that an agent asks its owner to fill in. The agent says all of
// it, so its texts are data. The JSON form is part of the event format.
type Question struct {
	Message string  `json:"message"`
	Fields  []Field `json:"fields"` // as the agent orders them; none is a question of yes or no
}

// A Field is one value of a form.
type Field struct {
	Name        string          `json:"name"` // unique in the form
	Type        string          `json:"type"` // one of the Field constants
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Options     []Option        `json:"options,omitempty"` // of a string: one of them; of an array: several
	Default     json.RawMessage `json:"default,omitempty"` // fits the field

	MinLength *int     `json:"min_length,omitempty"` // of a string, in characters
	MaxLength *int     `json:"max_length,omitempty"`
	Pattern   string   `json:"pattern,omitempty"` // regular expression; one that is not RE2's is the agent's to check
	Format    string   `json:"format,omitempty"`  // email, uri, date or date-time
	Minimum   *float64 `json:"minimum,omitempty"` // of a number, inclusive
	Maximum   *float64 `json:"maximum,omitempty"`
	MinItems  *int     `json:"min_items,omitempty"` // of an array
	MaxItems  *int     `json:"max_items,omitempty"`
}

// An Option is one choice of a field.
type Option struct {
	Value       string `json:"value"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
}

// Bounds of a question, in bytes and items.
const (
	maxMessage     = 16_000
	maxFields      = 32
	maxOptions     = 64
	maxName        = 200
	maxOption      = 1_000 // of a value
	maxDescription = 2_000
	maxPattern     = 500
	maxQuestion    = 128 << 10 // as JSON
)

// Bounded returns q in a form that can be stored and shown: texts are cleaned, and
// titles and descriptions cut. Values of options keep their characters. An error says
// why a person could not see or answer all of it.
func (q Question) Bounded() (Question, error) {
	if len(q.Message) > maxMessage || len(q.Fields) > maxFields {
		return Question{}, errors.New("the form is too long")
	}
	q.Message = Clean(q.Message)
	fields, names := make([]Field, 0, len(q.Fields)), map[string]bool{}
	for _, f := range q.Fields {
		f, err := f.bounded()
		if err == nil && names[f.Name] {
			err = errors.New("there are two such fields")
		}
		if err != nil {
			return Question{}, fieldError(f.Name, err)
		}
		names[f.Name] = true
		fields = append(fields, f)
	}
	q.Fields = fields
	if b, err := json.Marshal(q); err != nil || len(b) > maxQuestion {
		return Question{}, errors.New("the form is too long")
	}
	return q, nil
}

func (f Field) bounded() (Field, error) {
	switch {
	case f.Name == "" || len(f.Name) > maxName || CleanLine(f.Name, maxName) != f.Name:
		return f, errors.New("its name is empty, too long or not plain text")
	case !slices.Contains(fieldTypes, f.Type):
		return f, errors.New("its type is not known")
	case len(f.Options) > maxOptions || len(f.Pattern) > maxPattern:
		return f, errors.New("it has too many options, or its pattern is too long")
	case f.Type == FieldArray && len(f.Options) == 0:
		return f, errors.New("it has no options")
	}
	f.Title, f.Description = CleanLine(cut(f.Title, maxTitle), maxTitle), Clean(cut(f.Description, maxDescription))
	f.Pattern, f.Format = Clean(f.Pattern), CleanLine(cut(f.Format, maxName), maxName)
	var options []Option
	for _, o := range f.Options {
		if o.Value == "" || len(o.Value) > maxOption || !utf8.ValidString(o.Value) || slices.ContainsFunc(options, func(p Option) bool { return p.Value == o.Value }) {
			return f, errors.New("an option is empty, too long or there twice")
		}
		o.Title, o.Description = CleanLine(cut(o.Title, maxTitle), maxTitle), Clean(cut(o.Description, maxDescription))
		options = append(options, o)
	}
	f.Options = options
	var err error
	if f.Default, err = f.value(f.Default); err != nil {
		f.Default = nil // a person gives the value
	}
	return f, nil
}

func fieldError(name string, err error) error {
	return errors.New("field " + Quote(name) + ": " + err.Error())
}
