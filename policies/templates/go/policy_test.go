package main

import (
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// TestWithoutASandbox shows how to test a policy as plain Go. The cases compare
// its answers byte for byte: moot policy test
func TestWithoutASandbox(t *testing.T) {
	in := policy.Input{
		Agents: []policy.Agent{{ID: "sec", Eligible: true}, {ID: "dba", Eligible: true}},
		Events: []policy.Event{{From: "sec", Kind: policy.KindMessage, Addressed: []string{"dba"}}},
	}
	if d := decide(&in); d.Agent != "dba" {
		t.Errorf("%+v", d)
	}
}
