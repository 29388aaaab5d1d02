package score

import (
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
)

// A Run is one transcript of a replay with the tallies of all policies. It is
// used by one goroutine at a time.
type Run struct {
	Place    int              // of the transcript among all of the replay
	History  *history.History // nil when the transcript has no decision points
	cases    *cases           // of the batch
	recorded *Tally
	tallies  []*Tally      // by policy
	windows  []SeatWindows // of the recorded speakers, by seat
	equal    [][]int       // in how many decisions two of them chose the same; the recorded decisions first; nil in a simulation
	choices  []history.Choice
	drawn    []drawn // by policy; nil in a simulation

	choosable int // participants that a policy can give turns in a simulation; 0 for not known
}

// AddRecorded counts the recorded decision at p.
func (r *Run) AddRecorded(p *history.Point) {
	e := drive.Recorded(p)
	r.recorded.addEvaluation(p, &e)
}

// AddWhatIf counts the recorded decision at p and those of all policies.
func (r *Run) AddWhatIf(p *history.Point, evaluations []drive.Evaluation) {
	r.AddRecorded(p)
	if p.Asked >= 0 {
		for i := range evaluations {
			r.tallies[i].addEvaluation(p, &evaluations[i])
		}
		return
	}
	r.addWindows(p)
	r.cases.addPoint(r.Place, p, evaluations)
	r.choices[0] = p.Truth
	for i := range evaluations {
		r.tallies[i].addEvaluation(p, &evaluations[i])
		r.choices[i+1] = evaluations[i].Choice
		r.drawn[i].add(p, evaluations[i].Choice)
	}
	for i, a := range r.choices {
		for j, b := range r.choices[:i] {
			if a == b {
				r.equal[i][j]++
				r.equal[j][i]++
			}
		}
		r.equal[i][i]++
	}
}

// AddSimulated counts a decision of a policy in its simulation.
func (r *Run) AddSimulated(policy int, p *history.Point, e *drive.Evaluation) {
	r.tallies[policy].addEvaluation(p, e)
}

// SetChoosable sets how many participants a policy can give turns in the
// simulations.
func (r *Run) SetChoosable(n int) { r.choosable = n }

// SetSimulation sets the result of the simulation of a policy. recordedLines is
// how many lines the transcript has.
func (r *Run) SetSimulation(policy, recordedLines int, s drive.Simulation) {
	r.recorded.simulation = &drive.Simulation{Turns: recordedLines, Said: recordedLines}
	r.tallies[policy].simulation = &s
}

// Finish completes the tallies at the end of the transcript and releases it.
func (r *Run) Finish() {
	r.recorded.finishSums(r.History)
	for _, t := range r.tallies {
		t.finishSums(r.History)
	}
	r.History.Release()
}

// DropDetails drops the decisions that were kept one by one.
func (r *Run) DropDetails() {
	for k := recorded; k < len(r.tallies); k++ {
		t := r.tally(k)
		t.choices, t.details = nil, nil
	}
}

// Decisions is how many recorded decisions r has.
func (r *Run) Decisions() int { return int(r.recorded.sums[sumDecisions]) }

// PolicyDecisions is how many decisions a policy made.
func (r *Run) PolicyDecisions(policy int) int { return int(r.tallies[policy].sums[sumDecisions]) }

// recorded stands for the recorded decisions where a policy is named by its
// index.
const recorded = -1

func (r *Run) tally(policy int) *Tally {
	if policy == recorded {
		return r.recorded
	}
	return r.tallies[policy]
}
