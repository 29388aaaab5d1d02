package names

import (
	"strings"
)

// ScanPlain is [Matcher.Scan] over [Plain]: a name counts only where the author of
// text speaks, not in code, in a quotation, in a link or in an address.
func (m *Matcher) ScanPlain(text, speaker string) (mentions, addressed []string) {
	return m.Scan(Plain(text), speaker)
}

// omitted takes the place of a part that [Plain] removes from a line. It is a word
// that no participant has, so that a name after it does not begin the text.
const omitted = "\uA66E"

// Plain returns text, which may be Markdown, without code, quotations and links:
//
//   - fenced and indented code blocks, and lines that begin with >;
//   - code spans;
//   - what is in quotation marks, in one paragraph; in one line for single ones;
//   - links with their text, URLs and e-mail addresses.
//
// A mark that is not closed removes nothing, except a fence, which reaches to the
// end of the text. Plain takes linear time and never fails.
func Plain(text string) string {
	if !marks.occur(text) && !strings.Contains(text, "    ") {
		return text
	}
	var b blocks
	b.out.Grow(len(text))
	for len(text) > 0 {
		n := strings.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		b.line(text[:n])
		text = text[n:]
	}
	b.endParagraph()
	return b.out.String()
}

// marks are the characters that begin, end or belong to what [Plain] removes.
var marks = newClass(func(r rune) bool { return strings.ContainsRune("`~>\t\"'“”„«»‘’「」『』@/[", r) })

// blocks splits a text into paragraphs and drops its code blocks and quoted lines.
type blocks struct {
	out       strings.Builder
	paragraph strings.Builder // lines that have not been written to out
	fence     string          // the marks that opened the code block that is open, or ""
	code      bool            // the line before was part of an indented code block
	list      bool            // indented lines continue an item of a list
}

// line adds a line, which includes its line feed.
func (b *blocks) line(line string) {
	rest := strings.TrimLeft(line, " \t")
	indent := columns(line[:len(line)-len(rest)])
	rest = strings.TrimRight(rest, " \t\r\n")
	switch {
	case b.fence != "":
		if closesFence(rest, b.fence) {
			b.fence = ""
		}
		b.drop()
	case rest == "":
		b.drop()
		return // an indented code block may go on after blank lines
	case b.code && indent >= codeIndent, b.paragraph.Len() == 0 && indent >= codeIndent && !b.list:
		b.code = true
		b.drop()
		return
	case rest[0] == '>':
		b.drop()
	case fenceOf(rest) != "":
		b.fence = fenceOf(rest)
		b.drop()
	default:
		b.list = listItem(rest) || b.list && (indent > 0 || b.paragraph.Len() > 0)
		b.paragraph.WriteString(line)
	}
	b.code = false
}

// codeIndent is the number of columns that makes a line code.
const codeIndent = 4

// columns returns the width of white space at the beginning of a line.
func columns(space string) int {
	n := 0
	for i := range len(space) {
		if n++; space[i] == '\t' {
			n += 3 - (n-1)%4
		}
	}
	return n
}

// drop ends the paragraph before a line that is not part of one.
func (b *blocks) drop() {
	b.endParagraph()
	b.out.WriteByte('\n')
}

func (b *blocks) endParagraph() {
	if b.paragraph.Len() > 0 {
		writePlain(&b.out, b.paragraph.String())
		b.paragraph.Reset()
	}
}

// fenceOf returns the marks with which a line without indentation opens a code
// block, or "".
func fenceOf(line string) string {
	n := 0
	for n < len(line) && line[n] == line[0] {
		n++
	}
	switch {
	case n < 3, line[0] != '`' && line[0] != '~', line[0] == '`' && strings.IndexByte(line[n:], '`') >= 0:
		return ""
	}
	return line[:n]
}

// closesFence reports whether a line closes the code block that fence opened.
func closesFence(line, fence string) bool {
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// listItem reports whether a line without indentation begins an item of a list.
func listItem(line string) bool {
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	mark := line[digits:]
	switch {
	case mark == "":
		return false
	case digits > 0:
		return mark[0] == '.' || mark[0] == ')'
	}
	return strings.IndexByte("-*+", mark[0]) >= 0 && (len(mark) == 1 || mark[1] == ' ' || mark[1] == '\t')
}
