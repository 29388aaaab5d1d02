package score

// A Result is the figures of one policy, or of the recorded decisions. Its JSON
// form is part of that of a report.
type Result struct {
	Policy     string `json:"policy"`
	Use        string `json:"use,omitempty"`
	Digest     string `json:"digest,omitempty"`
	Settings   string `json:"settings,omitempty"`
	Unmeasured string `json:"unmeasured,omitempty"` // why there are no figures
	Reference  bool   `json:"reference,omitempty"`  // a baseline: not a module, and not sandboxed

	Decisions int    `json:"decisions"`
	Hits      Figure `json:"hits"`     // a choice that shares its place with others counts by its probability
	Declines  int    `json:"declines"` // finishes included
	Finishes  int    `json:"finishes"`
	Errors    int    `json:"errors"`
	Tied      int    `json:"tied,omitempty"` // choices that share their place with others

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

	SpeakOrSilent

	Intervals map[string][2]Figure `json:"intervals"` // 95 %, by key of the figure
	N         map[string]int       `json:"n"`         // decisions measured, by key of the figure

	Silence    *Silence   `json:"silence,omitempty"`
	Risk       *Risk      `json:"risk,omitempty"`    // of a policy that states a confidence
	Tokens     int64      `json:"tokens"`            // estimate of all prompts
	Cost       int64      `json:"cost"`              // of the prompts, in millionths, where participants have a price
	Completion int64      `json:"completion_tokens"` // estimate of all replies: the mean of the seat's recorded ones
	ReplyCost  int64      `json:"completion_cost"`   // of the replies, in millionths
	TurnMS     int64      `json:"turn_ms"`           // estimate of the time of all turns, from recorded latencies; 0 for none
	P50        Figure     `json:"p50_ms"`            // time of a decision
	P99        Figure     `json:"p99_ms"`            //
	Times      []TimeSlot `json:"times,omitempty"`   // histogram of the times
	Repeated   int        `json:"repeated"`          // decisions made twice
	Differing  int        `json:"differing"`         // of them, with different bytes or fuel
	Flips      Flips      `json:"flips"`             // decisions other than recorded
	Reasons    []Reason   `json:"reasons"`           // the most frequent
	Run        *Simulated `json:"run,omitempty"`     // of a simulation
	FirstError string     `json:"first_error,omitempty"`
}

// Silence is the view in which a person, a tool and nobody all count as
// silence. Precision and recall are those of a binary classifier.
type Silence struct {
	Decisions        int    `json:"decisions"`
	TrueRate         Figure `json:"true_rate"`
	Accuracy         Figure `json:"accuracy"`
	SilencePrecision Figure `json:"silence_precision"`
	SilenceRecall    Figure `json:"silence_recall"`
	SpeakPrecision   Figure `json:"speak_precision"`
	SpeakRecall      Figure `json:"speak_recall"`
}

// Flips counts the decisions of a policy that differ from the recorded ones.
type Flips struct {
	Total          int    `json:"total"`
	SpeakToDecline int    `json:"speak_to_decline"`
	DeclineToSpeak int    `json:"decline_to_speak"`
	OtherSpeaker   int    `json:"other_speaker"`
	Examples       []Flip `json:"examples,omitempty"`
}

// A Flip is a decision that differs from the recorded one.
type Flip struct {
	Transcript string `json:"transcript"`
	Point      int    `json:"point"` // number of the decision point, from 1
	Turn       int    `json:"turn"`  // that was decided about
	Seq        int64  `json:"seq,omitempty"`
	From       string `json:"from"` // recorded: a participant, decline or finish
	To         string `json:"to"`   // chosen: the same, or error
	Reason     string `json:"reason,omitempty"`
}

// A Reason is how often a policy gave one reason. IDs of participants are
// replaced by an ellipsis.
type Reason struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// Simulated says how the simulated rooms of a policy went, or the recorded
// ones.
type Simulated struct {
	Turns    int      `json:"turns"`  // granted
	Said     int      `json:"said"`   // of them, with a recorded line
	Passed   int      `json:"passed"` // of them, without a line left
	Failed   int      `json:"failed,omitempty"`
	Unspoken int      `json:"unspoken"` // recorded lines that were not posted
	Endings  []Ending `json:"endings,omitempty"`
}

// An Ending is how many rooms ended in one way.
type Ending struct {
	Ending string `json:"ending"`
	Rooms  int    `json:"rooms"`
}
