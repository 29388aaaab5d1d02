package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/kinds"
)

// A Post is a message that may change a plan. Its sender and receiver are those that
// the table of kinds allows.
type Post struct {
	ID, Kind, From, To string
	Answers            []string // the messages that it answers: its correlation_id and parent_id
	Payload            []byte
	At                 time.Duration // clock of the room

	// Owner returns the id of the worker or specialist that a name or role stands for,
	// and false if there is none.
	Owner func(name string) (id string, ok bool)
}

// Change returns what the message changes in p, or nil for nothing. An error says why
// the message is not accepted; then it changes nothing.
func (p *Plan) Change(m Post) (*Change, error) {
	if !Reads(m.Kind) {
		return nil, nil
	}
	if p.Final != "" && !isCheck(m.Kind) {
		return nil, refuse("the final response has been given", "the room ends with the open turn")
	}
	d := &draft{Post: m, plan: *p}
	d.plan.Tasks = slices.Clone(p.Tasks)
	if err := d.read(); err != nil {
		return nil, err
	}
	if err := d.checkTasks(); err != nil {
		return nil, err
	}
	d.finish()
	if d.change.empty() {
		return nil, nil
	}
	return &d.change, nil
}

func isCheck(kind string) bool { return kind == kinds.StatusCheck || kind == kinds.StatusReply }

// A draft is a change in the making. Its plan has the change already.
type draft struct {
	Post
	plan    Plan
	change  Change
	touched []string // tasks, in order
	titled  []string // tasks that the message itself gives a title
}

func (d *draft) read() error {
	switch d.Kind {
	case kinds.IntentBrief:
		var v intentBrief
		if err := decode(d.Kind, d.Payload, &v); err != nil {
			return err
		}
		return cmp.Or(d.setIntent(v.Intent), d.patchAll(v.Tasks))
	case kinds.PlanUpdate:
		return d.propose()
	case kinds.Decision:
		return d.decide()
	case kinds.ResultBundle:
		return d.bundle()
	case kinds.Blocker, kinds.ClarificationRequest:
		return d.block()
	case kinds.ClarificationReply:
		var v ofTask
		if err := decode(d.Kind, d.Payload, &v); err != nil {
			return err
		}
		return d.resume(v.Task, v.Reason)
	case kinds.Cancel:
		return d.cancel()
	case kinds.StatusCheck:
		d.change.Checks = []Check{{ID: d.ID, From: d.From, To: d.To, At: d.At}}
	case kinds.StatusReply:
		d.answerCheck()
	case kinds.FinalResponse:
		if err := d.plan.mayEnd(); err != nil {
			return err
		}
		d.change.Final = d.ID
	}
	return nil
}

// setIntent sets the intent, unless it is the one in force.
func (d *draft) setIntent(in *Intent) error {
	if in == nil {
		return nil
	}
	next := *in
	if err := next.check(); err != nil {
		return err
	}
	next.Version = 1
	if was := d.plan.Intent; was != nil {
		if next.equal(was) {
			return nil
		}
		next.Version = was.Version + 1
	}
	d.change.Intent = &next
	d.plan.applyIntent(next)
	return nil
}

func (d *draft) patchAll(all []Patch) error {
	for i := range all {
		if err := d.patch(&all[i]); err != nil {
			return err
		}
		if all[i].Title != nil {
			d.titled = append(d.titled, all[i].ID)
		}
	}
	return nil
}

// patch adds or changes a task.
func (d *draft) patch(x *Patch) error {
	if err := x.check(); err != nil {
		return err
	}
	t, err := d.task(x)
	if err != nil {
		return err
	}
	state := t.State
	if x.Title != nil {
		t.Title = oneLine(*x.Title)
	}
	if x.Owner != nil {
		if err := d.setOwner(t, *x.Owner); err != nil {
			return err
		}
	}
	if x.After != nil {
		t.After = slices.Clone(*x.After)
	}
	if x.State != nil {
		state = *x.State
	}
	return d.setState(t, state, x.Reason)
}

// task returns the task that x changes, or a new one.
func (d *draft) task(x *Patch) (*Task, error) {
	if t := d.plan.Task(x.ID); t != nil {
		return t, nil
	}
	if x.Title == nil {
		return nil, refuse("the new task "+x.ID+" has no title", "say in a few words what is to be done")
	}
	d.plan.Tasks = append(d.plan.Tasks, Task{ID: x.ID, State: Submitted, Created: d.At, Since: d.At})
	return &d.plan.Tasks[len(d.plan.Tasks)-1], nil
}

func (d *draft) setOwner(t *Task, name string) error {
	if name == "" {
		t.Owner = ""
		return nil
	}
	id, ok := d.Owner(name)
	if !ok {
		return refuse("task "+t.ID+" cannot be of "+quote(cut(name))+", which is no worker or specialist of the room", "name a participant with one of these roles")
	}
	t.Owner = id
	return nil
}

// setState moves a task to a state and notes who did so.
func (d *draft) setState(t *Task, to State, reason string) error {
	if !t.State.May(to) {
		return &problem.Error{Code: "ROOM-TASK", What: "task " + t.ID + " is " + string(t.State) + " and stays so", Fix: "make a new task"}
	}
	if t.State != to {
		t.State, t.Since = to, d.At
	}
	if !to.waiting() {
		t.Asked = ""
	}
	t.By, t.Message, t.Reason = d.From, d.ID, oneLine(reason)
	if !slices.Contains(d.touched, t.ID) {
		d.touched = append(d.touched, t.ID)
	}
	return nil
}

// checkTasks refuses too many tasks, unknown ones that others wait for, and cycles.
func (d *draft) checkTasks() error {
	if len(d.touched) == 0 {
		return nil
	}
	if len(d.plan.Tasks) > MaxTasks {
		return refuse(fmt.Sprintf("a plan has at most %d tasks", MaxTasks), "put the rest into the description of fewer tasks")
	}
	for _, id := range d.touched {
		for _, after := range d.plan.Task(id).After {
			if d.plan.Task(after) == nil {
				return refuse("task "+id+" waits for "+quote(after)+", which is no task", "name tasks of the plan")
			}
		}
	}
	return d.plan.checkCycle()
}

// checkCycle refuses tasks that wait for each other. It removes tasks that wait for
// nothing until none is left (Kahn's algorithm).
func (p *Plan) checkCycle() error {
	left := slices.Clone(p.Tasks)
	for len(left) > 0 {
		rest := slices.DeleteFunc(slices.Clone(left), func(t Task) bool {
			return !slices.ContainsFunc(t.After, func(id string) bool {
				return slices.ContainsFunc(left, func(x Task) bool { return x.ID == id })
			})
		})
		if len(rest) == len(left) {
			return refuse("task "+left[0].ID+" waits for itself, through other tasks or directly", "let one of them wait for nothing")
		}
		left = rest
	}
	return nil
}

// finish puts the tasks that were touched into the change. A title that the message
// does not set is left out, so that each title is in the log once.
func (d *draft) finish() {
	for _, id := range d.touched {
		t := *d.plan.Task(id)
		if !slices.Contains(d.titled, id) {
			t.Title = ""
		}
		d.change.Tasks = append(d.change.Tasks, t)
	}
}
