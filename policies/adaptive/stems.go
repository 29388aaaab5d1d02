package adaptive

import "slices"

// A stem is the first five letters of a word of at least three, in lower case, in
// one number: verify and verification have the same one.
const stemBytes = 5

// stemsOf returns the stems of words.
func stemsOf(words string) []int { return appendStems(nil, 0, words) }

// setLabels sets the distinct stems of what each participant is called.
func (r *room) setLabels() {
	r.labels, r.ends = r.labels[:0], r.ends[:0]
	for i := range r.agents {
		a, own := &r.agents[i], len(r.labels)
		r.labels = appendStems(r.labels, own, a.ID)
		if a.Name != a.ID {
			r.labels = appendStems(r.labels, own, a.Name)
		}
		r.labels = appendStems(r.labels, own, a.Role)
		for _, d := range a.Domains {
			r.labels = appendStems(r.labels, own, d)
		}
		r.ends = append(r.ends, len(r.labels))
	}
}

// called returns the stems of what the participant with the index seat is called.
func (r *room) called(seat int) []int {
	if seat == 0 {
		return r.labels[:r.ends[0]]
	}
	return r.labels[r.ends[seat-1]:r.ends[seat]]
}

// appendStems adds the stems of a text that are not among stems[own:] yet. Words end
// at case, too: WebSurfer is two words, and so is BingAPI.
func appendStems(stems []int, own int, text string) []int {
	start, before := 0, byte(other)
	for at := range len(text) {
		c := class[text[at]]
		if c == other || c == capital && (before == small || at+1 < len(text) && class[text[at+1]] == small) {
			stems = appendStem(stems, own, text[start:at])
			start = at
		}
		if c == other {
			start = at + 1
		}
		before = c
	}
	return appendStem(stems, own, text[start:])
}

func appendStem(stems []int, own int, word string) []int {
	if s := stemOf(word); s != 0 && !slices.Contains(stems[own:], s) {
		return append(stems, s)
	}
	return stems
}

// stemOf returns the stem of a word, or 0 if it is too short.
func stemOf(word string) (s int) {
	if len(word) < 3 {
		return 0
	}
	for i := range min(len(word), stemBytes) {
		s = s<<8 | int(word[i]|0x20)
	}
	return s
}

// findTopics sets the topics of a text: the stems of its last words that a participant
// is called by.
func (r *room) findTopics(text string) {
	r.topics = r.topics[:0]
	text = text[max(0, len(text)-topicBytes):]
	word := ""
	for d := 0.0; text != ""; d++ {
		text, word = lastWord(text)
		if s := stemOf(word); s != 0 {
			r.addTopic(topic{stem: s, count: fine(15 / (15 + d))})
		}
	}
}

func (r *room) addTopic(t topic) {
	for i := range r.topics {
		if r.topics[i].stem == t.stem {
			r.topics[i].count = fine(r.topics[i].count + t.count)
			return
		}
	}
	if len(r.topics) == maxTopics {
		return
	}
	if slices.Contains(r.labels, t.stem) {
		r.topics = append(r.topics, t)
	}
}
