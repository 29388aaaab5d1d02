package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"math"
	"strings"
	"testing"

	"github.com/folkmoot/moot/replay/score"
)

// judged has a policy with a gate that passes, one that fails and one without a figure,
// and a policy that failed.
func judged() *Report {
	return &Report{
		Mode: ModeWhatIf, Decisions: 10, Seconds: 1.5,
		Policies: []score.Result{{Policy: "mention", Decisions: 10, Accuracy: 0.5}, {Policy: `own{"a":"<&>"}`, Decisions: 10, Errors: 3, FirstError: "it divides\x1b by zero"}},
		Gates: []Gate{
			{Gate: "accuracy < 0.4", Policy: "mention", Figure: "accuracy", Observed: 0.5, Limit: 0.4, Passed: true},
			{Gate: "accuracy < 0.6", Policy: "mention", Figure: "accuracy", Observed: 0.5, Limit: 0.6},
			{Gate: "cost > 1", Policy: "mention", Figure: "cost", Observed: score.Figure(math.NaN()), Limit: 1},
		},
	}
}

// TestJUnit: the counts are those of the elements, and each check is a test case.
func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := judged().WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "<?xml version=\"1.0\"") {
		t.Errorf("no XML declaration: %.60s", b.String())
	}
	type fault struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	var got struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Errors   int    `xml:"errors,attr"`
			Cases    []struct {
				Class   string `xml:"classname,attr"`
				Name    string `xml:"name,attr"`
				Time    string `xml:"time,attr"`
				Failure *fault `xml:"failure"`
				Error   *fault `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 5 || got.Failures != 2 || got.Errors != 1 || len(got.Suites) != 2 {
		t.Errorf("%d tests, %d failures, %d errors, %d suites", got.Tests, got.Failures, got.Errors, len(got.Suites))
	}
	for _, s := range got.Suites {
		failures, errors := 0, 0
		for _, c := range s.Cases {
			if c.Class != s.Name || c.Name == "" || c.Time == "" {
				t.Errorf("a test case without a name, a class or a time: %+v", c)
			}
			for _, f := range []*fault{c.Failure, c.Error} {
				if f != nil && (f.Message == "" || f.Type == "" || f.Text == "") {
					t.Errorf("%s: %+v", c.Name, f)
				}
			}
			if c.Failure != nil {
				failures++
			}
			if c.Error != nil {
				errors++
			}
		}
		if s.Tests != len(s.Cases) || s.Failures != failures || s.Errors != errors {
			t.Errorf("%s counts %d tests, %d failures, %d errors", s.Name, s.Tests, s.Failures, s.Errors)
		}
	}
	if f := got.Suites[1].Cases[0].Error; f == nil || f.Message != "the policy failed at 3 of 10 decisions; the first error: it divides by zero" {
		t.Errorf("error: %+v", f)
	}
}

// A readText is a message of SARIF as a test reads it.
type readText struct {
	Text *string `json:"text"`
}

// A readSARIF is a file as a test reads it: it has the fields of SARIF 2.1.0 that a report writes.
type readSARIF struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name    *string `json:"name"`
				Version string  `json:"version"`
				Rules   []struct {
					ID    *string  `json:"id"`
					Short readText `json:"shortDescription"`
					Full  readText `json:"fullDescription"`
					Help  readText `json:"help"`
				} `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Invocations []struct {
			Successful *bool `json:"executionSuccessful"`
		} `json:"invocations"`
		Results []struct {
			RuleID    string   `json:"ruleId"`
			RuleIndex int      `json:"ruleIndex"`
			Level     string   `json:"level"`
			Message   readText `json:"message"`
			Locations []struct {
				Physical struct {
					Artifact struct {
						URI string `json:"uri"`
					} `json:"artifactLocation"`
				} `json:"physicalLocation"`
				Logical []struct {
					Name string `json:"name"`
					Kind string `json:"kind"`
				} `json:"logicalLocations"`
			} `json:"locations"`
			Fingerprints map[string]string `json:"partialFingerprints"`
		} `json:"results"`
	} `json:"runs"`
}

// TestSARIF: the fields that the schema of SARIF 2.1.0 requires are there, with allowed
// values, and there are no other fields than those named here.
func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	r := judged()
	r.Partial = true
	if err := r.WriteSARIF(&b, "v1.2.3", []string{"talks of may.jsonl", "b.jsonl"}); err != nil {
		t.Fatal(err)
	}
	var got readSARIF
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != sarifSchema || got.Version != "2.1.0" || len(got.Runs) != 1 {
		t.Fatalf("%s, version %q, %d runs", got.Schema, got.Version, len(got.Runs))
	}
	run := got.Runs[0]
	if run.Tool.Driver.Name == nil || len(run.Invocations) != 1 || run.Invocations[0].Successful == nil || *run.Invocations[0].Successful {
		t.Errorf("driver %+v, invocations %+v", run.Tool.Driver, run.Invocations)
	}
	for _, rule := range run.Tool.Driver.Rules {
		if rule.ID == nil || rule.Short.Text == nil || rule.Full.Text == nil || rule.Help.Text == nil {
			t.Errorf("rule %+v", rule)
		}
	}
	if len(run.Results) != 5 { // two gates, the errors, two policies that were not replayed to the end
		t.Errorf("%d results", len(run.Results))
	}
	seen := map[string]bool{}
	for _, x := range run.Results {
		if x.RuleIndex >= len(run.Tool.Driver.Rules) || *run.Tool.Driver.Rules[x.RuleIndex].ID != x.RuleID || x.Level != "error" || x.Message.Text == nil {
			t.Errorf("result %+v", x)
		}
		if len(x.Locations) != 1 || x.Locations[0].Physical.Artifact.URI != "talks%20of%20may.jsonl" || len(x.Locations[0].Logical) != 1 || x.Locations[0].Logical[0].Kind != "module" {
			t.Errorf("locations %+v", x.Locations)
		}
		if f := x.Fingerprints["check/v1"]; f == "" || seen[f] {
			t.Errorf("fingerprint %q", f)
		} else {
			seen[f] = true
		}
	}
}

// TestSARIFEmpty: without a failure the results are an empty list, and a report of
// rooms has no place.
func TestSARIFEmpty(t *testing.T) {
	r := judged()
	r.Gates, r.Policies = r.Gates[:1], r.Policies[:1]
	var b bytes.Buffer
	if err := r.WriteSARIF(&b, "", nil); err != nil || !strings.Contains(b.String(), `"results": []`) {
		t.Errorf("%v\n%s", err, b.String())
	}
	r.Gates[0].Passed = false
	b.Reset()
	if err := r.WriteSARIF(&b, "", nil); err != nil || strings.Contains(b.String(), "physicalLocation") || !strings.Contains(b.String(), "logicalLocations") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
