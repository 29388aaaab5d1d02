package training

// PerTalk returns the decisions and the hits of each talk, in the order in
// which they were measured.
func (s *Score) PerTalk() [][]float64 {
	rows := make([][]float64, len(s.perTalk))
	for i := range s.perTalk {
		rows[i] = s.perTalk[i][:]
	}
	return rows
}

// Dealt returns the talks in the order in which [Folds] measures them.
func Dealt(talks []*Talk, n int) []*Talk {
	var out []*Talk
	for fold := range min(n, len(talks)) {
		for i := fold; i < len(talks); i += n {
			out = append(out, talks[i])
		}
	}
	return out
}
