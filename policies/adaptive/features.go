package adaptive

// Features of a candidate. The score of a candidate is the sum of its features
// times the weights of a component. A fact is a feature that is 0 or 1. All
// features are 0 by default; ln is the natural logarithm.
const (
	// Logarithms of probabilities, from the counts of room.go.
	fRecency     = iota // by recency
	fRecency2           // by recency, after the last two transitions
	fRecencyFast        // by recency, recent turns
	fTurns              // by turns
	fTurnsFast          // by turns, recent turns
	fPair               // after the last speaker
	fTriple             // after the last two
	fKind               // by kind, after the kind of the last speaker

	// Time since the candidate spoke.
	fBack       // fact: directly before the last speaker (A, B, A)
	fSecond     // fact: before that one
	fThird      // fact: and before that one
	fNever      // fact: never
	fNewcomer   // 1/(1 + ln turns) if never: newcomers speak early
	fSilence    // ln of the turns since
	fNear       // 2/turns since
	fRound      // fact: not in this round
	fTopTriple  // fact: has the largest fTriple
	fTopPair    // fact: has the largest fPair
	fBackStreak // fBack times ln(1 + transitions back in a row)

	// Mentions in the latest turn; facts.
	fAddressed
	fNamed
	fNamedLast
	fNamedFirst
	fNamedOnly
	fNamedLate  // in the last fifth
	fHandedTo   // "ask dba", "dba, please"
	fNamedColon // "dba:", "dba,"
	fAddressedByAgent
	fNamedLastByAgent

	// Unanswered turns; facts.
	fPending     // named in one of the two previous turns, and silent since
	fNamedBack   // the candidate's latest turn named the last speaker
	fAsked       // the candidate's latest turn ended in a question, and it is one of the last three other speakers
	fNamedBefore // the previous turn of the last speaker named the candidate

	// Form of the latest turn.
	fBackQuestion  // fBack if it has a question mark
	fBackAsked     // fBack if it ends in one
	fBackShort     // fBack if it is short
	fTurnsShort    // the candidate's share of the turns if it is short
	fTurnsQuestion // fTurns/4 if it has a question mark
	fCodeForTool   // fact: it has code, and the candidate is a tool
	fTool          // fact: the candidate is a tool
	fPerson        // fact: the candidate is a person, and an agent is a candidate too

	roomFeatures

	// From past conversations of the team: logarithms of probabilities (see team.go).
	fTeamTurns  = iota - 1 // of a turn
	fTeamPair              // after the last speaker
	fTeamTriple            // after the last two
	fTeamFour              // after the last three
	fTeamPlace             // at this turn number, up to twelve
	fTeamNamed             // by mentions
	fTeamText              // by the form of the text
	fTeamKind              // by kind

	correctable // all of the above; their weights are corrected while the room runs

	fWords   = correctable // weight of the words of the latest turn for the candidate (see team.go)
	features = correctable + 1
)

// A row holds the features of a candidate. In a large room one row stands for
// the group of all candidates that never spoke and have equal features.
type row struct {
	seat   int // index in the agents; of a group, the first
	id     uint32
	rank   int // recency rank, or neverSpoke
	bucket int // of the rank
	turn   int // latest turn, or 0
	kind   int
	tool   bool
	size   float64 // candidates of the group, or 1

	byRank, byPair, byTriple float64 // probabilities
	share                    float64 // ln of the share of the turns

	has uint64 // one bit for each feature that is not 0
	x   [features]float64

	z [components]float64 // score of each component
	q [components]float64 // exponential of the score
	p float64             // probability that one of the row speaks next
}

// set sets a feature.
func (w *row) set(feature int, x float64) {
	w.x[feature] = x
	if x != 0 {
		w.has |= 1 << feature
	}
}

// fact sets a feature that is a fact.
func (w *row) fact(feature int, v bool) {
	if v {
		w.x[feature] = 1
		w.has |= 1 << feature
	}
}

// corrected has the bits of the features whose weights are corrected online.
const corrected = 1<<correctable - 1

// facts has the bits of the features that are facts.
const facts = 1<<fBack | 1<<fSecond | 1<<fThird | 1<<fNever | 1<<fRound | 1<<fTopTriple | 1<<fTopPair |
	1<<fAddressed | 1<<fNamed | 1<<fNamedLast | 1<<fNamedFirst | 1<<fNamedOnly | 1<<fNamedLate | 1<<fHandedTo |
	1<<fNamedColon | 1<<fAddressedByAgent | 1<<fNamedLastByAgent |
	1<<fPending | 1<<fNamedBack | 1<<fAsked | 1<<fNamedBefore |
	1<<fBackQuestion | 1<<fBackAsked | 1<<fBackShort | 1<<fCodeForTool | 1<<fTool | 1<<fPerson

// lawPrior is the probability of each recency bucket in conversations in general.
var lawPrior = [buckets]float64{.45, .17, .09, .05, .035, .025, .02, .015, .03, .03, .03, .055}

