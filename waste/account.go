package waste

import (
	"cmp"
	"path"
	"path/filepath"

	"github.com/folkmoot/moot/transcripts"
)

// A Run describes a conversation or room before its turns are counted.
type Run struct {
	Name    string // id of the conversation or the room
	File    string // "" for a room of the data folder
	Mistake int    // index of the turn that is labelled as the decisive error; NoTurn if there is no label
	Outcome Outcome
}

// NoTurn stands for the index of a turn that does not exist.
const NoTurn = -1

// An Outcome says whether a run has succeeded.
type Outcome int8

// Outcomes.
const (
	Unknown Outcome = iota
	Failed
	Succeeded
)

// group returns the name of the group of the run: its name up to the last slash, else
// its file.
func (r *Run) group() string {
	if dir := path.Dir(r.Name); dir != "." && dir != "/" {
		return dir
	}
	return cmp.Or(filepath.Base(r.File), "rooms")
}

// An Account adds up the waste of runs. The zero Account is empty. It is used by one
// goroutine at a time.
type Account struct {
	Guard string         // name of the policy that Watch is of; "" for none
	Watch func() Watcher // returns the watcher of a new run; nil for none

	// TrainedOn names the data in which the figures of that policy are too good; "" if
	// none is known.
	TrainedOn string

	// Step, when set, is called before each turn. An error ends the run there.
	Step func() error

	total  sums
	kinds  [resent + 1]kindSums
	groups []*groupSums
	byName map[string]*groupSums
	guard  guardSums
}

// A Watcher watches the turns of one run. The run would have ended after the first turn
// that it flags.
type Watcher interface {
	Join(transcripts.Participant)
	Flags(speaker, text string) bool
}

// resent is the place of ResentContext, the last kind.
const resent = 5

// sums are the figures of a set of turns.
type sums struct {
	turns, tokens    int64
	prompts          int64 // tokens of prompts
	runs             int64
	estimated        int64 // turns whose tokens are an estimate
	prompted         int64 // turns with a prompt
	promptsEstimated int64 // of these, those whose prompt is an estimate
}

func (s *sums) add(t *turnCost) {
	s.turns++
	s.tokens += t.tokens
	s.prompts += t.prompt
}

// kindSums are the figures of a kind: of the turns that count as it, and of all turns
// that are of it, whatever else they are.
type kindSums struct {
	sums
	of       sums
	examples []Example
}

// groupSums are the figures of a group of runs.
type groupSums struct {
	name              string
	failed, succeeded int64
	labelled          sums // all turns of the runs that have a label
	total             sums
	waste             sums
	after             sums
}

// guardSums are what a guard would have done.
type guardSums struct {
	stopped, early, good, goodStopped int64
	sums                              // of the turns that it would have prevented
}

// maxGroups bounds the number of groups. Further runs are in a group of their own.
const (
	maxGroups   = 50
	otherGroups = "others"
)

// group returns the group of a run.
func (a *Account) group(r *Run) *groupSums {
	if a.byName == nil {
		a.byName = map[string]*groupSums{}
	}
	name := r.group()
	if a.byName[name] == nil && len(a.groups) >= maxGroups {
		name = otherGroups
	}
	g := a.byName[name]
	if g == nil {
		g = &groupSums{name: name}
		a.byName[name] = g
		a.groups = append(a.groups, g)
	}
	return g
}
