package adaptive

// reason appends the reason for row best: what the law says of it that adds most
// to its probability.
func (r *room) reason(to []byte, best int) []byte {
	w := &r.rows[best]
	id := r.agents[w.seat].ID
	if len(r.rows) == 1 {
		return appendAll(to, id, " is the only other participant")
	}
	j := r.strongest(w)
	switch {
	case j == taught:
		return appendAll(to, id, " spoke here in past conversations of the team")
	case j%strengths != nothing && id == r.last.addressed:
		return appendAll(to, id, " is addressed")
	case j%strengths == named && id == r.last.named:
		return appendAll(to, id, " is named")
	case w.tool && r.last.code:
		return appendAll(to, id, " runs the code")
	}
	return r.habitReason(to, w, j/strengths)
}

// strongest returns the law that adds most to the probability of a row.
func (r *room) strongest(w *row) int {
	best, most := 0, -1.0
	for j, sum := range r.note.sums {
		if sum == 0 {
			continue
		}
		if adds := r.weights[j] * w.law(j) / sum; adds > most {
			best, most = j, adds
		}
	}
	return best
}

func (r *room) habitReason(to []byte, w *row, habit int) []byte {
	id := r.agents[w.seat].ID
	pair, _ := r.followed(w)
	switch {
	case w.role > 1:
		return appendAll(to, id, " has not spoken yet, and its role comes next")
	case w.person == newcomer:
		return appendAll(to, id, " has not spoken yet")
	case habit == sequence && pair > 0:
		return appendAll(to, id, " usually follows ", r.lastID())
	case habit == airtime:
		return appendAll(to, id, " spoke most often lately")
	case w.bucket == 1:
		return appendAll(to, id, " spoke just before ", r.lastID())
	}
	return appendAll(to, id, " is next in the usual order")
}

// appendAll appends texts.
func appendAll(to []byte, texts ...string) []byte {
	for _, s := range texts {
		to = append(to, s...)
	}
	return to
}
