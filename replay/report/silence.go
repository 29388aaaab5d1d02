package report

// silenceGroup has the figures about speaking or being silent: at choices of a speaker,
// and at recorded decisions of one participant, by choice and by the odds that policies
// state.
func silenceGroup() group {
	g := group{
		title: "Silence",
		note:  "A person, a tool and nobody count as silence. Recorded decisions are those of one participant. Even odds: by what the policy states, with the threshold 0.5.",
		lines: []line{declineLine()},
	}
	for _, f := range []struct{ name, key string }{
		{"speak or silent, balanced", "balanced_accuracy"},
		{"false speaks", "false_speaks"},
		{"false silences", "false_silences"},
		{"at even odds, balanced", "even_balanced_accuracy"},
		{"at even odds, false speaks", "even_false_speaks"},
		{"recorded decisions, balanced", "decided_balanced_accuracy"},
		{"of them, false speaks", "decided_false_speaks"},
		{"of them, false silences", "decided_false_silences"},
		{"of them, at even odds", "decided_even_balanced_accuracy"},
		{"of them, at even odds, false speaks", "decided_even_false_speaks"},
	} {
		g.lines = append(g.lines, figureLine(f.name, f.key, percent, false))
	}
	return g
}
