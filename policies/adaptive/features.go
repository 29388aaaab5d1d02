package adaptive

// What a rule looks at. A candidate's score is the sum of its features, each
// times the weight that the rule gives it. A feature that is said to be a fact
// is 1 when it holds, and all are 0 otherwise; ln is the natural logarithm.
const (
	// Logarithms of probabilities, from the counts of tables.go.
	fRecency     = iota // by recency
	fRecency2           // by recency, after the last two transitions
	fRecencyFast        // by recency, lately
	fTurns              // by turns
	fTurnsFast          // by turns, lately
	fPair               // after the last speaker
	fTriple             // after the last two
	fKind               // by kind, after the kind of the last speaker

	// When the candidate spoke.
	fBack       // fact: before the last speaker (A, B, A)
	fSecond     // fact: before that one
	fThird      // fact: and before that one
	fNever      // fact: never
	fNewcomer   // 1/(1 + ln turns) if never: newcomers come early
	fSilence    // ln of the turns since
	fNear       // 2/turns since
	fRound      // fact: not in this round
	fTopTriple  // fact: has the largest fTriple
	fTopPair    // fact: has the largest fPair
	fBackStreak // fBack times ln(1 + transitions back in a row)

	// Whom the latest turn names; facts.
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

	// Who owes a word; facts.
	fPending     // named in one of the two turns before, and silent since
	fNamedBack   // the candidate's latest turn named the last speaker
	fAsked       // it ended in a question, and the candidate is among the last three others
	fNamedBefore // the turn that the last speaker had before named the candidate

	// What the latest turn is like.
	fBackQuestion  // fBack if it has a question mark
	fBackAsked     // fBack if it ends in one
	fBackShort     // fBack if it is short
	fTurnsShort    // the candidate's share of the turns if it is short
	fTurnsQuestion // fTurns/4 if it has a question mark
	fCodeForTool   // fact: it has code, and the candidate runs it
	fTool          // fact: the candidate runs things
	fPerson        // fact: the candidate is a person, and an agent is a candidate too

	roomFeatures

	// From past talks of the team: logarithms of probabilities (see team.go).
	fTeamTurns  = iota - 1 // of anybody's turn
	fTeamPair              // after the last speaker
	fTeamTriple            // after the last two
	fTeamFour              // after the last three
	fTeamPlace             // at this turn, the first twelve being told apart
	fTeamNamed             // by who is named
	fTeamText              // by what the text is like
	fTeamKind              // by kind

	correctable // learnt while the room runs: all of the above

	fWords   = correctable // what the words of the latest turn make of the candidate (see words.go)
	features = correctable + 1
)

// A row is a candidate, or the group of all who never spoke in a large room,
// for each of whom the same is true.
type row struct {
	seat   int // in the roster; of a group the first
	id     uint32
	rank   int // recency, neverSpoke for never
	bucket int // of the rank
	turn   int // the latest, 0 for never
	kind   int
	tool   bool
	size   float64 // of the group, else 1

	byRank, byPair, byTriple float64 // probabilities
	share                    float64 // ln of the share of the turns

	has uint64 // a bit for each feature that is not 0; most are
	x   [features]float64

	z [components]float64 // score of each component
	q [components]float64 // and its exponential
	p float64             // probability that one of the row speaks next
}

// set gives the row a feature.
func (w *row) set(feature int, x float64) {
	w.x[feature] = x
	if x != 0 {
		w.has |= 1 << feature
	}
}

func (w *row) fact(feature int, v bool) {
	if v {
		w.x[feature] = 1
		w.has |= 1 << feature
	}
}

// corrected has the bits of the features whose weights are corrected.
const corrected = 1<<correctable - 1

// facts has the bits of the features that are facts.
const facts = 1<<fBack | 1<<fSecond | 1<<fThird | 1<<fNever | 1<<fRound | 1<<fTopTriple | 1<<fTopPair |
	1<<fAddressed | 1<<fNamed | 1<<fNamedLast | 1<<fNamedFirst | 1<<fNamedOnly | 1<<fNamedLate | 1<<fHandedTo |
	1<<fNamedColon | 1<<fAddressedByAgent | 1<<fNamedLastByAgent |
	1<<fPending | 1<<fNamedBack | 1<<fAsked | 1<<fNamedBefore |
	1<<fBackQuestion | 1<<fBackAsked | 1<<fBackShort | 1<<fCodeForTool | 1<<fTool | 1<<fPerson

// lawPrior is how recency goes in talk at large, by bucket.
var lawPrior = [buckets]float64{.45, .17, .09, .05, .035, .025, .02, .015, .03, .03, .03, .055}

// describe makes a row of every candidate for the turn after the latest one,
// with its features.
func (r *room) describe() {
	r.seatRows()
	r.probabilities()
	topPair, topTriple := r.tops()
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
			r.timing(w)
		}
		r.manner(w)
	}
	r.namings()
	r.debts()
	if r.team != nil {
		r.teamFeatures()
	}
}

// timing sets when the candidate spoke.
func (r *room) timing(w *row) {
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

// namings sets what the latest turn says by naming.
func (r *room) namings() {
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
		w.fact(fHandedTo, n.sign&namedHand != 0)
		w.fact(fNamedColon, n.sign&namedColon != 0)
	}
}

// rowOf returns the row of somebody named, or nil.
func (r *room) rowOf(who uint32) *row {
	for i := range r.rows {
		if w := &r.rows[i]; w.id == who && w.size == 1 {
			return w
		}
	}
	return nil
}

// fresh bounds how far back the turn that a speaker had before still says
// whom it waits for.
const fresh = 11

// debts sets who owes a word. Who is named is looked up, rather than every
// candidate in every turn.
func (r *room) debts() {
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
	if b := &r.before; b.number > 0 && r.turns-b.number <= fresh {
		for _, who := range b.named.list() {
			if w := r.rowOf(who); w != nil && w.rank != neverSpoke {
				w.set(fNamedBefore, 1)
			}
		}
	}
}

// namedAt returns who was named in one of the two turns before the latest.
// Who had that turn has spoken once since at most, so it is still known.
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

// manner sets what the latest turn is like.
func (r *room) manner(w *row) {
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
