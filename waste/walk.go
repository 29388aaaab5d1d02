package waste

import (
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/minhash"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/names"
	"github.com/folkmoot/moot/transcripts"
)

// A Turn is one message of a run.
type Turn struct {
	Speaker string
	Text    string
	Quote   string     // what may be quoted of the text
	Usage   room.Usage // as the source states it
}

// A Walk counts the turns of one run. Its memory is bounded.
type Walk struct {
	account *Account
	run     Run
	group   *groupSums

	kinds   map[string]string // of the participants, by id
	ids     []string
	display []string
	matcher *names.Matcher // nil after a participant has joined
	agents  bool           // an agent or a tool takes part

	length   int   // turns of a conversation; 0 if not known
	turn     int   // index of the next turn
	context  int64 // tokens of all texts so far, estimated
	speaker  string
	spoke    map[string]memory // by participant
	question int               // index of the last turn that asks; NoTurn before
	repeats  repeats

	watcher Watcher // nil for none
	flagged bool    // the watcher has flagged a turn
	stopped bool    // and there were turns after it

	mistake Example // the labelled turn
	after   sums    // turns after it
}

// A memory is what a participant has seen when it spoke last.
type memory struct {
	turn    int
	context int64 // tokens of all texts up to and including its turn
}

// turnCost is a turn with its costs and its kinds.
type turnCost struct {
	tokens, prompt, resent int64
	kinds                  kindSet
	like                   int // the turn that it repeats
}

// Begin starts a run.
func (a *Account) Begin(r Run) *Walk {
	w := &Walk{account: a, run: r, group: a.group(&r), kinds: map[string]string{}, spoke: map[string]memory{}, question: NoTurn}
	for _, s := range []*sums{&a.total, &w.group.total} {
		s.runs++
	}
	switch r.Outcome {
	case Failed:
		w.group.failed++
	case Succeeded:
		w.group.succeeded++
		a.guard.good++
	}
	if r.Mistake != NoTurn {
		w.group.labelled.runs++
	}
	if a.Watch != nil {
		w.watcher = a.Watch()
	}
	return w
}

// Join adds a participant before its first turn. Participants that never join count as
// people.
func (w *Walk) Join(p transcripts.Participant) {
	if _, ok := w.kinds[p.ID]; !ok {
		w.ids, w.display = append(w.ids, p.ID), append(w.display, p.Name)
		w.matcher = nil
	}
	w.kinds[p.ID] = p.Kind
	if w.watcher != nil {
		w.watcher.Join(p)
	}
	w.agents = w.agents || p.Kind == transcripts.KindAgent || p.Kind == transcripts.KindTool
}

// judged reports whether the turns of a participant can be waste by themselves: those
// of agents and tools, and in a run of people alone those of all.
func (w *Walk) judged(id string) bool {
	return !w.agents || w.kinds[id] == transcripts.KindAgent || w.kinds[id] == transcripts.KindTool
}

// Add counts a turn.
func (w *Walk) Add(t Turn) {
	c := w.cost(&t)
	w.classify(&t, &c)
	w.book(&t, &c)
	w.turn++
	w.speaker = t.Speaker
}

// cost returns the tokens of a turn and of its prompt. The prompt of consecutive turns
// of one agent is counted once, unless the source states more.
func (w *Walk) cost(t *Turn) turnCost {
	text := int64(len(t.Text)+3) / 4
	c := turnCost{tokens: text, like: NoTurn}
	known := t.Usage.Known
	if known {
		c.tokens = t.Usage.Output
	}
	before, ok := w.spoke[t.Speaker]
	switch {
	case known && t.Usage.Input > 0:
		c.prompt = t.Usage.Input
		if ok {
			c.resent = max(0, c.prompt-(w.context-before.context))
		}
	case !known && w.kinds[t.Speaker] == transcripts.KindAgent && t.Speaker != w.speaker:
		c.prompt, c.resent = w.context, before.context
	}
	w.context += text
	for _, s := range []*sums{&w.account.total, &w.group.total} {
		if !known {
			s.estimated++
		}
		if c.prompt > 0 {
			s.prompted++
		}
		if c.prompt > 0 && !known {
			s.promptsEstimated++
		}
	}
	return c
}

