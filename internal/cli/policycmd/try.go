package policycmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policytest"
	"github.com/folkmoot/moot/problem"
)

// A testReport says how a policy answered its cases.
type testReport struct {
	Policy  string        `json:"policy"`
	Version string        `json:"version"`
	SHA256  string        `json:"sha256"`
	Engines []string      `json:"engines"`
	Passed  int           `json:"passed"` // cases
	Failed  int           `json:"failed"`
	Cases   []caseVerdict `json:"cases"`
}

// A caseVerdict is what came of one case.
type caseVerdict struct {
	Case  string        `json:"case"`
	About string        `json:"about,omitempty"`
	OK    bool          `json:"ok"`
	Error string        `json:"error,omitempty"` // the case cannot be read
	Steps []stepVerdict `json:"steps"`
}

// A stepVerdict is what came of one decision of a case.
type stepVerdict struct {
	About string `json:"about,omitempty"`
	OK    bool   `json:"ok"`
	Want  string `json:"want,omitempty"`
	Got   string `json:"got,omitempty"`
	Code  string `json:"code,omitempty"` // of the error
	Error string `json:"error,omitempty"`
	Fuel  uint64 `json:"fuel"`
	Log   string `json:"log,omitempty"`
	diff  string
}

// tryCases runs cases on both engines. An error is one of the policy as a
// whole, such as a refusal to load it.
func (a *commands) tryCases(ctx context.Context, s *catalog.Entry, cases []pack.File, save saver) (*testReport, error) {
	t, err := a.newBothEngines(s)
	if err != nil {
		return nil, err
	}
	defer t.close()
	r := &testReport{Policy: s.Manifest.Name, Version: s.Manifest.Version, SHA256: s.Manifest.SHA256, Cases: []caseVerdict{}}
	for _, h := range t.hosts {
		r.Engines = append(r.Engines, h.Engine())
	}
	progress := a.Progress("cases")
	defer progress.End()
	for _, c := range cases {
		v, err := t.try(ctx, c, save)
		if err != nil {
			return nil, err
		}
		progress.Add(1)
		r.Cases = append(r.Cases, v)
		if v.OK {
			r.Passed++
		} else {
			r.Failed++
		}
	}
	return r, nil
}

// A bothEngines holds the two engines that a policy is tried on.
type bothEngines struct {
	app    *commands
	policy *catalog.Entry
	hosts  []*plugins.Host
}

func (a *commands) newBothEngines(s *catalog.Entry) (*bothEngines, error) {
	if err := policies.Verify(); err != nil {
		return nil, err
	}
	t := &bothEngines{app: a, policy: s}
	for _, interpreter := range []bool{false, true} {
		h, err := a.Wiring().Sandbox(plugins.Config{Interpreter: interpreter})
		if err != nil {
			t.close()
			return nil, err
		}
		t.hosts = append(t.hosts, h)
	}
	return t, nil
}

func (t *bothEngines) close() {
	for _, h := range t.hosts {
		_ = h.Close() // of memory and caches only
	}
}

// try runs one case, and saves its answers when they are to be taken.
func (t *bothEngines) try(ctx context.Context, f pack.File, save saver) (caseVerdict, error) {
	v := caseVerdict{Case: f.Name, Steps: []stepVerdict{}}
	c, err := policytest.Parse(f.Name, f.Text)
	if err != nil {
		v.Error = err.Error()
		return v, nil
	}
	v.About = c.About
	var loaded []*plugins.Policy
	for _, h := range t.hosts {
		p, err := h.Load(ctx, t.policy.Repeatable(c.Settings, t.app.AllowFuel))
		if err != nil {
			return v, err
		}
		defer p.Close()
		loaded = append(loaded, p)
	}
	var fresh []plugins.Result
	results := c.Run(func(input []byte) ([]byte, error) {
		r, err := fourTimes(ctx, loaded, input)
		fresh = append(fresh, r)
		return r.Output, err
	})
	if err := ctx.Err(); err != nil {
		return v, err
	}
	if save != nil {
		if err := saveAnswers(c, f.Name, results, save); err != nil {
			return v, err
		}
	}
	v.OK = len(results) == len(c.Steps)
	for i, r := range results {
		step := judgeStep(r, fresh[i], save != nil)
		v.OK = v.OK && step.OK
		v.Steps = append(v.Steps, step)
	}
	return v, nil
}

