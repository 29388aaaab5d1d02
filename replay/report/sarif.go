package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"

	"github.com/folkmoot/moot/internal/term"
)

// The SARIF form (Static Analysis Results Interchange Format, version 2.1.0, OASIS):
// a result for each gate that fails and for the errors of each policy.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Full  sarifText `json:"fullDescription"`
		Help  sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful bool `json:"executionSuccessful"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
)

const sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"

var sarifRules = []sarifRule{
	{ruleGate, sarifText{"A figure of the policy meets a --fail-if condition."}, sarifText{"A figure of the policy meets a condition that must not hold, or there is nothing to measure."}, sarifText{"Check the figures of the report, or change the condition."}},
	{ruleErrors, sarifText{"The policy failed at a decision."}, sarifText{"The policy returned no valid decision. In a room each such failure pauses the room."}, sarifText{"Run `moot replay show` at one of these decisions."}},
	{rulePartial, sarifText{"The replay was interrupted."}, sarifText{"The figures cover only the decisions before the interruption."}, sarifText{"Run the replay again, with --sample if it takes too long."}},
}

// WriteSARIF writes the gates that failed and the errors of the policies as SARIF 2.1.0.
// Checks that passed are no results, because some readers show each result as a problem.
// version is that of moot. The first of the files is the place of each result; a
// report of rooms has none.
func (r *Report) WriteSARIF(w io.Writer, version string, files []string) error {
	var run sarifRun
	run.Tool.Driver = sarifDriver{Name: "moot replay", Version: version, Rules: sarifRules}
	run.Invocations = []sarifInvocation{{Successful: !r.Partial}}
	run.Results = []sarifResult{}
	for _, v := range r.verdicts() {
		if v.fault != "" {
			run.Results = append(run.Results, v.sarif(files))
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

func (v verdict) sarif(files []string) sarifResult {
	sum := sha256.Sum256([]byte(v.rule + "\x00" + v.policy + "\x00" + v.name))
	out := sarifResult{
		RuleID: v.rule, Level: "error", Message: sarifText{term.Line(v.policy + ": " + v.fault)},
		Locations:    []sarifLocation{{Logical: []sarifLogical{{Name: term.Line(v.policy), Kind: "module"}}}},
		Fingerprints: map[string]string{"check/v1": hex.EncodeToString(sum[:16])},
	}
	for i := range sarifRules {
		if sarifRules[i].ID == v.rule {
			out.RuleIndex = i
		}
	}
	if len(files) > 0 {
		p := &sarifPhysical{}
		p.Artifact.URI = (&url.URL{Path: filepath.ToSlash(files[0])}).String()
		out.Locations[0].Physical = p
	}
	return out
}
