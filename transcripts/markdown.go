package transcripts

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// WriteMarkdown writes a room as Markdown, as readers at level see it. Texts of
// participants are fenced, so that none of it is parsed as Markdown. Control and
// bidirectional characters are removed.
func WriteMarkdown(w io.Writer, entries iter.Seq2[log.Entry, error], level Level) error {
	s, err := buildTimeline(entries, level)
	if err != nil {
		return err
	}
	var b strings.Builder
	m := markdown{&b}
	m.head(s)
	m.participants(s)
	m.line("## Transcript")
	for i := range s.Items {
		m.item(&s.Items[i])
	}
	m.foot(s)
	_, err = io.WriteString(w, b.String())
	return err
}

// markdown writes blocks, each followed by an empty line.
type markdown struct{ b *strings.Builder }

func (m markdown) line(format string, args ...any) {
	fmt.Fprintf(m.b, format, args...)
	m.b.WriteString("\n\n")
}

func (m markdown) head(s *timeline) {
	m.line("# %s", inline(cmp.Or(s.Spec.Name, s.Spec.Room)))
	if s.Spec.Objective != "" {
		m.line("Objective:")
		m.fenced(s.Spec.Objective)
	}
	for _, c := range s.Spec.Constraints {
		m.line("- %s", inline(c))
	}
	for _, f := range s.summary() {
		fmt.Fprintf(m.b, "- %s: %s\n", f.Name, inline(f.Value))
	}
	m.b.WriteByte('\n')
}

func (m markdown) participants(s *timeline) {
	m.line("## Participants")
	m.b.WriteString("| who | kind | role | turns | messages | airtime | tokens | failures | mean reply |\n|---|---|---|--:|--:|--:|--:|--:|--:|\n")
	for _, p := range s.Stats.Participants {
		fmt.Fprintf(m.b, "| %s | %s | %s | %d | %d | %.0f %% | %s | %d | %s |\n", inline(participantLabel(p)), inline(p.Kind), inline(p.Role),
			p.Turns, p.Messages, 100*p.Airtime, human.Rough(fmt.Sprint(p.Tokens), p.Estimated), p.Failures, orDash(p.Latency.Mean))
	}
	m.b.WriteByte('\n')
}

func orDash(d time.Duration) string {
	if d == 0 {
		return "—"
	}
	return human.Duration(d)
}

func participantLabel(p ParticipantStats) string {
	if p.Name != "" && p.Name != p.ID {
		return p.Name + " (" + p.ID + ")"
	}
	return p.ID
}

func (m markdown) item(it *item) {
	at := clock(it.Clock)
	switch it.Kind {
	case itemMessage:
		m.line("### %s", inline(heading(it)))
		m.grant(it)
		m.fenced(it.Text)
	case itemHidden:
		m.line("*%s · an internal message of %s is not shown*", at, inline(it.Actor))
	case itemDraft:
		m.line("*%s · %s: %s*", at, inline(it.Actor), inline(it.Note))
		if it.Text != "" {
			m.fenced(it.Text)
		}
	case itemDecline:
		m.line("*%s · round declined by %s: %s*", at, inline(it.Actor), inline(it.Note))
	case itemFailure:
		m.line("**%s · %s: %s**", at, inline(it.Actor), inline(it.Note))
		if it.Text != "" {
			m.fenced(it.Text)
		}
		m.grant(it)
	default:
		m.line("*%s · %s*", at, inline(it.Note))
		m.grant(it)
		if it.Text != "" {
			m.fenced(it.Text)
		}
	}
}

// heading returns the heading of a message: #12 dba → yuki · 3:20.
func heading(it *item) string {
	h := it.Actor
	if it.Turn > 0 {
		h = fmt.Sprintf("#%d %s", it.Turn, it.Actor)
	}
	if it.To != "" {
		h += " → " + it.To
	}
	h += " · " + clock(it.Clock)
	if it.Level != room.UserVisible && it.Level != "" {
		h += " · " + string(it.Level)
	}
	if it.SummaryOnly {
		h += " · summary only"
	}
	if it.Note != "" {
		h += " · " + it.Note
	}
	return h
}

