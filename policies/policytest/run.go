package policytest

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

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
