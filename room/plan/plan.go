// Package plan keeps the plan of a room: what its manager understood of the user's
// wish (the intent, with criteria of acceptance), and the tasks that its agents work on.
//
// A [Plan] is part of the state of a room. It changes only by a [Change], which the
// room records as an event. The functions that make a change leave the plan as it is:
// they take the payload of a message of one of seven kinds, check it whole, and return
// the change or an error. The text of a message never changes a plan.
//
// The package is pure.
package plan

import (
	"slices"
	"time"
)

// An Intent is what the manager of a room has understood of the user's wish.
type Intent struct {
	Version     int      `json:"version"` // grows by one with each change
	Objective   string   `json:"objective,omitempty"`
	Constraints []string `json:"constraints,omitempty"`
	Acceptance  []string `json:"acceptance_criteria,omitempty"`
	Targets     []string `json:"targets,omitempty"`
	Approvals   []string `json:"approvals,omitempty"` // and decisions of the user; they approve nothing by themselves
}

// A Criterion says whether a criterion of acceptance is met. Number is its place in the
// list of the intent, from 1. Text is set in views only.
type Criterion struct {
	Number   int    `json:"number"`
	Text     string `json:"criterion,omitempty"`
	Met      bool   `json:"met,omitempty"`
	Waived   bool   `json:"waived,omitempty"`
	Evidence string `json:"evidence,omitempty"`
	By       string `json:"by,omitempty"`         // who said so last; "" for a criterion that was not judged
	Message  string `json:"message_id,omitempty"` // in which message
}

// Open reports whether the criterion is neither met nor waived.
func (c Criterion) Open() bool { return !c.Met && !c.Waived }

// A Task is a part of the work. In a change, a Title that is empty stays as it was.
type Task struct {
	ID      string   `json:"id"`
	Title   string   `json:"title,omitempty"`
	Owner   string   `json:"owner,omitempty"` // a participant; "" while it is free
	State   State    `json:"state"`
	After   []string `json:"after,omitempty"`      // tasks that must be completed first
	Asked   string   `json:"asked,omitempty"`      // the message whose answer it waits for
	By      string   `json:"by"`                   // who changed it last
	Message string   `json:"message_id,omitempty"` // by which message; "" for a claim
	Reason  string   `json:"reason,omitempty"`     // of its state

	Created time.Duration `json:"created_ns"` // clock of the room
	Since   time.Duration `json:"since_ns"`   // since when it has its state
}

// A Proposal is a change of tasks that a worker has asked for. It changes nothing until
// the manager accepts it.
type Proposal struct {
	ID    string        `json:"message_id"`
	From  string        `json:"from_agent"`
	Tasks []Patch       `json:"tasks"`
	At    time.Duration `json:"at_ns"` // clock of the room
}

// A Check is a question of the manager after the state of the work, and its answer.
type Check struct {
	ID       string        `json:"message_id"`
	From     string        `json:"from_agent"`
	To       string        `json:"to_agent"`
	At       time.Duration `json:"at_ns"`              // clock of the room
	Reply    string        `json:"reply_id,omitempty"` // "" while it is not answered
	Replied  time.Duration `json:"replied_ns,omitempty"`
	Answerer string        `json:"answerer,omitempty"`
}

// A Plan is the plan of one room. The zero Plan is empty. It is not safe for concurrent
// use.
type Plan struct {
	Intent    *Intent     `json:"intent,omitempty"`
	Criteria  []Criterion `json:"criteria,omitempty"` // one for each of the intent
	Tasks     []Task      `json:"tasks,omitempty"`    // in the order in which they were added
	Proposals []Proposal  `json:"proposals,omitempty"`
	Checks    []Check     `json:"checks,omitempty"` // the newest

	// Final is the message with the final response, once it is given. The plan does not
	// change any more.
	Final string `json:"final,omitempty"`
}

// A Change is what one message or claim changes in a plan. Criteria, Tasks and Checks
// replace those of the same number or id.
type Change struct {
	Intent   *Intent     `json:"intent,omitempty"`
	Criteria []Criterion `json:"criteria,omitempty"`
	Tasks    []Task      `json:"tasks,omitempty"`
	Proposed *Proposal   `json:"proposed,omitempty"`
	Accepted []string    `json:"accepted,omitempty"` // proposals
	Rejected []string    `json:"rejected,omitempty"` // proposals
	Checks   []Check     `json:"checks,omitempty"`
	Final    string      `json:"final,omitempty"`
}

// empty reports whether the change changes nothing.
func (c *Change) empty() bool {
	return c.Intent == nil && len(c.Criteria)+len(c.Tasks)+len(c.Accepted)+len(c.Rejected)+len(c.Checks) == 0 && c.Proposed == nil && c.Final == ""
}

// Completes reports whether the change completes a task.
func (c *Change) Completes() bool {
	return slices.ContainsFunc(c.Tasks, func(t Task) bool { return t.State == Completed })
}