// grant writes the decision that led to the item, and its facts.
func (m markdown) grant(it *item) {
	var parts []string
	if why := it.reason(); why != "" {
		parts = append(parts, why)
	}
	if it.Grant != nil {
		parts = append(parts, it.Grant.Approval...)
		for _, s := range it.Grant.Scores {
			parts = append(parts, s.Name+" "+s.Value)
		}
	}
	for _, f := range it.Facts {
		parts = append(parts, f.Name+" "+f.Value)
	}
	if len(parts) > 0 {
		m.line("*%s*", inline(strings.Join(parts, " · ")))
	}
}

// reason returns the decision that led to the item in one phrase.
func (it *item) reason() string {
	g := it.Grant
	if g == nil {
		return ""
	}
	by := "chosen by a person"
	if g.Policy != "" {
		by = "chosen by " + g.Policy
	}
	if g.Reason != "" {
		by += ": " + g.Reason
	}
	if g.Confidence != "" {
		by += " (" + g.Confidence + ")"
	}
	return by
}

func (m markdown) foot(s *timeline) {
	m.line("---")
	m.line("Shown at level %s; %d of %d messages are not for this level.", s.Level, s.Hidden, s.Stats.Messages)
}

// summary returns the facts at the top of Markdown and HTML.
func (s *timeline) summary() []fact {
	st := s.Stats
	all := []fact{{"room", s.Spec.Room}}
	if !s.From.IsZero() {
		all = append(all, fact{"started", s.From.UTC().Format("2006-01-02 15:04:05 UTC")})
	}
	if s.Spec.Policy.Name != "" {
		all = append(all, fact{"policy", strings.TrimSpace(s.Spec.Policy.Name + " " + s.Spec.Policy.Version)})
	}
	all = append(all, fact{"running time", clock(st.Duration)}, fact{"messages", fmt.Sprint(st.Messages)})
	if st.Turns > 0 {
		all = append(all, fact{"turns", fmt.Sprintf("%d of at most %d", st.Turns, s.Limits.MaxTurns)})
	}
	if st.Declines > 0 {
		all = append(all, fact{"rounds declined", fmt.Sprint(st.Declines)})
	}
	if st.Failures > 0 {
		all = append(all, fact{"failures", fmt.Sprint(st.Failures)})
	}
	if st.Tokens > 0 {
		used := st.used()
		if s.Limits.MaxTokens > 0 {
			used += fmt.Sprintf("; at most %d tokens", s.Limits.MaxTokens)
		}
		all = append(all, fact{"used", used})
	}
	if s.Limits.MaxDuration > 0 && st.Turns > 0 {
		all = append(all, fact{"time limit", clock(s.Limits.MaxDuration)})
	}
	if st.Ending != "" {
		phase, _, _ := strings.Cut(st.Ending, ": ") // the last entry has the reason
		all = append(all, fact{"ended", phase})
	}
	return all
}

// clock formats a room clock: 1:02:03 or 3:20.
func clock(d time.Duration) string {
	s := int64(d / time.Second)
	if h := s / 3600; h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// fenced writes text in a fence longer than any run of backticks in it.
func (m markdown) fenced(text string) {
	text = term.Strip(text)
	longest, run := 2, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	m.line("%stext\n%s\n%s", fence, strings.TrimRight(text, "\n"), fence)
}

var inlineEscapes = strings.NewReplacer(
	"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "{", "\\{", "}", "\\}", "[", "\\[", "]", "\\]", "#", "\\#", "|", "\\|", "~", "\\~",
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "\r", "",
)

// inline makes s safe within a line of Markdown.
func inline(s string) string { return inlineEscapes.Replace(term.Line(s)) }
