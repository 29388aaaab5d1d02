package policytest

import (
	"cmp"

	"github.com/folkmoot/moot/policies/policy"
)

// room turns the inputs of a case's steps into inputs of a policy, and counts.
type room struct {
	in  policy.Input
	seq int64
}

func base() policy.Input {
	return policy.Input{
		ABI: policy.ABI, Room: "case", Seed: "00000000000000000000000000000001", Objective: "test a policy",
		Limits: policy.Limits{MaxTurns: 40, TurnsLeft: 40, TokensLeft: -1, MSLeft: 1_800_000},
	}
}

// step prepares the input of step i.
func (r *room) step(i int, in input) error {
	r.in.Init = i == 0
	r.in.Decision, r.in.Turn = int64(i+1), i+1
	r.in.NowMS = int64(i) * 1000
	r.in.Limits.TurnsLeft = max(0, r.in.Limits.MaxTurns-i)
	r.in.Events, r.in.Handoff, r.in.Replaced, r.in.Truncated = nil, nil, "", false
	return r.take(in)
}

// take replaces the keys that in holds.
func (r *room) take(in input) error {
	set(&r.in.Init, in.Init)
	set(&r.in.Room, in.Room)
	set(&r.in.Decision, in.Decision)
	set(&r.in.Turn, in.Turn)
	set(&r.in.NowMS, in.NowMS)
	set(&r.in.Seed, in.Seed)
	set(&r.in.Objective, in.Objective)
	set(&r.in.Constraints, in.Constraints)
	set(&r.in.Replaced, in.Replaced)
	set(&r.in.Truncated, in.Truncated)
	if l := in.Limits; l != nil {
		set(&r.in.Limits.MaxTurns, l.MaxTurns)
		set(&r.in.Limits.TurnsLeft, l.TurnsLeft)
		set(&r.in.Limits.TokensLeft, l.TokensLeft)
		set(&r.in.Limits.MSLeft, l.MSLeft)
	}
	if in.Agents != nil {
		r.in.Agents = agents(*in.Agents)
	}
	if in.Events != nil {
		r.in.Events = r.events(*in.Events)
	}
	if in.Handoff != nil {
		r.in.Handoff = (*policy.Handoff)(in.Handoff)
	}
	for _, j := range []struct {
		to   *policy.JSON
		from *any
	}{{&r.in.Config, in.Config}, {&r.in.State, in.State}} {
		if j.from == nil {
			continue
		}
		b, err := asJSON(*j.from)
		if err != nil {
			return err
		}
		*j.to = b
	}
	return nil
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func agents(all []agent) []policy.Agent {
	out := make([]policy.Agent, len(all))
	for i, a := range all {
		eligible := a.Ineligible == "" && a.Kind != policy.Human
		set(&eligible, a.Eligible)
		out[i] = policy.Agent{
			ID: a.ID, Name: cmp.Or(a.Name, a.ID), Kind: cmp.Or(a.Kind, policy.Local), Role: a.Role, Domains: a.Domains,
			Eligible: eligible, Ineligible: a.Ineligible, Presence: a.Presence, Turns: a.Turns, LastTurn: a.LastTurn, Failures: a.Failures,
			Tokens: a.Tokens, AvgMS: a.AvgMS, Unread: a.Unread, Urgent: a.Urgent, Followed: policy.Followed(a.Followed),
			Confidence: a.Confidence, Bid: (*policy.Bid)(a.Bid), Tasks: tasks(a.Tasks),
		}
		if !eligible && a.Ineligible == "" && a.Kind == policy.Human {
			out[i].Ineligible = "attends"
		}
	}
	return out
}

func tasks(all []task) (out []policy.Task) {
	for _, t := range all {
		out = append(out, policy.Task{ID: t.ID, Title: cmp.Or(t.Title, t.ID), State: cmp.Or(t.State, policy.TaskSubmitted), After: t.After})
	}
	return out
}

func (r *room) events(all []event) []policy.Event {
	out := make([]policy.Event, len(all))
	for i, e := range all {
		r.seq = max(r.seq+1, e.Seq)
		out[i] = policy.Event{
			Seq: r.seq, Turn: e.Turn, From: e.From, To: e.To, Kind: cmp.Or(e.Kind, policy.KindMessage), Text: e.Text,
			Truncated: e.Truncated, Mentions: e.Mentions, Addressed: e.Addressed, Bytes: max(e.Bytes, len(e.Text)), Silent: e.Silent,
		}
	}
	return out
}
