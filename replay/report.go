package replay

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// ReportVersion is the version of the JSON form of reports. Fields are added,
// never renamed.
const ReportVersion = 1

// Modes of a replay.
const (
	ModeWhatIf   = "what-if"
	ModeSimulate = "simulate"
)

// A Report says what came out. Its JSON form is the contract of `-o json`, and
// holds all that the HTML page shows.
type Report struct {
	Version       int           `json:"moot_replay"`
	Mode          string        `json:"mode"`
	Points        string        `json:"decision_points"`
	Notes         []string      `json:"notes"` // what the figures do not say
	Conversations int           `json:"conversations"`
	Dropped       int           `json:"dropped"` // with too few participants or turns
	Decisions     int           `json:"decisions"`
	Participants  int           `json:"participants"` // different ids
	Resamples     int           `json:"resamples"`
	Seconds       float64       `json:"seconds"`
	Recorded      Result        `json:"recorded"`
	Policies      []Result      `json:"policies"`
	Comparisons   []Comparison  `json:"comparisons,omitempty"`
	Agreement     [][]Figure    `json:"agreement"` // recorded first, then the policies in order
	Windows       []SeatWindows `json:"windows"`
	Airtime       []Airtime     `json:"airtime"`
	Curve         Curve         `json:"token_curve"`
	Transcripts   []Conversed   `json:"transcripts"`
	Strips        []Strip       `json:"strips"`
	Gates         []Gate        `json:"gates,omitempty"`
	Changes       *Changes      `json:"changes,omitempty"` // of a page that shows two reports
}

// A Result is what one policy did, or what was recorded.
type Result struct {
	Policy    string `json:"policy"`
	Use       string `json:"use,omitempty"`
	Digest    string `json:"digest,omitempty"`
	Settings  string `json:"settings,omitempty"`
	Reference bool   `json:"reference,omitempty"` // a baseline: not a module, and not sandboxed

	Decisions int `json:"decisions"`
	Hits      int `json:"hits"`
	Declines  int `json:"declines"` // finishes included
	Finishes  int `json:"finishes"`
	Errors    int `json:"errors"`

	Accuracy           Figure `json:"accuracy"`
	MacroAccuracy      Figure `json:"macro_accuracy"`
	AccuracySeen       Figure `json:"accuracy_seen"`
	SelectiveAccuracy  Figure `json:"selective_accuracy"`
	MRR                Figure `json:"mrr"`
	DeclineRate        Figure `json:"decline_rate"`
	BalancedAccuracy   Figure `json:"balanced_accuracy"`
	TopSpeaker         Figure `json:"top_speaker"`
	Gini               Figure `json:"gini"`
	Entropy            Figure `json:"entropy"`
	AddressedNotChosen Figure `json:"addressed_not_chosen"`
	TokensADecision    Figure `json:"tokens_a_decision"`

	Intervals map[string][2]Figure `json:"intervals"` // 95 %, by the key of the figure
	N         map[string]int       `json:"n"`         // of how many decisions, by the key of the figure

	Silence    *Silence   `json:"silence,omitempty"`
	Risk       *Risk      `json:"risk,omitempty"`  // of a policy that states a confidence
	Tokens     int64      `json:"tokens"`          // estimate of all prompts
	Cost       int64      `json:"cost"`            // of these, in millionths, where seats have a price
	P50        Figure     `json:"p50_ms"`          // time of a decision
	P99        Figure     `json:"p99_ms"`          //
	Times      []TimeSlot `json:"times,omitempty"` // how many decisions took how long
	Repeated   int        `json:"repeated"`        // decisions made twice
	Differing  int        `json:"differing"`       // of them, with other bytes or other fuel
	Flips      Flips      `json:"flips"`           // against the recorded
	Reasons    []Reason   `json:"reasons"`         // the most frequent
	Run        *Simulated `json:"run,omitempty"`   // in simulate
	FirstError string     `json:"first_error,omitempty"`
}

// Silence is the view in which a person, a tool and nobody are all silence.
type Silence struct {
	Decisions        int    `json:"decisions"`
	TrueRate         Figure `json:"true_rate"`
	Accuracy         Figure `json:"accuracy"`
	SilencePrecision Figure `json:"silence_precision"`
	SilenceRecall    Figure `json:"silence_recall"`
	SpeakPrecision   Figure `json:"speak_precision"`
	SpeakRecall      Figure `json:"speak_recall"`
}

