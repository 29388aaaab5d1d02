package habit

import "github.com/folkmoot/moot/policies/policy"

// The rules that decide when the latest message asks for no participant.
const (
	Ngram3      = "ngram3"       // followed the latest two speakers most often, or else the latest one
	Bigram      = "bigram"       // followed the latest speaker most often
	Freq        = "freq"         // has the most turns
	ABA         = "ABA"          // spoke before the latest speaker
	RoundRobin  = "round-robin"  // comes next in the order of the participants
	LeastRecent = "least-recent" // has been silent for longest
	BestRule    = "experts"      // the rule above that was right most often recently decides
	None        = "none"         // no participant is chosen
)

// experts are the rules that BestRule chooses from. Ties go to the earlier one.
var experts = [...]string{Ngram3, ABA, Bigram, Freq, RoundRobin, LeastRecent}

// A Rule chooses among candidates: the one that the latest message addresses, if
// Address is set; or else the one that it names, if Mention is set; or else the one
// that the rule Then prefers.
type Rule struct {
	Address, Mention bool
	Then             string
}

// A Candidate is what a rule knows of a participant that may speak next.
type Candidate struct {
	Addressed bool            // the latest message addresses it
	Named     int             // how strongly the latest message names it, see [Named]; 0 for not at all
	Turns     int             // that it had
	Followed  policy.Followed // how often it followed the latest speakers
	Spoke     int             // when it spoke last, higher for later; 0 for never
	Steps     int             // from the latest speaker to it, in the order of the participants
}

// Keys rate a candidate. The highest first key wins, of equals the highest second key,
// and so on: the last key is when the candidate spoke. Candidates with equal keys are
// ties.
type Keys [5]int

// never is the silence of a candidate that has never spoken.
const never = 1<<31 - 1

// Keys returns the keys of a candidate. Then must be no BestRule, whose choice
// is [Experts.Best].
func (r Rule) Keys(c *Candidate) Keys {
	k := Keys{4: c.Spoke}
	if r.Address && c.Addressed {
		k[0] = 1
	}
	if r.Mention {
		k[1] = c.Named
	}
	switch r.Then {
	case Ngram3:
		k[2], k[3] = c.Followed.LastTwo, c.Followed.Last
	case Bigram:
		k[2] = c.Followed.Last
	case Freq:
		k[2] = c.Turns
	case RoundRobin:
		k[2] = -c.Steps
	case LeastRecent:
		k[2] = -c.Spoke
		if c.Spoke == 0 {
			k[2] = never
		}
	}
	return k
}

// Asks reports whether the latest message asks for the candidate with these keys.
func (k Keys) Asks() bool { return k[0] > 0 || k[1] > 0 }

// Compare returns a number above 0 if k wins over other, 0 for a tie.
func (k Keys) Compare(other Keys) int {
	for i := range k {
		if d := k[i] - other[i]; d != 0 {
			return d
		}
	}
	return 0
}

// Named is how strongly a message names a participant: most if the name is the very
// start of the message, then if it is the last name in it, and then by its place at
// among all names.
func Named(at int, first, last bool) int {
	switch {
	case first:
		return 1e6
	case last:
		return 1000
	}
	return 1 + at
}

// Experts follow the best of several rules, with exponentially decaying counts of how
// often each was right (follow the leader, see Cesa-Bianchi and Lugosi, Prediction,
// Learning, and Games, 2006). The zero value is a room before the first decision.
type Experts struct {
	right [len(experts)]float64
	picks [len(experts)]int // of the rules at the previous decision
	asked bool              // picks are set
}

// decay is the factor by which a count decays at each decision.
const decay = 0.95

// Learn counts which of the rules foresaw the speaker.
func (x *Experts) Learn(speaker int) {
	for i := range x.right {
		x.right[i] = float64(decay * x.right[i]) // the conversion keeps processors from fusing this with the next line
		if x.asked && x.picks[i] == speaker {
			x.right[i]++
		}
	}
}

// Best returns the rule that was right most often recently.
func (x *Experts) Best() string {
	best := 0
	for i := range x.right {
		if x.right[i] > x.right[best] {
			best = i
		}
	}
	return experts[best]
}

// Predict notes whom each of the rules would choose, as pick returns it.
func (x *Experts) Predict(pick func(Rule) int) {
	x.asked = true
	for i, name := range experts {
		x.picks[i] = pick(Rule{Then: name})
	}
}
