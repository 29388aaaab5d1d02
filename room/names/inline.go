package names

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// writePlain writes a paragraph without its code spans, links, addresses and
// quotations.
func writePlain(out *strings.Builder, paragraph string) {
	p := inline{text: paragraph, ticks: closingTicks(paragraph)}
	for p.at < len(p.text) {
		p.step()
	}
	from := 0
	for _, s := range p.omit {
		out.WriteString(paragraph[from:s.from])
		out.WriteString(omitted)
		from = s.to
	}
	out.WriteString(paragraph[from:])
}

// A span is a part of a text.
type span struct{ from, to int }

// inline finds the parts of a paragraph that are no plain text, in one pass.
type inline struct {
	text     string
	at       int
	before   rune    // the rune before at; 0 at the beginning
	ticks    []ticks // runs of backticks that are ahead, the nearest one last
	omit     []span  // in order, without overlaps
	brackets []int   // places of [ that are open
	noParen  bool    // no ) follows
	quotes   [len(quotations)]quote
}

// A quote is a quotation mark that is open: its place and the place after it, which
// is 0 for none.
type quote struct{ from, content int }

// step moves at over one rune or one part.
func (p *inline) step() {
	r, size := utf8.DecodeRuneInString(p.text[p.at:])
	next := p.at + size
	switch {
	case r == '\\' && next < len(p.text) && strings.IndexByte(escaped, p.text[next]) >= 0:
		next++
	case r == '`':
		next = p.codeSpan()
	case r == '[':
		p.brackets = append(p.brackets, p.at)
	case r == ']':
		next = p.link(next)
	case r == ':' && strings.HasPrefix(p.text[next:], "//"):
		next = p.url(next)
	case r == '@' && p.before < utf8.RuneSelf && localByte(byte(p.before)):
		next = p.address(next)
	case r == '\n':
		p.quotes[singleStraight], p.quotes[singleCurved] = quote{}, quote{}
	default:
		p.quotation(r, next)
	}
	p.before, _ = utf8.DecodeLastRuneInString(p.text[:next])
	p.at = next
}

// escaped are the characters that a backslash makes plain.
const escaped = "\\`[]\""

// remove omits a part. It takes the place of parts within it.
func (p *inline) remove(from, to int) {
	for n := len(p.omit); n > 0 && p.omit[n-1].to > from; n-- {
		from = min(from, p.omit[n-1].from)
		p.omit = p.omit[:n-1]
	}
	p.omit = append(p.omit, span{from, to})
}

// codeSpan returns the place after the code span or the backticks at at.
func (p *inline) codeSpan() int {
	n := len(p.ticks)
	for n > 0 && p.ticks[n-1].from < p.at {
		n--
	}
	p.ticks = p.ticks[:n]
	switch {
	case n == 0 || p.ticks[n-1].from > p.at: // the first of these backticks is escaped
		return p.at + 1
	case p.ticks[n-1].end == 0:
		return p.ticks[n-1].to
	}
	end := p.ticks[n-1].end
	p.remove(p.at, end)
	return end
}

// ticks is a run of backticks. end is the place after the run that closes it, 0 if
// there is none.
type ticks struct{ from, to, end int }

// closingTicks returns the runs of backticks in text from the last to the first. The
// next run of the same length closes one.
func closingTicks(text string) (runs []ticks) {
	next := map[int]int{} // the place after the nearest run to the right, by its length
	for to := strings.LastIndexByte(text, '`') + 1; to > 0; to = strings.LastIndexByte(text[:to], '`') + 1 {
		from := to - 1
		for from > 0 && text[from-1] == '`' {
			from--
		}
		runs = append(runs, ticks{from, to, next[to-from]})
		next[to-from] = to
		to = from
	}
	return runs
}

// link omits the link whose text ends before next, if there is one, and returns the
// place from which to go on.
func (p *inline) link(next int) int {
	n := len(p.brackets)
	if n == 0 {
		return next
	}
	from := p.brackets[n-1]
	p.brackets = p.brackets[:n-1]
	if p.noParen || next == len(p.text) || p.text[next] != '(' {
		return next
	}
	end := strings.IndexByte(p.text[next:], ')')
	if end < 0 {
		p.noParen = true
		return next
	}
	p.remove(from, next+end+1)
	return next + end + 1
}

// url omits the URL whose scheme ends before the colon before next, and returns the
// place after it.
func (p *inline) url(next int) int {
	from := next - 1
	for from > p.last() && schemeByte(p.text[from-1]) {
		from--
	}
	if from == next-1 {
		return next
	}
	to := next
	for to < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[to:])
		if unicode.IsSpace(r) || strings.ContainsRune("<>\"`", r) || r >= utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			break
		}
		to += size
	}
	p.remove(from, to)
	return to
}

// address omits the e-mail address whose @ is before next, and returns the place
// after it.
func (p *inline) address(next int) int {
	to := next
	for to < len(p.text) && localByte(p.text[to]) {
		to++
	}
	if to == next {
		return next
	}
	from := next - 1
	for from > p.last() && localByte(p.text[from-1]) {
		from--
	}
	p.remove(from, to)
	return to
}

// last returns the place after the last part that is omitted.
func (p *inline) last() int {
	if n := len(p.omit); n > 0 {
		return p.omit[n-1].to
	}
	return 0
}

func schemeByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '+' || b == '-' || b == '.'
}

// localByte reports whether b may be part of an e-mail address before or after its @.
func localByte(b byte) bool { return schemeByte(b) || b == '_' || b == '%' }

// quotations are the pairs of quotation marks: one that opens, those that close.
var quotations = [...]struct{ open, close string }{
	{"\"", "\""},
	{"„", "”“"},
	{"“", "”"},
	{"«", "»"},
	{"»", "«"},
	{"「", "」"},
	{"『", "』"},
	{"'", "'"},
	{"‘", "’"},
}

// Pairs whose closing mark is also an apostrophe: they begin and end a word, and
// reach over one line at most.
const (
	singleStraight = 7
	singleCurved   = 8
)

// quotation closes or opens a quotation, if r is a mark. next is the place after it.
func (p *inline) quotation(r rune, next int) {
	if r < utf8.RuneSelf && r != '"' && r != '\'' {
		return
	}
	for i := range quotations {
		q := &p.quotes[i]
		if q.content == 0 || !strings.ContainsRune(quotations[i].close, r) || !p.closes(i, next) {
			continue
		}
		if q.content < p.at {
			p.remove(q.from, next)
		}
		*q = quote{}
		return
	}
	for i := range quotations {
		if q := &p.quotes[i]; q.content == 0 && strings.ContainsRune(quotations[i].open, r) && p.opens(r, next) {
			*q = quote{p.at, next}
			return
		}
	}
}

// opens reports whether the mark r before next may open a quotation.
func (p *inline) opens(r rune, next int) bool {
	if r != '"' && r != '\'' {
		return true
	}
	after, _ := utf8.DecodeRuneInString(p.text[next:])
	return next < len(p.text) && !unicode.IsSpace(after) && !wordRune(p.before)
}

// closes reports whether the mark before next may close a quotation of a pair.
func (p *inline) closes(pair, next int) bool {
	switch pair {
	case 0:
		return !unicode.IsSpace(p.before)
	case singleStraight, singleCurved:
		after, _ := utf8.DecodeRuneInString(p.text[next:])
		return !unicode.IsSpace(p.before) && (next == len(p.text) || !wordRune(after))
	}
	return true
}
