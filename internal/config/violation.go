package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A violation is a value that a schema does not allow. It holds what a report
// needs to know of the schema, so that a worker process can find it.
type violation struct {
	Path   []string // of the value
	Rule   rule
	Text   string   // depends on the rule
	Values []string // ruleKeys: the unknown keys; ruleChoice: the allowed values; ruleParticipant: the IDs
	Known  []string // ruleKeys: the keys that the schema has
}

// A rule is the kind of a violation.
type rule string

const (
	ruleMissing     rule = "missing"     // Text is a whole phrase
	ruleKeys        rule = "keys"        // Text says what keys are, when they are free
	ruleType        rule = "type"        // Text is the wanted type
	ruleChoice      rule = "choice"      //
	ruleForm        rule = "form"        // Text is what the value has to be
	ruleParticipant rule = "participant" // Text is the unknown ID
	ruleBound       rule = "bound"       // Text is a whole phrase
)

// String describes the violation where there is no source to point at.
func (v violation) String() string { return clip("/" + strings.Join(v.Path, "/") + " " + v.what()) }

// what describes the violation without its place.
func (v violation) what() string {
	what := v.Text
	switch v.Rule {
	case ruleKeys:
		what = "has unknown keys: " + strings.Join(v.Values, ", ")
	case ruleType, ruleForm:
		what = "is not " + v.Text
	case ruleChoice:
		what = "is not one of " + strings.Join(v.Values, ", ")
	case ruleParticipant:
		what = (&unknownParticipant{id: v.Text}).Error()
	}
	return clip(what)
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxText)], "") }

// maxText bounds the text of a violation, in bytes.
const maxText = 500

// A checker reports violations as problems of a document.
type checker struct {
	d    *document
	code string   // replaces all codes, for settings of a policy
	base []string // path of the checked value
}

func (k checker) report(all []violation) {
	for _, v := range all {
		k.reportOne(v, append(slices.Clone(k.base), v.Path...))
	}
}

func (k checker) reportOne(v violation, path []string) {
	node, _ := k.d.find(path)
	got := kindOf(follow(node))
	switch v.Rule {
	case ruleKeys:
		k.reportKeys(v, path)
	case ruleMissing:
		k.reportOnce(path, nil, "ROOM-MISSING", v.Text, "")
	case ruleType:
		k.reportOnce(path, nil, "ROOM-TYPE", "got "+got+", want "+v.Text, "")
	case ruleChoice:
		k.reportChoice(path, node, got, v.Values)
	case ruleForm:
		k.reportOnce(path, nil, "ROOM-VALUE", got+" is not "+v.Text, "")
	case ruleParticipant:
		u := unknownParticipant{v.Text, v.Values}
		k.reportOnce(path, nil, "ROOM-UNKNOWN-ID", u.Error(), Suggest(u.id, u.ids))
	default:
		k.reportOnce(path, nil, "ROOM-VALUE", v.Text, "")
	}
}

func (k checker) reportKeys(v violation, path []string) {
	for _, name := range v.Values {
		p := appendStep(path, name)
		_, key := k.d.find(p)
		if v.Text != "" {
			k.reportOnce(p, key, "ROOM-KEY", strconv.Quote(name)+" is not "+v.Text, "")
			continue
		}
		k.reportOnce(p, key, "ROOM-KEY", fmt.Sprintf("unknown key %q", name), hintKey(name, k.unused(v.Known, path)))
	}
}

// unused returns the known keys that the value at path does not have.
func (k checker) unused(known, path []string) []string {
	n, _ := k.d.find(path)
	return slices.DeleteFunc(slices.Clone(known), func(name string) bool {
		v, _ := child(n, name)
		return v != nil
	})
}

// reportChoice reports a value that is not one of the allowed ones.
func (k checker) reportChoice(path []string, n *yaml.Node, got string, allowed []string) {
	n = follow(n)
	what := got + " is not one of " + strings.Join(allowed, ", ")
	if len(allowed) == 1 {
		what = "got " + got + ", want " + allowed[0]
	}
	hint := ""
	if n != nil && n.Kind == yaml.ScalarNode {
		hint = Suggest(n.Value, allowed)
	}
	k.reportOnce(path, nil, "ROOM-VALUE", what, hint)
}

// reportOnce reports a problem unless its path, or one above it, has one.
func (k checker) reportOnce(path []string, at *yaml.Node, code, what, hint string) {
	for _, b := range k.d.broken {
		if len(b) <= len(path) && slices.Equal(b, path[:len(b)]) {
			return
		}
	}
	if at == nil {
		at, _ = k.d.find(path)
	}
	if k.code != "" && code != "ROOM-UNKNOWN-ID" {
		code = k.code
	}
	k.d.report(at, path, code, what, hint)
	if code == "ROOM-MISSING" {
		path = appendStep(path, "?") // the existing keys are still checked
	}
	k.d.broken = append(k.d.broken, path)
}
