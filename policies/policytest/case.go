// Package policytest runs test cases of policies. A case is a YAML file with the
// inputs of a policy and, byte for byte, its expected answers. Its steps are
// consecutive decisions: the state of one is part of the next input.
//
//	about: The addressed agent speaks next.
//	settings: {lookback: 4}
//	input:
//	  agents:
//	    - {id: sec, domains: [tls]}
//	    - {id: dba, domains: [postgres]}
//	steps:
//	  - about: sec hands over to dba
//	    input:
//	      events:
//	        - {from: sec, text: "dba: which locks?", addressed: [dba], mentions: [dba]}
//	    want: '{"action":"speak","agent":"dba","reason":"sec addressed dba"}'
//
// The keys of an input are those of the ABI. Missing keys have defaults: an agent
// is local, eligible and named like its id, an event is a message, numbers count
// up. The input of a step replaces the keys of the case's input. The input is
// encoded before a policy sees it, so the same cases test policies in every
// language, in this process and in the sandbox.
package policytest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/folkmoot/moot/policies/policy"
)

// A Case is one YAML file.
type Case struct {
	Name     string // name of the file
	About    string
	Settings policy.JSON // for configure; {} without settings
	Steps    []Step
	source   []byte
}

// A Step is one decision of a case.
type Step struct {
	About    string
	Want     string // bytes of the expected answer; empty if none is recorded
	input    policy.Input
	ownState bool // the input has a state of its own
}

// An Ask asks a configured policy: it returns the encoded decision for an encoded
// input.
type Ask func(input []byte) ([]byte, error)

// A Result is the answer of a policy at one step.
type Result struct {
	Step  Step
	Input []byte
	Got   []byte
	Err   error // the answer is missing or invalid
}

// Same reports whether the answer equals the expected one.
func (r Result) Same() bool { return r.Err == nil && string(r.Got) == r.Step.Want }

// Load reads the cases of a folder, *.yaml in byte order of their names.
func Load(dir string) ([]*Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no cases in %s: %w", dir, os.ErrNotExist)
	}
	cases := make([]*Case, 0, len(files))
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		c, err := Parse(name, b)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// Run asks at each step, in order, and carries the state to the next one. It
// continues after a wrong answer and ends after an invalid one, which has no
// state.
func (c *Case) Run(ask Ask) []Result {
	var state policy.JSON
	results := make([]Result, 0, len(c.Steps))
	for _, s := range c.Steps {
		in := s.input
		if !s.ownState {
			in.State = state
		}
		r := Result{Step: s, Input: in.AppendJSON(nil)}
		out, err := ask(r.Input)
		r.Got = bytes.Clone(out)
		var d policy.Decision
		if err == nil {
			d, err = policy.DecodeDecision(r.Got)
		}
		r.Err = err
		results = append(results, r)
		if err != nil {
			break
		}
		switch state = in.State; {
		case string(d.State) == "null":
			state = nil
		case d.State != nil:
			state = d.State
		}
	}
	return results
}

// Native returns an Ask for a policy that runs in this process, configured with
// the settings.
func Native(p policy.Named, settings policy.JSON) (Ask, error) {
	m := policy.NewModule(p)
	if err := m.Configure(Configure(p.Name, settings)); err != nil {
		return nil, err
	}
	return func(in []byte) ([]byte, error) { return m.Decide(in), nil }, nil
}

// Configure returns the argument of the configure call.
func Configure(name string, settings policy.JSON) []byte {
	var w policy.Writer
	w.Object()
	w.Key("policy")
	w.String(name)
	w.Key("settings")
	w.Raw(settings)
	w.EndObject()
	return w.Bytes()
}

// Update returns the file of the case with the answers in results as the expected
// ones. Comments and order stay.
func (c *Case) Update(results []Result) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(c.source, &doc); err != nil {
		return nil, err
	}
	steps := member(doc.Content[0], "steps")
	for i, r := range results {
		if r.Err != nil {
			return nil, fmt.Errorf("%s: step %d: %w", c.Name, i+1, r.Err)
		}
		step := steps.Content[i]
		want := member(step, "want")
		if want == nil {
			want = &yaml.Node{}
			step.Content = append(step.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "want"}, want)
		}
		*want = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.SingleQuotedStyle, Value: string(r.Got)}
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return nil, err
	}
	return out.Bytes(), enc.Close()
}

func member(m *yaml.Node, key string) *yaml.Node {
	for i := 0; m != nil && i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

// Check runs the case. It returns an error that shows every step whose answer
// differs from the recorded one, or nil.
func (c *Case) Check(ask Ask) error {
	var wrong []error
	results := c.Run(ask)
	for i, r := range results {
		if !r.Same() {
			wrong = append(wrong, fmt.Errorf("%s: step %d, %s\n%s", c.Name, i+1, r.Step.About, Diff(r)))
		}
	}
	if n := len(results); n < len(c.Steps) {
		wrong = append(wrong, fmt.Errorf("%s: %d of %d steps were not asked, for want of a state", c.Name, len(c.Steps)-n, len(c.Steps)))
	}
	return errors.Join(wrong...)
}

// Rewrite runs the case and records the answers in its file as the expected
// ones. Review them before you commit them.
func (c *Case) Rewrite(ask Ask) error {
	b, err := c.Update(c.Run(ask))
	if err != nil {
		return err
	}
	return os.WriteFile(c.Name, b, 0o644)
}

// Diff shows a wrong answer below the expected one, marks the first different
// byte, and shows the input.
func Diff(r Result) string {
	var b strings.Builder
	b.WriteString("want " + r.Step.Want + "\n")
	if r.Err != nil {
		b.WriteString("error " + r.Err.Error() + "\n")
	}
	b.WriteString("got  " + string(r.Got) + "\n")
	n := 0
	for n < len(r.Got) && n < len(r.Step.Want) && r.Got[n] == r.Step.Want[n] {
		n++
	}
	b.WriteString(strings.Repeat(" ", 5+n) + "^\ninput " + string(r.Input) + "\n")
	return b.String()
}
