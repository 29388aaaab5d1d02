package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/problem"
)

// propose records the tasks of a plan_update.
func (d *draft) propose() error {
	var v planUpdate
	if err := decode(d.Kind, d.Payload, &v); err != nil || len(v.Tasks) == 0 {
		return err
	}
	n := len(v.Tasks)
	for _, x := range d.plan.Proposals {
		n += len(x.Tasks)
	}
	if n > MaxProposed || len(d.plan.Proposals) >= maxProposals {
		return refuse("too many proposals wait for the decision of the manager", "wait for it")
	}
	for i := range v.Tasks {
		if err := v.Tasks[i].check(); err != nil {
			return err
		}
	}
	d.change.Proposed = &Proposal{ID: d.ID, From: d.From, Tasks: v.Tasks, At: d.At}
	return nil
}

// decide reads a decision of the manager.
func (d *draft) decide() error {
	var v decision
	if err := decode(d.Kind, d.Payload, &v); err != nil {
		return err
	}
	for _, id := range v.Accept {
		if err := d.accept(id); err != nil {
			return err
		}
	}
	for _, id := range v.Reject {
		if d.plan.proposal(id) == nil || slices.Contains(d.change.Accepted, id) {
			return d.unknownProposal(id)
		}
		d.change.Rejected = append(d.change.Rejected, id)
	}
	return cmp.Or(d.setIntent(v.Intent), d.patchAll(v.Tasks), d.judge(v.Results), d.waive(v.Waive), d.resume(v.Task, ""))
}

// accept applies a proposal. Apply takes the titles from the proposal itself.
func (d *draft) accept(id string) error {
	x := d.plan.proposal(id)
	if x == nil || slices.Contains(d.change.Accepted, id) {
		return d.unknownProposal(id)
	}
	for i := range x.Tasks {
		if err := d.patch(&x.Tasks[i]); err != nil {
			return err
		}
	}
	d.change.Accepted = append(d.change.Accepted, id)
	return nil
}

func (d *draft) unknownProposal(id string) error {
	var open []string
	for _, x := range d.plan.Proposals {
		open = append(open, x.ID)
	}
	return refuse("no proposal "+quote(cut(id))+" waits for a decision", "name the message_id of a plan_update; open are: "+cmp.Or(strings.Join(open, ", "), "none"))
}

func (p *Plan) proposal(id string) *Proposal {
	for i := range p.Proposals {
		if p.Proposals[i].ID == id {
			return &p.Proposals[i]
		}
	}
	return nil
}

// block lets a task of the sender wait for an answer.
func (d *draft) block() error {
	var v waiting
	if err := decode(d.Kind, d.Payload, &v); err != nil {
		return err
	}
	to := cmp.Or(v.State, InputRequired)
	switch {
	case !to.waiting():
		return refuse("a "+d.Kind+" cannot leave its task "+quote(cut(string(to))), "use input_required or auth_required")
	case v.Task == "" && v.State != "":
		return refuse("the "+d.Kind+" names a state and no task", "name the task")
	case v.Task == "":
		return nil
	}
	t, err := d.own(v.Task)
	if err != nil {
		return err
	}
	if err := cmp.Or(checkReason(t, v.Reason), d.setState(t, to, v.Reason)); err != nil {
		return err
	}
	t.Asked = d.ID
	return nil
}

// resume lets the tasks go on that wait for this answer, and the one that is named.
func (d *draft) resume(named, reason string) error {
	if named != "" {
		t, err := d.open(named)
		if err != nil {
			return err
		}
		if err := checkReason(t, reason); err != nil {
			return err
		}
	}
	for i := range d.plan.Tasks {
		t := &d.plan.Tasks[i]
		if t.State.waiting() && (t.ID == named || t.Asked != "" && slices.Contains(d.Answers, t.Asked)) {
			if err := d.setState(t, Working, reason); err != nil {
				return err
			}
		}
	}
	return nil
}

// cancel ends the task that the manager names.
func (d *draft) cancel() error {
	var v ofTask
	if err := decode(d.Kind, d.Payload, &v); err != nil || v.Task == "" {
		return err
	}
	t, err := d.open(v.Task)
	if err != nil {
		return err
	}
	return cmp.Or(checkReason(t, v.Reason), d.setState(t, Canceled, v.Reason))
}

// answerCheck notes the answer to a check of its sender.
func (d *draft) answerCheck() {
	for _, c := range d.plan.Checks {
		if slices.Contains(d.Answers, c.ID) && c.Reply == "" {
			c.Reply, c.Replied, c.Answerer = d.ID, d.At, d.From
			d.change.Checks = append(d.change.Checks, c)
		}
	}
}

// own returns an open task of the sender.
func (d *draft) own(id string) (*Task, error) {
	t, err := d.open(id)
	switch {
	case err != nil:
		return nil, err
	case t.Owner == "":
		return nil, &problem.Error{Code: "ROOM-TASK", What: "task " + t.ID + " has no owner", Fix: "claim it first"}
	case t.Owner != d.From:
		return nil, &problem.Error{Code: "ROOM-CLAIMED", What: "task " + t.ID + " is of " + t.Owner, Fix: "take another task"}
	}
	return t, nil
}

// open returns a task that has not ended.
func (d *draft) open(id string) (*Task, error) {
	t := d.plan.Task(id)
	if t == nil {
		return nil, unknownTask(id)
	}
	if t.State.Ended() {
		return nil, ended(t)
	}
	return t, nil
}

func unknownTask(id string) error {
	return &problem.Error{Code: "ROOM-TASK", What: "no task " + quote(cut(id)), Fix: "name a task of the plan"}
}

func ended(t *Task) error {
	return &problem.Error{Code: "ROOM-TASK", What: "task " + t.ID + " is " + string(t.State) + " and stays so", Fix: "take another task"}
}

func checkReason(t *Task, reason string) error {
	if len(reason) > maxReason {
		return tooLong("the reason of task "+t.ID, maxReason)
	}
	return nil
}

// Claim returns the change by which a worker takes a free task, or begins one that is
// its own. It is nil if the worker works on it already.
func (p *Plan) Claim(task, by string, at time.Duration) (*Change, error) {
	t := p.Task(task)
	switch {
	case p.Final != "":
		return nil, refuse("the final response has been given", "the room ends with the open turn")
	case t == nil:
		return nil, unknownTask(task)
	case t.Owner != "" && t.Owner != by:
		return nil, &problem.Error{Code: "ROOM-CLAIMED", What: "task " + t.ID + " is of " + t.Owner, Fix: "take another task"}
	case t.State.Ended():
		return nil, ended(t)
	case t.Owner == by && (t.State != Submitted || len(p.Waits(t)) > 0):
		return nil, nil
	}
	next := *t
	next.Title, next.Owner, next.By, next.Message, next.Reason = "", by, by, "", ""
	if next.State == Submitted && len(p.Waits(t)) == 0 {
		next.State, next.Since = Working, at
	}
	return &Change{Tasks: []Task{next}}, nil
}