// describe makes the rows of all candidates for the next turn and sets their
// features.
func (r *room) describe() {
	r.seatRows()
	r.probabilities()
	topPair, topTriple := r.topRows()
	newcomer := 1 / (1 + ln(float64(max(r.turns, 1))))
	for i := range r.rows {
		w := &r.rows[i]
		w.fact(fTopTriple, i == topTriple)
		w.fact(fTopPair, i == topPair)
		if w.rank == neverSpoke {
			w.set(fRound, 1)
			w.set(fNever, 1)
			w.set(fNewcomer, newcomer)
		} else {
			r.timingFeatures(w)
		}
		r.textFeatures(w)
	}
	r.mentionFeatures()
	r.pendingFeatures()
	if r.team != nil {
		r.teamFeatures()
	}
}

// timingFeatures sets the features of the time since the candidate spoke.
func (r *room) timingFeatures(w *row) {
	w.fact(fRound, !r.people[w.rank].marked)
	switch w.rank {
	case 1:
		w.set(fBack, 1)
		if r.streak > 0 {
			w.set(fBackStreak, ln(float64(1+r.streak)))
		}
	case 2:
		w.set(fSecond, 1)
	case 3:
		w.set(fThird, 1)
	}
	since := float64(r.turns + 1 - w.turn)
	w.set(fSilence, ln(since))
	w.set(fNear, 2/since)
}

// mentionFeatures sets the features of the mentions in the latest turn.
func (r *room) mentionFeatures() {
	t := &r.last
	agent := r.lastKind() == agentKind
	if w := r.rowOf(t.voc); w != nil && t.voc != 0 {
		w.set(fAddressed, 1)
		w.fact(fAddressedByAgent, agent)
	}
	for i, n := range t.named() {
		w := r.rowOf(n.who)
		if w == nil {
			continue
		}
		last := i == t.names-1
		w.set(fNamed, 1)
		w.fact(fNamedLast, last)
		w.fact(fNamedLastByAgent, last && agent)
		w.fact(fNamedFirst, n.sign&namedFirst != 0)
		w.fact(fNamedOnly, t.names == 1)
		w.fact(fNamedLate, n.sign&namedLate != 0)
		w.fact(fHandedTo, n.sign&namedHandover != 0)
		w.fact(fNamedColon, n.sign&namedColon != 0)
	}
}

// rowOf returns the row of one candidate, or nil.
func (r *room) rowOf(who uint32) *row {
	for i := range r.rows {
		if w := &r.rows[i]; w.id == who && w.size == 1 {
			return w
		}
	}
	return nil
}

// maxPending is the largest distance, in turns, at which the previous turn of a
// speaker still counts.
const maxPending = 11

// pendingFeatures sets the features of unanswered turns.
func (r *room) pendingFeatures() {
	if r.turns == 0 {
		return
	}
	speaker := r.people[0].id
	for back := 2; back >= 1; back-- {
		for _, who := range r.namedAt(r.turns - back) {
			if w := r.rowOf(who); w != nil && r.turns-back > w.turn {
				w.set(fPending, 1)
			}
		}
	}
	for i := range r.rows {
		w := &r.rows[i]
		if w.rank == neverSpoke {
			continue
		}
		p := &r.people[w.rank]
		w.fact(fNamedBack, p.named.has(speaker))
		w.fact(fAsked, p.asked && w.rank <= 3)
	}
	if b := &r.before; b.number > 0 && r.turns-b.number <= maxPending {
		for _, who := range b.named.list() {
			if w := r.rowOf(who); w != nil && w.rank != neverSpoke {
				w.set(fNamedBefore, 1)
			}
		}
	}
}

// namedAt returns the ids named in turn number, one of the two turns before the
// latest. Its speaker has had at most one turn since, so its mentions are kept.
func (r *room) namedAt(number int) []uint32 {
	if number < 1 {
		return nil
	}
	if r.before.number == number {
		return r.before.named.list()
	}
	for i := 1; i < min(3, len(r.people)); i++ {
		if p := &r.people[i]; p.turn == number {
			return p.named.list()
		}
	}
	return nil
}

// textFeatures sets what the latest turn is like.
func (r *room) textFeatures(w *row) {
	t := &r.last
	if w.rank == 1 {
		w.fact(fBackQuestion, t.question)
		w.fact(fBackAsked, t.asks)
		w.fact(fBackShort, t.words <= shortTurn)
	}
	if t.words <= shortTurn && w.rank != neverSpoke {
		w.set(fTurnsShort, float64(r.people[w.rank].count)/float64(r.turns))
	}
	if t.question {
		w.set(fTurnsQuestion, w.share/4)
	}
	w.fact(fCodeForTool, t.code && w.tool)
	w.fact(fTool, w.tool)
	w.fact(fPerson, w.kind == humanKind && r.candidates[agentKind] > 0)
}
