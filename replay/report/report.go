package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/score"
)

// Version is the version of the JSON form of reports. Fields are added, never
// renamed.
const Version = 1

// Modes of a replay.
const (
	ModeWhatIf   = "what-if"
	ModeSimulate = "simulate"
)

// A Report is the result of a replay.
type Report struct {
	Version       int                    `json:"moot_replay"`
	Mode          string                 `json:"mode"`
	Points        string                 `json:"decision_points"`
	Notes         []string               `json:"notes"` // what the figures do not say
	Conversations int                    `json:"conversations"`
	Dropped       int                    `json:"dropped"` // with too few participants or turns
	Decisions     int                    `json:"decisions"`
	Participants  int                    `json:"participants"` // different IDs
	Resamples     int                    `json:"resamples"`
	Clock         string                 `json:"clock,omitempty"` // what the times of decisions are
	Seconds       float64                `json:"seconds"`
	Recorded      score.Result           `json:"recorded"`
	Policies      []score.Result         `json:"policies"`
	Comparisons   []score.Comparison     `json:"comparisons,omitempty"`
	Agreement     [][]score.Figure       `json:"agreement"` // recorded first, then the policies in order
	Windows       []score.SeatWindows    `json:"windows"`
	Airtime       []score.Airtime        `json:"airtime"`
	Curve         score.Curve            `json:"token_curve"`
	Transcripts   []score.TranscriptHits `json:"transcripts"`
	Strips        []score.Strip          `json:"strips"`
	Seats         []score.SeatSpending   `json:"seats,omitempty"`
	Confusion     []score.Confusion      `json:"confusion,omitempty"` // none in a simulation
	Kinds         []score.Kind           `json:"kinds,omitempty"`     // of the decisions to read
	Cases         []score.Case           `json:"cases,omitempty"`     // some decisions of each kind
	Gates         []Gate                 `json:"gates,omitempty"`
	SampleOf      int                    `json:"sample_of,omitempty"` // decision points of the transcripts; Decisions are a sample of them
	Partial       bool                   `json:"partial,omitempty"`   // the replay was interrupted
	Cut           int                    `json:"cut,omitempty"`       // transcripts that were replayed in part
	Outcome       *score.Outcome         `json:"outcome,omitempty"`   // of the field that was asked for
	Changes       *Changes               `json:"changes,omitempty"`   // of a page that shows two reports
}

// New returns the report of a batch, with figures from n bootstrap resamples
// that so many goroutines draw. detailed are the runs that are shown decision by
// decision.
func New(b *score.Batch, n, workers int, detailed []*score.Run) *Report {
	r := &Report{
		Version: Version, Mode: ModeWhatIf, Points: points(b), Conversations: len(b.Runs), Decisions: b.Decisions(), Resamples: n,
		Notes: []string{
			"what-if on recorded history: after a policy's first different choice, the later decision points still show what really followed",
			"agreement is not quality: the recorded choice is what happened, not what was best",
		},
	}
	if b.Simulated {
		r.Mode, r.Notes = ModeSimulate, []string{
			"simulate: a policy runs the recorded agents from the start; a chosen agent posts its next recorded line, and passes when none is left",
			"airtime, declines, limits and endings are those of the room; the texts are not what would have been said",
		}
	}
	b.DropUnmeasured()
	r.Notes = slices.Concat(b.Limits(), b.Inference(), r.Notes)
	r.Clock = drive.Clock
	values := b.Resample(n, workers)
	ids := map[string]bool{}
	for _, run := range b.Runs {
		for _, s := range run.History.Seats {
			ids[s.ID] = true
		}
	}
	r.Participants = len(ids)
	r.Transcripts = b.Hits()
	r.Recorded = b.Recorded(values)
	for i := range b.Policies {
		r.Policies = append(r.Policies, b.Result(i, values))
	}
	r.Comparisons = b.Comparisons(&r.Recorded, r.Policies, values)
	r.Agreement = b.Agreement()
	r.Windows = b.Windows()
	r.Airtime = b.Airtime()
	r.Curve = b.Curve()
	r.Seats = b.Seats()
	r.Confusion = b.Confusion()
	if !b.Simulated {
		r.Kinds, r.Cases = b.Cases()
	}
	for _, run := range detailed {
		r.Strips = append(r.Strips, run.Strip())
	}
	return r
}

// points names what the decision points are.
func points(b *score.Batch) string {
	conversations := 0
	for _, r := range b.Runs {
		if r.History.Conversation() {
			conversations++
		}
	}
	switch conversations {
	case len(b.Runs):
		return "merged turns"
	case 0:
		return "recorded rounds"
	}
	return "merged turns and recorded rounds"
}

// maxBytes bounds a report that is read, in bytes.
const maxBytes = 256 << 20

// Read reads the JSON form of a report. name is the file in errors. Unknown
// fields are ignored, because later releases add some.
func Read(r io.Reader, name string) (*Report, error) {
	fail := func(what string, err error) (*Report, error) {
		return nil, &problem.Error{
			Code: "REPLAY-REPORT", What: what, Where: name, Err: err,
			Fix: "give a file that `moot replay ... -o json` wrote",
		}
	}
	b, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	switch {
	case err != nil:
		return fail("the report cannot be read", err)
	case len(b) > maxBytes:
		return fail(fmt.Sprintf("the report is larger than %d MiB", maxBytes>>20), nil)
	}
	out := &Report{}
	if err := json.Unmarshal(b, out); err != nil {
		return fail("the file is not a report", err)
	}
	if out.Version < 1 || out.Version > Version {
		return fail(fmt.Sprintf("report version %d is not supported; this moot reads 1 to %d", out.Version, Version), nil)
	}
	return out, nil
}

// policy returns the result of a policy, nil for an unknown name.
func (r *Report) policy(name string) *score.Result {
	for i := range r.Policies {
		if r.Policies[i].Policy == name {
			return &r.Policies[i]
		}
	}
	return nil
}

// withRecorded returns the comparison of a policy with the recorded decisions;
// nil for none.
func (r *Report) withRecorded(policy, figure string) *score.Comparison {
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.A == score.RecordedName && c.B == policy && c.Figure == figure {
			return c
		}
	}
	return nil
}

// columns names the recorded decisions and the policies.
func (r *Report) columns() []string {
	names := []string{score.RecordedName}
	for i := range r.Policies {
		names = append(names, term.Line(r.Policies[i].Policy))
	}
	return names
}

// result returns the result of a column.
func (r *Report) result(column int) *score.Result {
	if column == 0 {
		return &r.Recorded
	}
	return &r.Policies[column-1]
}

// heading names the policies.
func (r *Report) heading() string {
	policies := strings.Join(r.columns()[1:], ", ")
	if r.Changes != nil {
		return "Two replays: " + policies
	}
	return "Replay of " + policies
}

// summary is the first line of a report.
func (r *Report) summary() string {
	mode := r.Mode + " on recorded history"
	if r.Mode == ModeSimulate {
		mode = "simulate: policies run recorded agents"
	}
	return fmt.Sprintf("%s · %s · %s · %s", mode,
		count(r.Conversations, "transcript"), r.extent(), count(r.Participants, "participant"))
}

// scope says what the decision points are, what was left out, and how long it
// took.
func (r *Report) scope() string {
	s := "decision points: " + r.Points
	if r.Dropped > 0 {
		s += fmt.Sprintf(" · %s left out (too few participants or turns)", count(r.Dropped, "transcript"))
	}
	return s + fmt.Sprintf(" · %.1f s", r.Seconds)
}
