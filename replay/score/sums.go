package score

// The sums of a transcript. Those that are resampled come first.
const (
	sumDecisions   = iota
	sumHits        // same choice as recorded
	sumReciprocal  // reciprocal ranks
	sumDeclines    // finishes included
	sumSpokenHits  // hits of decisions that chose a seat
	sumSeen        // decisions whose recorded speaker had spoken before
	sumSeenHits    // of them, hits
	sumMacro       // accuracies of transcripts
	sumTranscripts // with a decision
	sumMixed       // decisions where silence is meaningful, see silenceSums
	sumSilences    // of them, with recorded silence
	sumBothSilent  // with recorded and chosen silence
	sumSilent      // with chosen silence
	sumMixedHits   // right speaker, or silence in both
	sumAddressed   // decisions after a message that addresses a candidate
	sumOverlooked  // of them, that chose none of the addressed
	sumSpoken      // decisions that chose a seat
	sumTop         // of them, the seat chosen most in its transcript
	sumGini        // Gini coefficients, weighted by spoken
	sumEntropy     // entropies, weighted by spoken
	sumTokens      // estimated prompts

	sumOdds                                // the sums of sumMixed, by the odds that the policy states
	sumAsked      = sumOdds + silenceSums  // those of recorded decisions of one participant
	sumAskedOdds  = sumAsked + silenceSums // those of them by the stated odds
	resampledSums = sumAskedOdds + silenceSums
)

// Sums that have no interval.
const (
	sumFinishes       = resampledSums + iota
	sumErrors         //
	sumCost           // of prompts, in millionths
	sumRepeated       // decisions made twice
	sumDiffering      // of them, with different bytes or fuel
	sumToDecline      // recorded speak, chosen decline
	sumToSpeak        // recorded decline, chosen speak
	sumOther          // another speaker than recorded
	sumTied           // decisions whose choice shares its place with others
	sumCompletion     // estimated tokens of replies
	sumCompletionCost // of them, in millionths
	sumTurnMS         // estimated time of turns, in milliseconds
	allSums
)

type sums [allSums]float64
