package adaptive

// reason returns the reason for row best: what the law says of it that adds most to its
// probability.
func (r *room) reason(best int) string {
	w, strongest, most := &r.rows[best], 0, -1.0
	for j, sum := range r.note.sums {
		if adds := r.weights[j] * w.law(j) / max(sum, 1e-9); adds > most {
			strongest, most = j, adds
		}
	}
	id, habit, naming := r.agents[w.seat].ID, strongest/strengths, strongest%strengths
	pair, _ := r.followed(w)
	switch {
	case len(r.rows) == 1:
		return id + " is the only other participant"
	case strongest == taught:
		return id + " spoke here in past conversations of the team"
	case naming != nothing && id == r.last.addressed:
		return id + " is addressed"
	case naming == named && id == r.last.named:
		return id + " is named"
	case w.tool && r.last.code:
		return id + " runs the code"
	case w.role > 1:
		return id + " has not spoken yet, and its role comes next"
	case w.person == newcomer:
		return id + " has not spoken yet"
	case habit == sequence && pair > 0:
		return id + " usually follows " + r.lastID()
	case habit == airtime:
		return id + " spoke most often lately"
	case w.bucket == 1:
		return id + " spoke just before " + r.lastID()
	}
	return id + " is next in the usual order"
}