// Flips counts what a policy would have done otherwise.
type Flips struct {
	Total          int    `json:"total"`
	SpeakToDecline int    `json:"speak_to_decline"`
	DeclineToSpeak int    `json:"decline_to_speak"`
	OtherSpeaker   int    `json:"other_speaker"`
	Examples       []Flip `json:"examples,omitempty"`
}

// A Comparison tells whether two policies truly differ, or one from what was
// recorded.
type Comparison struct {
	A          string    `json:"a"` // a policy, or recorded
	B          string    `json:"b"`
	Figure     string    `json:"figure"`
	Difference Figure    `json:"difference"` // B minus A
	Interval   [2]Figure `json:"interval"`
	P          Figure    `json:"p"`
}

// SeatWindows says what one participant would have been handed at its turns.
type SeatWindows struct {
	Participant string   `json:"participant"`
	Turns       int      `json:"turns"`
	Budgets     []Budget `json:"budgets"`
}

// A Budget is a bound on windows in tokens; 0 is none.
type Budget struct {
	Budget  int   `json:"budget"`
	Tokens  int64 `json:"tokens"`  // of all its turns
	Omitted int   `json:"omitted"` // messages of which it would only have had the count
}

// Airtime is how often one participant was chosen: as recorded, and by each
// policy.
type Airtime struct {
	Participant string `json:"participant"`
	Chosen      []int  `json:"chosen"`
}

// A Curve is the tokens of prompts, added up.
type Curve struct {
	Unit   string    `json:"unit"` // transcripts or decisions
	Total  int       `json:"total"`
	Tokens [][]int64 `json:"tokens"` // recorded first, then by policy: at evenly spaced places, the last at the end
}

// A Reason is why a policy decided as it did; participants are left out of it.
type Reason struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// Conversed is one transcript of the report.
type Conversed struct {
	Name      string `json:"name"`
	Decisions int    `json:"decisions"`
	Hits      []int  `json:"hits"` // by policy
}

// A Strip is one transcript decision by decision, as far as is kept.
type Strip struct {
	Transcript   string   `json:"transcript"`
	Judged       bool     `json:"judged"` // all rows are about the same decisions, so that they can differ
	Participants []string `json:"participants"`
	Reasons      []string `json:"reasons"`
	Rows         []Row    `json:"rows"` // the recorded first, then the policies
}

// A Row is what one policy said at each decision.
type Row struct {
	Said Cells `json:"said"` // places in Participants
	Why  Cells `json:"why"`  // places in Reasons
}

// Cells are answers in the order of the decisions: a place in a list, or none.
// Their JSON form is one string with a word for each, d for decline, f for
// finish and e for an error.
type Cells []int16

// MarshalJSON writes one string.
func (c Cells) MarshalJSON() ([]byte, error) {
	b := []byte{'"'}
	for i, x := range c {
		if i > 0 {
			b = append(b, ' ')
		}
		switch answer(x) {
		case declined:
			b = append(b, 'd')
		case finished:
			b = append(b, 'f')
		case failed:
			b = append(b, 'e')
		default:
			b = strconv.AppendInt(b, int64(x), 10)
		}
	}
	return append(b, '"'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Cells) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	*c = nil
	for _, word := range strings.Fields(text) {
		x := map[string]answer{"d": declined, "f": finished, "e": failed}[word]
		if x == 0 {
			n, err := strconv.ParseUint(word, 10, 15)
			if err != nil {
				return fmt.Errorf("%q is no answer", word)
			}
			x = answer(n)
		}
		*c = append(*c, int16(x))
	}
	return nil
}

// title is the first line of a report.
func (r *Report) title() string {
	what := r.Mode + " on recorded history"
	if r.Mode == ModeSimulate {
		what = "simulate: policies drive recorded agents"
	}
	return fmt.Sprintf("%s · %s · %s · %s · %.1f s", what,
		count(r.Conversations, "transcript"), count(r.Decisions, "round"), count(r.Participants, "participant"), r.Seconds)
}
