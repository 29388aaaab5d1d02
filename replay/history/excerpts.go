package history

import (
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/room"
)

// Bounds of an excerpt: how many messages are kept, and the bytes at the start
// and the end of each. An address is often at the end.
const (
	keptExcerpts = 3
	excerptStart = 170
	excerptEnd   = 90
)

// An Excerpt is a message before a decision point, cut to a few hundred bytes.
type Excerpt struct {
	From string `json:"from"`
	Text string `json:"text"` // of what policies may read; empty for a withheld text
}

// excerpts holds the newest messages. It keeps whole texts, because only few are
// ever cut.
type excerpts struct {
	ring [keptExcerpts]Excerpt
	n    int
}

func (x *excerpts) add(m *room.Message) {
	x.ring[x.n%keptExcerpts] = Excerpt{From: m.From, Text: readableText(m)}
	x.n++
}

// Excerpts returns the last messages before p, the oldest first. They may be
// kept after the visit.
func (p *Point) Excerpts() []Excerpt {
	var all []Excerpt
	for i := max(0, p.excerpts.n-keptExcerpts); i < p.excerpts.n; i++ {
		e := p.excerpts.ring[i%keptExcerpts]
		all = append(all, Excerpt{From: e.From, Text: cutMiddle(e.Text)})
	}
	return all
}

// cutMiddle returns a copy of s without the middle of a long text.
func cutMiddle(s string) string {
	if len(s) <= excerptStart+excerptEnd {
		return strings.Clone(s)
	}
	from, to := excerptStart, len(s)-excerptEnd
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	return s[:from] + " … " + s[to:]
}
