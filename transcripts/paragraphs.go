package transcripts

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/folkmoot/moot/internal/term"
)

// A paragraph is a run of text or a block of code.
type paragraph struct {
	Code  bool
	Text  string
	Spans []inlineRun
}

// An inlineRun is plain text, code, or a link.
type inlineRun struct {
	Text string
	Link string
	Code bool
}

// paragraphs splits a message into fenced code blocks and text.
func paragraphs(text string) []paragraph {
	var all []paragraph
	var run []string
	fence := ""
	flush := func() {
		if s := strings.Trim(strings.Join(run, "\n"), "\n"); s != "" || fence != "" {
			p := paragraph{Code: fence != "", Text: s}
			if !p.Code {
				p.Spans = inlineRuns(s)
			}
			all = append(all, p)
		}
		run = nil
	}
	for line := range strings.SplitSeq(term.Strip(text), "\n") {
		mark := fenceOf(line)
		switch {
		case fence == "" && mark != "":
			flush()
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && strings.Trim(strings.TrimSpace(line), "`~") == "":
			flush()
			fence = ""
		default:
			run = append(run, line)
		}
	}
	flush()
	return all
}

// fenceOf returns the fence that a line starts with, or "".
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

var inlineRunForm = regexp.MustCompile("`[^`\n]+`|(?:https?://|mailto:)[^\\s<>\"'`]+")

// inlineRuns splits text into code, links and plain text.
func inlineRuns(s string) []inlineRun {
	var all []inlineRun
	at := 0
	for _, m := range inlineRunForm.FindAllStringIndex(s, -1) {
		from, to := m[0], m[1]
		if s[from] != '`' {
			to = from + len(trimLink(s[from:to]))
			if !safeLink(s[from:to]) {
				continue
			}
		}
		if from > at {
			all = append(all, inlineRun{Text: s[at:from]})
		}
		if s[from] == '`' {
			all = append(all, inlineRun{Text: s[from+1 : to-1], Code: true})
		} else {
			all = append(all, inlineRun{Text: s[from:to], Link: s[from:to]})
		}
		at = to
	}
	if at < len(s) {
		all = append(all, inlineRun{Text: s[at:]})
	}
	return all
}

// trimLink removes punctuation that ends the sentence, not the link.
func trimLink(s string) string {
	s = strings.TrimRight(s, ".,;:!?*_")
	if strings.HasSuffix(s, ")") && !strings.Contains(s, "(") {
		s = strings.TrimRight(s, ").,;:!?*_")
	}
	return s
}

// safeLink reports whether a link is http, https or mailto.
func safeLink(s string) bool {
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return strings.Contains(u.Opaque, "@")
	}
	return false
}