// classify adds the kinds of a turn.
func (w *Walk) classify(t *Turn, c *turnCost) {
	if w.run.Mistake != NoTurn && w.turn > w.run.Mistake {
		c.kinds.add(AfterError)
	}
	if c.resent > 0 {
		c.kinds.add(ResentContext)
	}
	words := wordsOf(t.Text)
	s := said{speaker: t.Speaker, turn: w.turn, silent: len(words) == 0 || !w.judged(t.Speaker)}
	if !s.silent {
		s.hash = minhash.Hash(words)
		if len(words) >= minWords {
			s.sketch = minhash.Of(words)
		}
	}
	if of, ok := w.repeats.loop(s); ok {
		c.kinds.add(Loop)
		c.like = of
	}
	if of, kind := w.repeats.duplicate(s); kind != "" {
		c.kinds.add(kind)
		c.like = of
	}
	if !s.silent && w.acknowledges(t, words) {
		c.kinds.add(Acknowledgement)
	}
	if asks(t.Text) {
		w.question = w.turn
	}
	w.spoke[t.Speaker] = memory{w.turn, w.context}
}

// acknowledges reports whether a turn only acknowledges. An answer to a question does
// not, and a tool never does.
func (w *Walk) acknowledges(t *Turn, words []string) bool {
	before, ok := w.spoke[t.Speaker]
	asked := w.question != NoTurn && (!ok || w.question > before.turn)
	if asked || w.kinds[t.Speaker] == transcripts.KindTool || !acknowledges(t.Text, words) {
		return false
	}
	if w.matcher == nil {
		w.matcher = names.New(w.ids, w.display)
	}
	mentions, _ := w.matcher.Scan(t.Text, t.Speaker)
	return len(mentions) == 0
}

// book adds a turn to the figures.
func (w *Walk) book(t *Turn, c *turnCost) {
	a, first := w.account, c.kinds.first()
	a.total.add(c)
	w.group.total.add(c)
	if w.run.Mistake != NoTurn {
		w.group.labelled.add(c)
	}
	w.guard(t, c)
	for i, k := range Kinds() {
		switch {
		case !c.kinds.has(k):
		case k == ResentContext:
			a.kinds[i].of.add(&turnCost{prompt: c.resent})
		default:
			a.kinds[i].of.add(c)
		}
	}
	if w.turn == w.run.Mistake {
		w.mistake = w.example(t, c)
	}
	switch first {
	case "":
	case ResentContext:
		a.kinds[resent].add(&turnCost{prompt: c.resent})
		w.group.waste.prompts += c.resent
	default:
		a.kinds[first.place()].add(c)
		w.group.waste.add(c)
		if first == AfterError {
			w.group.after.add(c)
			w.after.add(c)
		} else {
			a.kinds[first.place()].offer(w.example(t, c))
		}
	}
}

// guard adds the turn to what the watcher would have prevented, or asks it.
func (w *Walk) guard(t *Turn, c *turnCost) {
	g := &w.account.guard
	switch {
	case !w.flagged:
		w.flagged = w.watcher != nil && w.watcher.Flags(t.Speaker, t.Quote)
		return
	case !w.stopped:
		w.stopped = true
		g.stopped++
		if w.run.Outcome == Succeeded {
			g.goodStopped++
		}
		if w.turn <= w.run.Mistake {
			g.early++
		}
	}
	g.add(c)
}

// End ends the run.
func (w *Walk) End() {
	if w.after.turns > 0 {
		x := w.mistake
		x.Tokens, x.Follow = w.after.tokens, w.after.turns
		w.account.kinds[AfterError.place()].offer(x)
	}
}

// example returns a turn as an example.
func (w *Walk) example(t *Turn, c *turnCost) Example {
	x := Example{
		Run: w.run.Name, File: w.run.File, Turn: w.turn, Speaker: t.Speaker, Text: truncate(t.Quote), Tokens: c.tokens, Like: c.like,
	}
	if w.length > 0 {
		x.Last = w.length - w.turn
	}
	return x
}

// maxQuote is how many bytes of a text an example keeps.
const maxQuote = 240

// truncate returns the beginning of a text as a copy, so that the text need not be kept.
func truncate(s string) string {
	s = strings.TrimSpace(s)
	if len(s) <= maxQuote {
		return strings.Clone(s)
	}
	n := maxQuote
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
