package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
)

// Parse reads a script. name is the name of the script in errors, which have the
// code AGENT-SCRIPT and the line.
//
// A script is text, with one word and its argument on each line:
//
//	# comments and blank lines are skipped
//	bid 0.9                 bid, confidence, delay, usage and message
//	confidence 0.8          belong to the step that follows
//	delay 50ms
//	usage 120 30            tokens read and written
//	message dba Hello.      a side message; "message * Hello." is to all participants
//	say Text of the turn.
//	  An indented line continues the text.
//	pass Reason, if any
//	refuse Reason
//	fail Reason
//
// or JSON lines, when its first character is {: {"say": "Text", "bid": 0.9,
// "confidence": 0.8, "delay": "50ms", "usage": [120, 30], "messages": [{"to":
// "dba", "text": "Psst."}]}, and likewise {"pass": "Reason"}, "refuse", "fail". Only a
// JSON line also has the other fields of [Acts]: "ack": ["m1"], "claim": "t1", "post":
// [{...}] with the fields of [endpoint.Post], "call": [{...}] with the arguments of
// calls, and "handoff": {"to": "dba", "reason": "Text"}.
func Parse(name string, script []byte) ([]Step, error) {
	p := parser{name: name}
	if !utf8.Valid(script) {
		return nil, p.errorf("is not valid UTF-8")
	}
	script = bytes.TrimPrefix(script, []byte("\xef\xbb\xbf"))
	one := p.word
	if bytes.HasPrefix(bytes.TrimSpace(script), []byte("{")) {
		one = p.object
	}
	for l := range strings.Lines(string(script)) {
		p.line++
		l = strings.TrimRight(l, "\r\n")
		if strings.TrimSpace(l) == "" {
			continue
		}
		if err := one(l); err != nil {
			return nil, err
		}
	}
	if p.pending != "" {
		return nil, p.errorf("ends with %q, and no step follows", p.pending)
	}
	return p.steps, nil
}

type parser struct {
	name    string
	line    int
	steps   []Step
	next    Step
	pending string // the last word that waits for its step
}

func (p *parser) errorf(format string, args ...any) error {
	return &problem.Error{
		Code: "AGENT-SCRIPT", What: "the script " + fmt.Sprintf(format, args...), Where: p.name + ":" + strconv.Itoa(max(1, p.line)),
		Fix: "a line is one of: say, pass, refuse, fail, bid, confidence, delay, usage, message, with its argument",
	}
}

// word reads a line of the text form.
func (p *parser) word(l string) error {
	if l[0] == ' ' || l[0] == '\t' {
		return p.continued(strings.TrimSpace(l))
	}
	if l[0] == '#' {
		return nil
	}
	word, arg, _ := strings.Cut(l, " ")
	arg = strings.TrimSpace(arg)
	switch word {
	case "say", "pass", "refuse", "fail":
		return p.step(word, arg)
	}
	p.pending = word
	return p.modify(word, arg)
}

func (p *parser) continued(text string) error {
	if n := len(p.steps); n > 0 && p.steps[n-1].Outcome == endpoint.Said && p.pending == "" {
		p.steps[n-1].Text += "\n" + text
		return nil
	}
	return p.errorf("continues a text that there is not")
}

// step completes the next step with its outcome.
func (p *parser) step(word, arg string) error {
	s := p.next
	p.next, p.pending = Step{}, ""
	switch word {
	case "say":
		if strings.TrimSpace(arg) == "" {
			return p.errorf("says nothing; write pass")
		}
		s.Outcome, s.Text = endpoint.Said, arg
	case "pass":
		s.Outcome, s.Reason = endpoint.Passed, arg
	case "refuse":
		s.Outcome, s.Reason = endpoint.Refused, arg
	case "fail":
		s.Outcome, s.Reason = Fail, arg
	}
	p.steps = append(p.steps, s)
	return nil
}

func (p *parser) modify(word, arg string) (err error) {
	s := &p.next
	switch word {
	case "bid":
		s.Bid, err = p.share(arg)
	case "confidence":
		s.Confidence, err = p.share(arg)
	case "delay":
		s.Delay, err = p.delay(arg)
	case "usage":
		in, out, _ := strings.Cut(arg, " ")
		s.Usage, err = p.usage(in, out)
	case "message":
		to, text, _ := strings.Cut(arg, " ")
		err = p.message(strings.TrimPrefix(to, "*"), strings.TrimSpace(text))
	default:
		err = p.errorf("has the unknown word %q", word)
	}
	return err
}

func (p *parser) share(arg string) (*float64, error) {
	v, err := strconv.ParseFloat(arg, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return nil, p.errorf("has %q where a number from 0 to 1 belongs", arg)
	}
	return &v, nil
}

func (p *parser) delay(arg string) (time.Duration, error) {
	d, err := time.ParseDuration(arg)
	if err != nil || d < 0 {
		return 0, p.errorf("has %q where a time such as 50ms belongs", arg)
	}
	return d, nil
}

func (p *parser) usage(in, out string) (endpoint.Usage, error) {
	i, err := strconv.ParseInt(in, 10, 64)
	o, err2 := strconv.ParseInt(out, 10, 64)
	u := endpoint.Usage{Known: true, Input: i, Output: o}
	if err != nil || err2 != nil || u.OutOfRange() != "" {
		return endpoint.Usage{}, p.errorf("has %q where two numbers of tokens belong", in+" "+out)
	}
	return u, nil
}

func (p *parser) message(to, text string) error {
	if text == "" {
		return p.errorf("has a message without text")
	}
	p.next.Messages = append(p.next.Messages, Message{To: to, Text: text})
	return nil
}

// A row is a step in the JSON form.
type row struct {
	Say, Pass, Refuse, Fail *string
	Bid, Confidence         *json.Number
	Delay                   string
	Usage                   []json.Number
	Messages                []Message
	Ack                     []string
	Claim                   string
	Post, Call              []json.RawMessage
	Handoff                 *endpoint.Handoff
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
	return p.acts(r)
}
