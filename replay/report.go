package replay

import "fmt"

// ReportVersion is the version of the JSON form of reports. Fields are added,
// never renamed.
const ReportVersion = 1

// A Report says what came out. Its JSON form is the contract of `-o json`.
type Report struct {
	Version       int           `json:"moot_replay"`
	Mode          string        `json:"mode"` // what-if
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
	Transcripts   []Conversed   `json:"transcripts"`
	Gates         []Gate        `json:"gates,omitempty"`

	trials []*trial
}

// A Result is what one policy did, or what was recorded.
type Result struct {
	Policy   string `json:"policy"`
	Use      string `json:"use,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Settings string `json:"settings,omitempty"`

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
	AddressedNotChosen Figure `json:"addressed_not_chosen"`

	Intervals map[string][2]Figure `json:"intervals"` // 95 %, by the key of the figure

	Silence    *Silence `json:"silence,omitempty"`
	Tokens     int64    `json:"tokens"` // estimate of all prompts
	P50        Figure   `json:"p50_ms"`
	P99        Figure   `json:"p99_ms"`
	Repeated   int      `json:"repeated"`  // decisions made twice
	Differing  int      `json:"differing"` // of them, with other bytes or other fuel
	Flips      Flips    `json:"flips"`     // against the recorded
	FirstError string   `json:"first_error,omitempty"`
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

// A Comparison tells whether two policies truly differ.
type Comparison struct {
	A          string    `json:"a"`
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

// Conversed is one transcript of the report.
type Conversed struct {
	Name      string `json:"name"`
	Decisions int    `json:"decisions"`
	Hits      []int  `json:"hits"` // by policy
}

// title is the first line of a report.
func (r *Report) title() string {
	return fmt.Sprintf("%s on recorded history · %s · %s · %s · %.1f s", r.Mode,
		count(r.Conversations, "transcript"), count(r.Decisions, "round"), count(r.Participants, "participant"), r.Seconds)
}
