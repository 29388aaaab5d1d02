package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/problem"
)

// bundle ends a task of its sender and judges criteria.
func (d *draft) bundle() error {
	var v resultBundle
	if err := decode(d.Kind, d.Payload, &v); err != nil {
		return err
	}
	to := cmp.Or(v.State, Completed)
	if !to.Ended() || to == Canceled {
		return refuse("a result_bundle cannot leave its task "+quote(cut(string(to))), "use completed, failed or rejected")
	}
	if v.Task != "" {
		t, err := d.own(v.Task)
		if err != nil {
			return err
		}
		if err := cmp.Or(checkReason(t, v.Reason), d.setState(t, to, v.Reason)); err != nil {
			return err
		}
	} else if v.State != "" {
		return refuse("the result_bundle names a state and no task", "name the task")
	}
	return d.judge(v.Results)
}

// judge notes which criteria are met.
func (d *draft) judge(results []Result) error {
	for _, r := range results {
		c, err := d.criterion(r.Criterion)
		switch {
		case err != nil:
			return err
		case r.Met && oneLine(r.Evidence) == "":
			return refuse("the criterion "+quote(cut(r.Criterion))+" is said to be met without evidence", "say in evidence how that was seen")
		case len(r.Evidence) > maxEvidence:
			return tooLong("the evidence of a criterion", maxEvidence)
		}
		d.setCriterion(Criterion{Number: c.Number, Met: r.Met, Waived: c.Waived, Evidence: oneLine(r.Evidence), By: d.From, Message: d.ID})
	}
	return nil
}

// waive notes that the manager does not insist on criteria.
func (d *draft) waive(criteria []string) error {
	for _, text := range criteria {
		c, err := d.criterion(text)
		if err != nil {
			return err
		}
		c.Waived, c.By, c.Message = true, d.From, d.ID
		d.setCriterion(c)
	}
	return nil
}

// criterion returns the criterion with that text.
func (d *draft) criterion(text string) (Criterion, error) {
	var texts []string
	if d.plan.Intent != nil {
		texts = d.plan.Intent.Acceptance
	}
	for i, t := range texts {
		if sameCriterion(t, text) {
			return d.plan.Criteria[i], nil
		}
	}
	known := "there are none"
	if len(texts) > 0 {
		known = "they are: \"" + strings.Join(texts, "\", \"") + "\""
	}
	return Criterion{}, refuse("unknown criterion of acceptance "+quote(cut(text)), "use the texts of the intent; "+known)
}

func (d *draft) setCriterion(c Criterion) {
	d.plan.Criteria = slices.Clone(d.plan.Criteria)
	d.plan.Criteria[c.Number-1] = c
	d.change.Criteria = append(slices.DeleteFunc(d.change.Criteria, func(x Criterion) bool { return x.Number == c.Number }), c)
}

// mayEnd says what keeps the final response from being given.
func (p *Plan) mayEnd() error {
	var why []string
	for _, c := range p.Judged() {
		if c.Open() {
			why = append(why, "not met: "+quote(c.Text))
		}
	}
	for _, t := range p.OpenTasks() {
		w := "open: task " + t.ID + " (" + string(t.State)
		if t.Owner != "" {
			w += ", of " + t.Owner
		}
		why = append(why, w+")")
	}
	if len(why) == 0 {
		return nil
	}
	const most = 10
	if n := len(why) - most; n > 0 {
		why = append(why[:most], "and "+strconv.Itoa(n)+" more")
	}
	return &problem.Error{
		Code: "ROOM-UNMET", What: "the final response is not accepted: " + strings.Join(why, "; "),
		Fix: `waive criteria with a decision whose payload is {"waive": ["text of the criterion"]}, cancel tasks with a cancel whose payload is {"task": "id"}, then send it again`,
	}
}
