package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxValues bounds what a person fills in, in bytes.
const maxValues = 64 << 10

// Fill checks the values of a form, a JSON object by the names of the fields, and
// returns them as the agent gets them. A field that is left out has its default; null
// and "" leave a field empty. The error names the field that does not fit.
func (q Question) Fill(values []byte) ([]byte, error) {
	given := map[string]json.RawMessage{}
	switch {
	case len(values) > maxValues:
		return nil, fmt.Errorf("the values are longer than %d bytes", maxValues)
	case len(values) > 0 && json.Unmarshal(values, &given) != nil:
		return nil, errors.New("the values are no JSON object")
	}
	filled := map[string]json.RawMessage{}
	for _, f := range q.Fields {
		v, ok := given[f.Name]
		if !ok {
			v = f.Default
		}
		delete(given, f.Name)
		v, err := f.value(v)
		if err == nil && v == nil && f.Required {
			err = errors.New("it is required")
		}
		if err != nil {
			return nil, fieldError(f.Name, err)
		}
		if v != nil {
			filled[f.Name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		return nil, fieldError(name, errors.New("the form has no such field"))
	}
	return json.Marshal(filled)
}

// value checks a value of the field. An empty one is nil.
func (f Field) value(v json.RawMessage) (json.RawMessage, error) {
	if len(v) == 0 || string(v) == "null" {
		return nil, nil
	}
	switch f.Type {
	case FieldBoolean:
		var b bool
		if json.Unmarshal(v, &b) != nil {
			return nil, errors.New("it is true or false")
		}
		return json.Marshal(b)
	case FieldNumber, FieldInteger:
		return f.number(v)
	case FieldArray:
		return f.several(v)
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return nil, errors.New("it is a text")
	}
	if s == "" {
		return nil, nil
	}
	if err := f.text(s); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

func (f Field) number(v json.RawMessage) (json.RawMessage, error) {
	var n float64
	const exact = 1 << 53 // larger integers have no exact form in JSON readers
	switch {
	case json.Unmarshal(v, &n) != nil:
		return nil, errors.New("it is a number")
	case f.Type == FieldInteger && (n != math.Trunc(n) || math.Abs(n) > exact):
		return nil, errors.New("it is a whole number")
	case f.Minimum != nil && n < *f.Minimum:
		return nil, fmt.Errorf("it is at least %v", *f.Minimum)
	case f.Maximum != nil && n > *f.Maximum:
		return nil, fmt.Errorf("it is at most %v", *f.Maximum)
	case f.Type == FieldInteger:
		return strconv.AppendFloat(nil, n, 'f', 0, 64), nil
	}
	return json.Marshal(n)
}

// several checks the chosen options of an array.
func (f Field) several(v json.RawMessage) (json.RawMessage, error) {
	var chosen []string
	if json.Unmarshal(v, &chosen) != nil {
		return nil, errors.New("it is a list of options")
	}
	if len(chosen) == 0 {
		return nil, nil
	}
	for i, c := range chosen {
		if err := f.option(c); err != nil {
			return nil, err
		}
		if slices.Contains(chosen[:i], c) {
			return nil, errors.New(Quote(c) + " is chosen twice")
		}
	}
	switch n := len(chosen); {
	case f.MinItems != nil && n < *f.MinItems:
		return nil, fmt.Errorf("it has at least %d options", *f.MinItems)
	case f.MaxItems != nil && n > *f.MaxItems:
		return nil, fmt.Errorf("it has at most %d options", *f.MaxItems)
	}
	return json.Marshal(chosen)
}

func (f Field) option(value string) error {
	if slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == value }) {
		return nil
	}
	var all []string
	for i, o := range f.Options {
		all = append(all, "#"+strconv.Itoa(i+1)+" "+Quote(o.Value))
	}
	return errors.New(Quote(value) + " is none of its options: " + strings.Join(all, ", "))
}

// text checks a text that is not empty.
func (f Field) text(s string) error {
	if len(f.Options) > 0 {
		return f.option(s)
	}
	n := utf8.RuneCountInString(s)
	switch {
	case f.MinLength != nil && n < *f.MinLength:
		return fmt.Errorf("it has at least %d characters", *f.MinLength)
	case f.MaxLength != nil && n > *f.MaxLength:
		return fmt.Errorf("it has at most %d characters", *f.MaxLength)
	}
	if re, err := regexp.Compile(f.Pattern); err == nil && !re.MatchString(s) {
		return errors.New("it does not match " + Quote(f.Pattern))
	}
	return formatted(f.Format, s)
}

// formatted checks a text of a format. Formats that are not known are the agent's to
// check.
func formatted(format, s string) (err error) {
	switch format {
	case "email":
		_, err = mail.ParseAddress(s)
	case "uri":
		var u *url.URL
		if u, err = url.Parse(s); err == nil && u.Scheme == "" {
			err = errors.New("no scheme")
		}
	case "date":
		_, err = time.Parse(time.DateOnly, s)
	case "date-time":
		_, err = time.Parse(time.RFC3339, s)
	}
	if err != nil {
		return errors.New("it is no " + format)
	}
	return nil
}

// Values returns the JSON object of words of the form NAME=VALUE, as a person types
// them. A value of a field with options is an option, its title, or # and its number;
// that of an array is repeated. Fill checks the rest.
func (q Question) Values(words []string) ([]byte, error) {
	values := map[string]any{}
	for _, w := range words {
		i := slices.IndexFunc(q.Fields, func(f Field) bool { return strings.HasPrefix(w, f.Name+"=") })
		if i < 0 {
			return nil, fmt.Errorf("%s is no NAME=VALUE with the name of a field: %s", Quote(w), q.names())
		}
		f, name := q.Fields[i], q.Fields[i].Name
		text := w[len(name)+1:]
		v, err := f.typed(text)
		_, again := values[name]
		if err == nil && again && f.Type != FieldArray {
			err = errors.New("it has two values")
		}
		if err != nil {
			return nil, fieldError(name, err)
		}
		if list, _ := values[name].([]string); f.Type == FieldArray && text != "" {
			v = append(list, v.(string))
		}
		values[name] = v
	}
	return json.Marshal(values)
}

// Example returns how an answer is typed: NAME=VALUE for each field, "" without any.
func (q Question) Example() string {
	var words []string
	for _, f := range q.Fields {
		value := "VALUE"
		if len(f.Options) > 0 {
			value = "#1"
		}
		words = append(words, f.Name+"="+value)
	}
	return strings.Join(words, " ")
}

func (q Question) names() string {
	var all []string
	for _, f := range q.Fields {
		all = append(all, f.Name)
	}
	if all == nil {
		return "the form has no fields"
	}
	return strings.Join(all, ", ")
}

// typed returns the value that a person types for a field; nil leaves it empty.
func (f Field) typed(text string) (any, error) {
	if text == "" {
		return nil, nil
	}
	switch f.Type {
	case FieldBoolean:
		switch strings.ToLower(text) {
		case "true", "yes", "y", "on":
			return true, nil
		case "false", "no", "n", "off":
			return false, nil
		}
		return nil, errors.New("it is yes or no")
	case FieldNumber, FieldInteger:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, errors.New("it is a number")
		}
		return n, nil
	}
	return f.chosen(text), nil
}

// chosen returns the option that text means, else text.
func (f Field) chosen(text string) string {
	for _, o := range f.Options {
		if o.Value == text {
			return text
		}
	}
	for i, o := range f.Options {
		if text == "#"+strconv.Itoa(i+1) || o.Title != "" && strings.EqualFold(o.Title, text) {
			return o.Value
		}
	}
	return text
}

// Words splits a line into words NAME=VALUE. A value ends before the next name of a
// field, so that it may have spaces. A line without a name is the first field's value.
func (q Question) Words(line string) (words []string) {
	line = strings.TrimSpace(line)
	starts := func(s string) bool {
		return slices.ContainsFunc(q.Fields, func(f Field) bool { return strings.HasPrefix(s, f.Name+"=") })
	}
	if line != "" && !starts(line) && len(q.Fields) > 0 {
		line = q.Fields[0].Name + "=" + line
	}
	from := 0
	for i := 1; i < len(line); i++ {
		if line[i-1] == ' ' && starts(line[i:]) {
			words = append(words, strings.TrimSpace(line[from:i]))
			from = i
		}
	}
	if line == "" {
		return words
	}
	return append(words, line[from:])
}
