package plan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/kinds"
)

// Bounds of plans. Texts are bounded in bytes.
const (
	MaxTasks     = 200 // of a plan, with those that have ended
	MaxProposed  = 200 // tasks in all open proposals
	maxProposals = 20
	maxAfter     = 20
	maxItems     = 50 // constraints, criteria, targets, approvals; each
	maxObjective = 4_000
	maxItem      = 300
	maxTitle     = 200
	maxReason    = 300
	maxEvidence  = 500
	maxTaskID    = 64
	maxDepth     = 5 // of a payload
)

// A Patch adds or changes a task. A field that is nil stays as it is.
type Patch struct {
	ID     string    `json:"id"`
	Title  *string   `json:"title,omitempty"`
	Owner  *string   `json:"owner,omitempty"` // "" frees the task
	State  *State    `json:"state,omitempty"`
	After  *[]string `json:"after,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// A Result says whether a criterion of acceptance is met.
type Result struct {
	Criterion string `json:"criterion"` // its text
	Met       bool   `json:"met"`
	Evidence  string `json:"evidence,omitempty"` // required if it is met
}

// intentBrief is the payload of intent_brief, and the beginning of that of decision.
type intentBrief struct {
	Intent *Intent `json:"intent"`
	Tasks  []Patch `json:"tasks"`
}

type planUpdate struct {
	Tasks []Patch `json:"tasks"`
}

type decision struct {
	Intent  *Intent  `json:"intent"`
	Tasks   []Patch  `json:"tasks"`
	Accept  []string `json:"accept"`
	Reject  []string `json:"reject"`
	Results []Result `json:"results"`
	Waive   []string `json:"waive"`
	Task    string   `json:"task"`
}

type resultBundle struct {
	Task    string   `json:"task"`
	State   State    `json:"state"`
	Reason  string   `json:"reason"`
	Results []Result `json:"results"`
}

type waiting struct {
	Task   string `json:"task"`
	State  State  `json:"state"`
	Reason string `json:"reason"`
}

type ofTask struct {
	Task   string `json:"task"`
	Reason string `json:"reason"`
}

// Reads reports whether messages of the kind may change a plan.
func Reads(kind string) bool {
	switch kind {
	case kinds.IntentBrief, kinds.PlanUpdate, kinds.Decision, kinds.ResultBundle, kinds.Blocker, kinds.ClarificationRequest,
		kinds.ClarificationReply, kinds.Cancel, kinds.StatusCheck, kinds.StatusReply, kinds.FinalResponse:
		return true
	}
	return false
}

// decode reads a payload. An empty one is that of a message that only has a text.
func decode(kind string, payload []byte, v any) error {
	if len(bytes.TrimSpace(payload)) == 0 {
		return nil
	}
	if err := strict.Decode(payload, maxDepth, v); err != nil {
		return refuse("the payload of the "+kind+" is not valid: "+err.Error(), "docs/messages.md lists the fields of each kind")
	}
	return nil
}

// refuse returns the error of a message that changes nothing because of its payload.
func refuse(what, fix string) error { return &problem.Error{Code: "ROOM-PLAN", What: what, Fix: fix} }

// check bounds the texts of an intent and brings them into one line each.
func (in *Intent) check() error {
	if len(in.Objective) > maxObjective {
		return tooLong("the objective", maxObjective)
	}
	for _, l := range []struct {
		name  string
		items *[]string
	}{{"constraints", &in.Constraints}, {"acceptance_criteria", &in.Acceptance}, {"targets", &in.Targets}, {"approvals", &in.Approvals}} {
		if len(*l.items) > maxItems {
			return refuse(fmt.Sprintf("%d %s are over the limit of %d", len(*l.items), l.name, maxItems), "name the important ones")
		}
		*l.items = slices.Clone(*l.items)
		for i, text := range *l.items {
			if (*l.items)[i] = oneLine(text); (*l.items)[i] == "" {
				return refuse("one of the "+l.name+" is empty", "leave it out")
			}
			if len(text) > maxItem {
				return tooLong("one of the "+l.name, maxItem)
			}
		}
	}
	for i, text := range in.Acceptance {
		if slices.ContainsFunc(in.Acceptance[:i], func(x string) bool { return sameCriterion(x, text) }) {
			return refuse("the criterion "+quote(text)+" is there twice", "write it once")
		}
	}
	return nil
}

func (in *Intent) equal(b *Intent) bool {
	return in.Objective == b.Objective && slices.Equal(in.Constraints, b.Constraints) && slices.Equal(in.Acceptance, b.Acceptance) &&
		slices.Equal(in.Targets, b.Targets) && slices.Equal(in.Approvals, b.Approvals)
}

// check bounds a patch.
func (t *Patch) check() error {
	switch {
	case !validTask(t.ID):
		return refuse(quote(cut(t.ID))+" is no id of a task", fmt.Sprintf("use letters, digits, '.', '_' and '-', at most %d", maxTaskID))
	case t.Title != nil && len(*t.Title) > maxTitle:
		return tooLong("the title of task "+t.ID, maxTitle)
	case t.Title != nil && oneLine(*t.Title) == "":
		return refuse("the title of task "+t.ID+" is empty", "say in a few words what is to be done")
	case len(t.Reason) > maxReason:
		return tooLong("the reason of task "+t.ID, maxReason)
	case t.State != nil && !t.State.valid():
		return refuse("task "+t.ID+" cannot have the state "+quote(cut(string(*t.State))), "use submitted, working, input_required, auth_required, completed, failed, canceled or rejected")
	case t.After != nil && len(*t.After) > maxAfter:
		return refuse(fmt.Sprintf("task %s waits for more than %d others", t.ID, maxAfter), "split it")
	}
	if t.After != nil {
		for _, id := range *t.After {
			if !validTask(id) {
				return refuse("task "+t.ID+" waits for "+quote(cut(id))+", which is no id of a task", "name other tasks by their ids")
			}
		}
	}
	return nil
}

// validTask reports whether id has the form of the id of a task.
func validTask(id string) bool {
	for i := range len(id) {
		c := id[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return id != "" && len(id) <= maxTaskID
}

// sameCriterion compares the texts of criteria without regard to case, to spaces and to
// a full stop.
func sameCriterion(a, b string) bool {
	plain := func(s string) string { return strings.TrimSuffix(oneLine(s), ".") }
	return strings.EqualFold(plain(a), plain(b))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func tooLong(what string, limit int) error {
	return refuse(fmt.Sprintf("%s is over the limit of %d bytes", what, limit), "shorten it")
}

func quote(s string) string { return "\"" + s + "\"" }

// cut shortens what is quoted in an error.
func cut(s string) string {
	if len(s) <= maxTaskID {
		return s
	}
	return strings.ToValidUTF8(s[:maxTaskID], "") + "…"
}
