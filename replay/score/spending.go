package score

import (
	"cmp"
	"slices"

	"github.com/folkmoot/moot/replay/history"
)

// A SeatSpending is what the recorded turns of one participant took, and its
// price.
type SeatSpending struct {
	Participant string `json:"participant"`
	Turns       int    `json:"turns"`
	Stated      int    `json:"stated"`            // turns with a usage that the agent stated
	Completion  int64  `json:"completion_tokens"` // as stated, otherwise bytes/4
	Timed       int    `json:"timed"`             // turns with a recorded latency
	LatencyMS   int64  `json:"latency_ms"`        // of these
	PriceInput  int64  `json:"price_input"`       // in millionths, for a million tokens
	PriceOutput int64  `json:"price_output"`      //
}

// Seats adds up the recorded turns of all transcripts by participant, the most
// turns first.
func (b *Batch) Seats() []SeatSpending {
	byID := map[string]*SeatSpending{}
	for _, r := range b.Runs {
		for i, s := range r.History.Spending() {
			if s.Turns == 0 {
				continue
			}
			seat := r.History.Seats[i]
			sum := byID[seat.ID]
			if sum == nil {
				sum = &SeatSpending{Participant: seat.ID, PriceInput: seat.Price.Input, PriceOutput: seat.Price.Output}
				byID[seat.ID] = sum
			}
			sum.Turns += s.Turns
			sum.Stated += s.Stated
			sum.Completion += s.Output
			sum.Timed += s.Timed
			sum.LatencyMS += s.Latency.Milliseconds()
		}
	}
	all := make([]SeatSpending, 0, len(byID))
	for _, s := range byID {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b SeatSpending) int {
		return cmp.Or(cmp.Compare(b.Turns, a.Turns), cmp.Compare(a.Participant, b.Participant))
	})
	return all[:min(len(all), maxParticipants)]
}

// addSpending estimates what the chosen turns would have taken: each takes what
// a recorded turn of that seat took on average, or one of all seats if the seat
// had none.
func (t *Tally) addSpending(h *history.History) {
	var all history.Spending
	recorded := h.Spending()
	for _, s := range recorded {
		all.Turns += s.Turns
		all.Output += s.Output
		all.Timed += s.Timed
		all.Latency += s.Latency
	}
	for i, n := range t.chosen {
		s := all
		if i < len(recorded) && recorded[i].Turns > 0 {
			s = recorded[i]
		}
		if s.Timed == 0 {
			s.Timed, s.Latency = all.Timed, all.Latency
		}
		output := float64(n) * float64(s.Output) / max(1, float64(s.Turns))
		t.sums[sumCompletion] += output
		t.sums[sumCompletionCost] += output * float64(h.Seats[i].Price.Output) / 1e6
		t.sums[sumTurnMS] += float64(n) * float64(s.Latency.Microseconds()) / 1e3 / max(1, float64(s.Timed))
	}
}
