package report

import (
	"encoding/xml"
	"io"
	"strconv"

	"github.com/folkmoot/moot/internal/term"
)

// The JUnit form, as Ant introduced it and continuous integration systems read it: a
// test suite for each policy, a test case for each check of it.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string      `xml:"classname,attr"`
		Name    string      `xml:"name,attr"`
		Time    string      `xml:"time,attr"`
		Failure *junitFault `xml:"failure"`
		Error   *junitFault `xml:"error"`
	}
	junitFault struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the gates and the errors of the policies as JUnit XML. A gate that
// fails is a failure; errors of a policy and a partial replay are errors.
func (r *Report) WriteJUnit(w io.Writer) error {
	out := junitSuites{Name: "moot replay", Time: strconv.FormatFloat(r.Seconds, 'f', 3, 64)}
	for i := range r.Policies {
		s := junitSuite{Name: term.Line(r.Policies[i].Policy), Time: "0", Properties: r.junitProperties(i)}
		for _, v := range r.verdicts() {
			if v.policy == r.Policies[i].Policy {
				s.add(v)
			}
		}
		out.Tests += s.Tests
		out.Failures += s.Failures
		out.Errors += s.Errors
		out.Suites = append(out.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junitProperties are what was replayed and the main figures of a policy.
func (r *Report) junitProperties(policy int) []junitProperty {
	p := &r.Policies[policy]
	return []junitProperty{
		{"replay", term.Line(r.summary())},
		{"decisions", strconv.Itoa(p.Decisions)},
		{"accuracy", p.Accuracy.Rounded()},
		{"decline_rate", p.DeclineRate.Rounded()},
	}
}

func (s *junitSuite) add(v verdict) {
	c := junitCase{Class: s.Name, Name: term.Line(v.name), Time: "0"}
	if v.fault != "" {
		f := &junitFault{Message: term.Line(v.fault), Type: v.rule, Text: term.Line(v.fault)}
		if v.broken {
			c.Error = f
			s.Errors++
		} else {
			c.Failure = f
			s.Failures++
		}
	}
	s.Tests++
	s.Cases = append(s.Cases, c)
}