// WithoutTexts returns the change without what participants wrote. Ids, states and
// numbers remain.
func (c Change) WithoutTexts() Change {
	if c.Intent != nil {
		c.Intent = &Intent{Version: c.Intent.Version, Acceptance: make([]string, len(c.Intent.Acceptance))}
	}
	c.Criteria, c.Tasks = slices.Clone(c.Criteria), slices.Clone(c.Tasks)
	for i := range c.Criteria {
		c.Criteria[i].Evidence = ""
	}
	for i := range c.Tasks {
		c.Tasks[i].Title, c.Tasks[i].Reason = "", ""
	}
	if c.Proposed != nil {
		p := *c.Proposed
		p.Tasks = slices.Clone(p.Tasks)
		for i := range p.Tasks {
			p.Tasks[i].Title, p.Tasks[i].Reason = nil, ""
		}
		c.Proposed = &p
	}
	return c
}

// maxChecks is the number of checks that a plan lists.
const maxChecks = 20

// Apply changes p. It is total.
func (p *Plan) Apply(c Change) {
	if c.Intent != nil {
		p.applyIntent(*c.Intent)
	}
	for _, x := range c.Criteria {
		if x.Number >= 1 && x.Number <= len(p.Criteria) {
			p.Criteria = slices.Clone(p.Criteria)
			p.Criteria[x.Number-1] = x
		}
	}
	p.applyTasks(c)
	p.Proposals = slices.DeleteFunc(slices.Clone(p.Proposals), func(x Proposal) bool {
		return slices.Contains(c.Accepted, x.ID) || slices.Contains(c.Rejected, x.ID)
	})
	if c.Proposed != nil {
		p.Proposals = append(p.Proposals, *c.Proposed)
	}
	p.applyChecks(c.Checks)
	if c.Final != "" {
		p.Final = c.Final
	}
}

// applyIntent sets the intent. A criterion with the same text keeps its state.
func (p *Plan) applyIntent(in Intent) {
	before := p.Criteria
	var texts []string
	if p.Intent != nil {
		texts = p.Intent.Acceptance
	}
	p.Intent, p.Criteria = &in, make([]Criterion, len(in.Acceptance))
	for i, text := range in.Acceptance {
		if was := slices.Index(texts, text); was >= 0 && was < len(before) && text != "" {
			p.Criteria[i] = before[was]
		}
		p.Criteria[i].Number = i + 1
	}
}

func (p *Plan) applyTasks(c Change) {
	p.Tasks = slices.Clone(p.Tasks)
	for _, t := range c.Tasks {
		i := slices.IndexFunc(p.Tasks, func(x Task) bool { return x.ID == t.ID })
		if i < 0 {
			i = len(p.Tasks)
			p.Tasks = append(p.Tasks, Task{})
		}
		if t.Title == "" {
			t.Title = p.proposedTitle(c.Accepted, t.ID, p.Tasks[i].Title)
		}
		p.Tasks[i] = t
	}
}

// proposedTitle returns the title that accepted proposals give a task, else the one it
// has.
func (p *Plan) proposedTitle(accepted []string, id, title string) string {
	for _, of := range accepted {
		for _, x := range p.Proposals {
			for _, t := range x.Tasks {
				if x.ID == of && t.ID == id && t.Title != nil {
					title = *t.Title
				}
			}
		}
	}
	return title
}

func (p *Plan) applyChecks(checks []Check) {
	for _, c := range checks {
		p.Checks = slices.Clone(p.Checks)
		if i := slices.IndexFunc(p.Checks, func(x Check) bool { return x.ID == c.ID }); i >= 0 {
			p.Checks[i] = c
			continue
		}
		p.Checks = append(p.Checks[max(0, len(p.Checks)+1-maxChecks):], c)
	}
}

// Task returns the task with that id, or nil.
func (p *Plan) Task(id string) *Task {
	for i := range p.Tasks {
		if p.Tasks[i].ID == id {
			return &p.Tasks[i]
		}
	}
	return nil
}

// Waits returns the tasks that t still waits for. One that has failed or was rejected
// is waited for until the manager changes the plan.
func (p *Plan) Waits(t *Task) []string {
	var out []string
	for _, id := range t.After {
		if x := p.Task(id); x != nil && x.State != Completed && x.State != Canceled {
			out = append(out, id)
		}
	}
	return out
}

// OpenTasks returns the tasks that have not ended.
func (p *Plan) OpenTasks() []Task {
	return slices.DeleteFunc(slices.Clone(p.Tasks), func(t Task) bool { return t.State.Ended() })
}

// Judged returns the criteria with their texts.
func (p *Plan) Judged() []Criterion {
	out := slices.Clone(p.Criteria)
	for i := range out {
		out[i].Text = p.Intent.Acceptance[i]
	}
	return out
}
