package scripted

import (
	"encoding/json"
	"strings"
)

// A row is a step in the JSON form.
type row struct {
	Say, Pass, Refuse, Fail *string
	Bid, Confidence         *json.Number
	Delay                   string
	Usage                   []json.Number
	Messages                []Message
}

// object reads a line of the JSON form.
func (p *parser) object(l string) error {
	dec := json.NewDecoder(strings.NewReader(l))
	dec.DisallowUnknownFields()
	var r row
	if err := dec.Decode(&r); err != nil {
		return p.errorf("cannot be read: %v", err)
	}
	if dec.More() {
		return p.errorf("has more than one object on a line")
	}
	if err := p.fields(r); err != nil {
		return err
	}
	var word, arg string
	for w, v := range map[string]*string{"say": r.Say, "pass": r.Pass, "refuse": r.Refuse, "fail": r.Fail} {
		if v == nil {
			continue
		}
		if word != "" {
			return p.errorf("has a step with two outcomes")
		}
		word, arg = w, *v
	}
	if word == "" {
		return p.errorf("has a step without an outcome")
	}
	return p.step(word, arg)
}

func (p *parser) fields(r row) error {
	words := [][2]string{}
	if r.Bid != nil {
		words = append(words, [2]string{"bid", r.Bid.String()})
	}
	if r.Confidence != nil {
		words = append(words, [2]string{"confidence", r.Confidence.String()})
	}
	if r.Delay != "" {
		words = append(words, [2]string{"delay", r.Delay})
	}
	if r.Usage != nil {
		if len(r.Usage) != 2 {
			return p.errorf("has a usage that is not two numbers")
		}
		words = append(words, [2]string{"usage", r.Usage[0].String() + " " + r.Usage[1].String()})
	}
	for _, w := range words {
		if err := p.modify(w[0], w[1]); err != nil {
			return err
		}
	}
	for _, m := range r.Messages {
		if err := p.message(m.To, m.Text); err != nil {
			return err
		}
	}
	return nil
}
