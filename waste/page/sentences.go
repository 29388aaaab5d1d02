package page

import (
	"fmt"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/waste"
)

// A view is a report as the forms show it.
type view struct{ *waste.Report }

func (v view) tokens(n int64) string  { return amount(n, v.EstimatedTurns > 0) }
func (v view) prompts(n int64) string { return amount(n, v.EstimatedCalls > 0) }

func (v view) kind(k waste.Kind) *waste.Row {
	for i := range v.Kinds {
		if v.Kinds[i].Kind == k {
			return &v.Kinds[i]
		}
	}
	return &waste.Row{}
}

// summary says what was counted.
func (v view) summary() string {
	s := fmt.Sprintf("%s · %s · %s tokens", count(v.Runs, "run"), count(v.Turns, "turn"), v.tokens(v.Tokens))
	if v.Prompts > 0 {
		s += " · " + v.prompts(v.Prompts) + " tokens of prompts"
	}
	if v.Partial {
		s = "interrupted: " + s
	}
	return s
}

// sentences are the result in words, the most important first.
func (v view) sentences() []string {
	if v.Turns == 0 {
		return []string{"There are no turns to count."}
	}
	var all []string
	if v.Labelled > 0 {
		all = append(all, fmt.Sprintf("Of %s tokens %s (%s) came after the labelled error. %s of %s labelled.",
			v.tokens(v.Tokens), v.tokens(v.kind(waste.AfterError).Tokens), percent(v.kind(waste.AfterError).Share), thousands(v.Labelled), are(v.Runs)))
	}
	all = append(all, v.total())
	if v.Guard != nil {
		all = append(all, v.guarded())
	}
	if again := v.kind(waste.ResentContext); v.Prompts > 0 {
		all = append(all, fmt.Sprintf("%s %s tokens; %s (%s) were sent to the same agent before.",
			v.prompting(), v.prompts(v.Prompts), v.prompts(again.OfKind.Prompts), percent(again.OfKind.ShareOfPrompts)))
	}
	return all
}

// are is the number of runs with its verb.
func are(runs int64) string {
	if runs == 1 {
		return "1 run is"
	}
	return thousands(runs) + " runs are"
}

// total is the sentence about all kinds.
func (v view) total() string {
	s := fmt.Sprintf("%s of %s tokens (%s) are waste", v.tokens(v.Waste.Tokens), v.tokens(v.Tokens), percent(v.Waste.Share))
	var most *waste.Row
	for i := range v.Kinds {
		if r := &v.Kinds[i]; r.Kind != waste.ResentContext && r.Kind != waste.AfterError && (most == nil || r.Tokens > most.Tokens) {
			most = r
		}
	}
	switch {
	case most == nil || most.Tokens == 0:
		return s + "."
	case v.Labelled > 0:
		return fmt.Sprintf("%s. Most of the rest of it is %s: %s.", s, titles[most.Kind], v.tokens(most.Tokens))
	}
	return fmt.Sprintf("%s, most of it %s: %s.", s, titles[most.Kind], v.tokens(most.Tokens))
}

func (v view) prompting() string {
	switch v.EstimatedCalls {
	case 0:
		return "The prompts have"
	case v.Calls:
		return "Prompts with the whole history have"
	}
	return "The prompts, some of them estimated as the whole history, have"
}

// guarded is the sentence about the policy that may end runs.
func (v view) guarded() string {
	g := v.Guard
	early := ""
	if g.Early > 0 {
		early = fmt.Sprintf(", %s of them before the labelled error", thousands(g.Early))
	}
	s := fmt.Sprintf("With %s %s of %s would have ended earlier%s, without %s tokens (%s).",
		term.Line(g.Policy), thousands(g.Stopped), count(g.Runs, "run"), early, v.tokens(g.Tokens), percent(g.Share))
	if g.Good == 0 {
		return s + " No run is known to have succeeded, so false alarms are not counted."
	}
	return s + fmt.Sprintf(" False alarms: %s of %s good ones.", thousands(g.GoodStopped), thousands(g.Good))
}

// notes say how to read the figures.
func (v view) notes() []string {
	var all []string
	if n := v.EstimatedTurns; n > 0 {
		all = append(all, fmt.Sprintf("~ is an estimate: the source states no usage for %s of %s, which count as bytes/4", thousands(n), count(v.Turns, "turn")))
	}
	if v.EstimatedCalls > 0 {
		all = append(all, "prompts are estimated as all texts of the run so far; catch-up prompts have only those since the agent's last turn")
	}
	all = append(all, "a turn of several kinds counts as the first of them in this order; turns count from 0")
	if v.Guard != nil && v.Guard.TrainedOn != "" {
		all = append(all, "the settings of wasteguard are learnt from "+v.Guard.TrainedOn+": there its figures are too good")
	}
	if v.Labelled > 0 && v.Succeeded == 0 {
		all = append(all, "the labels are of failed runs only: they do not say how many good runs have such turns too")
	}
	return all
}
