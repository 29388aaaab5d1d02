// Package training learns the model of package wasteguard from runs with labelled
// errors, and measures it on runs that it has not seen.
//
// Training is deterministic: the same runs give the same bytes.
package training

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"

	"github.com/folkmoot/moot/internal/minhash"
	"github.com/folkmoot/moot/policies/wasteguard"
	"github.com/folkmoot/moot/transcripts"
)

// A Run is a conversation with the turn of its decisive error.
type Run struct {
	ID      string
	Task    string // runs of one task are not independent, so they are in one fold
	Mistake int    // index of the turn
	turns   []turn
	sketch  minhash.Sketch // of its texts
}

type turn struct {
	x       wasteguard.Features
	judged  bool // not a person's
	trivial bool // the trivial rule flags it
}

// NewRun reads the features of a conversation whose decisive error is in the turn
// mistake. Each turn is one message, as in a room; replay merges turns instead.
func NewRun(c *transcripts.Conversation, mistake int) *Run {
	r := &Run{ID: c.ID, Task: task(c), Mistake: mistake}
	spoke := map[string]bool{}
	var g Guard
	for _, p := range c.Participants {
		g.Join(p)
	}
	texts := make([][]string, len(c.Turns))
	for i := range c.Turns {
		e := g.event(c.Turns[i].Speaker, c.Turns[i].Text)
		t := turn{trivial: i > 0 && !spoke[e.From] && e.Bytes > trivialLength}
		t.x, t.judged = g.watch.Next(&g.in, e)
		spoke[e.From] = true
		r.turns = append(r.turns, t)
		texts[i] = strings.Fields(strings.ToLower(c.Turns[i].Text))
	}
	r.sketch = minhash.Of(texts...)
	return r
}

// nearFrom is the similarity from which a run nearly repeats another one.
const nearFrom = 0.5

// Relate gives runs that nearly repeat an earlier one the task of that run, and returns
// their number.
func Relate(runs []*Run) (near int) {
	var index minhash.Index
	for i, r := range runs {
		if like, alike := index.Nearest(r.sketch); alike >= nearFrom {
			near++
			for _, other := range runs[:i] {
				if other.Task == r.Task {
					other.Task = runs[like].Task
				}
			}
			r.Task = runs[like].Task
		}
		index.Add(r.sketch)
	}
	return near
}

// trivialLength is that of the trivial rule: the first turn of a speaker, if it has more
// bytes and is not the first turn of the run.
const trivialLength = 300

// group is the part of the id of a run before the last slash: the runs of one system.
func (r *Run) group() string {
	if dir := path.Dir(r.ID); dir != "." {
		return dir
	}
	return "runs"
}

// after is the number of turns after the error.
func (r *Run) after() int { return len(r.turns) - 1 - r.Mistake }

// task is the objective that the source states, or else the id.
func task(c *transcripts.Conversation) string {
	var extra struct {
		Objective string `json:"objective"`
	}
	if json.Unmarshal(c.Extra, &extra) != nil { // a field of another type counts as none
		extra.Objective = ""
	}
	return cmp.Or(extra.Objective, c.ID)
}