// saveAnswers takes the answers of a case that has one for every step.
func saveAnswers(c *policytest.Case, name string, results []policytest.Result, save saver) error {
	for _, r := range results {
		if r.Err != nil {
			return nil // the verdict says it
		}
	}
	text, err := c.Update(results)
	if err != nil {
		return err
	}
	return save(name, text)
}

func judgeStep(r policytest.Result, fresh plugins.Result, taken bool) stepVerdict {
	v := stepVerdict{About: r.Step.About, OK: r.Same() || taken && r.Err == nil, Fuel: fresh.Fuel, Log: fresh.Log, Got: string(r.Got)}
	if v.OK {
		return v
	}
	v.Want = r.Step.Want
	v.diff, _, _ = strings.Cut(policytest.Diff(r), "\ninput ") // `moot policy run` has the input
	if r.Err != nil {
		report := app.ReportOf(r.Err)
		v.Code, v.Error = report.Code, report.What
	}
	return v
}

// fourTimes makes a decision twice on each engine and refuses any difference.
func fourTimes(ctx context.Context, engines []*plugins.Policy, input []byte) (plugins.Result, error) {
	var first plugins.Result
	var firstErr error
	for i, p := range engines {
		for round := range 2 {
			_, r, err := p.Decide(ctx, input)
			if i == 0 && round == 0 {
				first, firstErr = r, err
				continue
			}
			// Where the fuel ran out is a place between two checks of it, and no figure.
			sameFuel := r.Fuel == first.Fuel || codeOfError(err) == plugins.CodeFuel
			if !bytes.Equal(r.Output, first.Output) || !sameFuel || r.Log != first.Log || codeOfError(err) != codeOfError(firstErr) {
				return first, &problem.Error{
					Code: "POL-DIFFERS", What: fmt.Sprintf("the same input was answered otherwise: %.200s (%d units of fuel) and %.200s (%d)", first.Output, first.Fuel, r.Output, r.Fuel),
					Fix: "report it with the module: it must never happen",
				}
			}
		}
	}
	return first, firstErr
}

func codeOfError(err error) string {
	var coded problem.Coded
	if errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return ""
}

// print shows every case, and what is wrong.
func (r *testReport) print(w io.Writer) error {
	var b strings.Builder
	for _, c := range r.Cases {
		c.write(&b)
	}
	fmt.Fprintf(&b, "%s %s: %s passed", r.Policy, r.Version, app.Count(r.Passed, "case"))
	if r.Failed > 0 {
		fmt.Fprintf(&b, ", %d failed", r.Failed)
	}
	fmt.Fprintf(&b, "; each decision 4 times, on %s\n", strings.Join(r.Engines, " and "))
	_, err := io.WriteString(w, b.String())
	return err
}

func (c caseVerdict) write(b *strings.Builder) {
	word := "ok  "
	if !c.OK {
		word = "FAIL"
	}
	fmt.Fprintf(b, "%s  %-24s %s\n", word, term.Line(c.Case), term.Line(c.About))
	if c.Error != "" {
		fmt.Fprintf(b, "  %s\n", term.Line(c.Error))
	}
	for i, s := range c.Steps {
		if s.OK {
			continue
		}
		fmt.Fprintf(b, "  step %d: %s\n", i+1, term.Line(s.About))
		for line := range strings.Lines(s.diff) {
			fmt.Fprintf(b, "    %s\n", term.Line(strings.TrimSuffix(line, "\n")))
		}
		if s.Log != "" {
			fmt.Fprintf(b, "    log %s\n", term.Line(s.Log))
		}
	}
}

// maxNamed is how many failed cases an error names.
const maxNamed = 5

// failure is the error of a test that failed.
func (r *testReport) failure() error {
	if r.Failed == 0 {
		return nil
	}
	var failed []string
	for _, c := range r.Cases {
		if !c.OK {
			failed = append(failed, c.Case)
		}
	}
	if len(failed) > maxNamed {
		failed = append(failed[:maxNamed], "...")
	}
	return &problem.Error{
		Code: "POL-TEST", What: fmt.Sprintf("%d of %s failed: %s", r.Failed, app.Count(len(r.Cases), "case"), strings.Join(failed, ", ")), Where: "policy " + r.Policy,
		Fix: "fix the policy, or take its answers with `moot policy test --update`",
	}
}
