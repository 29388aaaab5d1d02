package names

import (
	"strings"
	"testing"
)

// TestScanPlain checks what names no participant: code, quotations, links and
// addresses. A name in the plain text around them counts.
func TestScanPlain(t *testing.T) {
	n := New([]string{"dba", "iris", "Data_Expert"}, []string{"", "Iris Ito", ""})
	for _, c := range []struct {
		text                string
		mentions, addressed string // ids between spaces
	}{
		{"@dba look", "dba", "dba"},
		{"dba, look", "dba", "dba"},
		{"I would ask the dba about it", "dba", ""},
		{"see (@dba), please", "dba", "dba"},
		{"請@dba 看", "dba", ""}, // a phrase, not a token, as in Scan
		{"請 @dba 看", "dba", "dba"},

		{"run `@dba` now", "", ""},
		{"run ``a ` @dba`` now", "", ""},
		{"`@dba` and @iris here", "iris", "iris"},
		{"`x` dba look", "dba", ""}, // not the start of the text
		{"it is 5` long, @dba sees", "dba", "dba"},
		{"so \\`@dba\\` sees", "dba", "dba"}, // escaped marks
		{"run `a\n\n@dba now`", "dba", "dba"},

		{"```\n@dba\n```", "", ""},
		{"~~~sh\n@dba\n```\n@iris\n~~~\n@dba go", "dba", "dba"},
		{"````\n```\n@dba\n````", "", ""},
		{"```\n@dba", "", ""}, // not closed
		{"dba:\n```\ncode\n```", "dba", "dba"},
		{"``` x ``` @dba see", "dba", "dba"}, // a code span
		{"look:\n\n    @dba\n\n    @iris\n\ndone", "", ""},
		{"look:\n\n\t@dba", "", ""},
		{"look\n    @dba goes on", "dba", "dba"}, // a paragraph goes on
		{"- one\n\n    @dba in the item", "dba", "dba"},
		{"1. one\n\n    @dba in the item\n\nend\n\n    @iris in code", "dba", "dba"},
		{"    @dba", "", ""},

		{"> @dba said so\nyes", "", ""},
		{"> dba said so\n\n@iris yes", "iris", "iris"},
		{"  > iris: look\niris it is", "iris", "iris"},
		{"> ```\n> @dba\n@iris", "iris", "iris"},
		{"a > b, dba", "dba", "dba"},

		{`she said "@dba, look" to me`, "", ""},
		{`"dba" is a name`, "", ""},
		{`5" of it, and @dba has 6" of it`, "dba", "dba"},
		{`"not closed, @dba`, "dba", "dba"},
		{"\"one\n\n@dba\" two", "dba", "dba"}, // two paragraphs
		{"“@dba” ‘@dba’ «@dba» »@dba« „@dba“ „@dba” 「@dba」 『@dba』", "", ""},
		{"the '@dba' seat", "", ""},
		{"it's the dbas' turn, isn't it, @dba", "dba", "dba"},
		{"'tis so, @dba\nthe dbas' turn", "dba", "dba"},
		{`"a" @dba "b"`, "dba", "dba"},
		{`""@dba`, "dba", "dba"},
		{"»a« @dba «b»", "dba", "dba"},

		{"see https://x.y/@dba", "", ""},
		{"see https://x.y/dba?a=@iris, please", "", ""},
		{"https://x.y/z，@dba see", "dba", ""},
		{"see <https://x.y/dba> @iris now", "iris", "iris"},
		{":// dba", "dba", "dba"},
		{"[@dba](https://x.y) is it", "", ""},
		{"[see `x` and [dba]](x y) is it", "", ""},
		{"![dba](dba.png) it", "", ""},
		{"it [@dba] is", "dba", ""},
		{"it [@dba](is it", "dba", ""},
		{"mail ann@dba.example or git@dba now", "", ""},
		{"mail a@dba.org,@iris now", "iris", ""},
		{"she said \"`\" and @dba saw", "dba", "dba"},
		{"`a` \"b\" https://c [d](e) f@g @dba h", "dba", "dba"},
	} {
		mentions, addressed := n.ScanPlain(c.text, "")
		if got := strings.Join(mentions, " "); got != c.mentions {
			t.Errorf("%q: mentions %q, want %q; plain is %q", c.text, got, c.mentions, Plain(c.text))
		}
		if got := strings.Join(addressed, " "); got != c.addressed {
			t.Errorf("%q: addressed %q, want %q; plain is %q", c.text, got, c.addressed, Plain(c.text))
		}
	}
}

// TestPlainUnchanged checks that a text without marks is returned as it is.
func TestPlainUnchanged(t *testing.T) {
	for _, text := range []string{"", "dba, can you look?\r\n\r\nThanks", "**dba**: no", "- a\n- b", "x < y; don’t"} {
		if got := Plain(text); got != text {
			t.Errorf("Plain(%q) = %q", text, got)
		}
	}
}

// FuzzPlain gives Plain any text, and checks that no name counts in a code block,
// in quoted lines or in a code span.
func FuzzPlain(f *testing.F) {
	for _, text := range []string{
		"@dba", "``a`@dba``", "\\``x`", "[a](b)[c", "> @dba\n```\n", "\"„“»«'‘’", "a@b@c://d//e", "    \t@dba\n- x", "[[[](((", "\xff`\"\xc3@dba",
	} {
		f.Add(text)
	}
	n := New([]string{"dba", "Data_Expert"}, nil)
	f.Fuzz(func(t *testing.T, text string) {
		if plain := Plain(text); len(plain) > 3*len(text)+1 {
			t.Errorf("%q becomes %d bytes: %q", text, len(plain), plain)
		}
		inner := strings.NewReplacer("`", "", "~", "").Replace(text) + " @dba"
		line := strings.NewReplacer("\n", " ", "\\", " ").Replace(inner)
		for _, hidden := range []string{
			"```\n" + inner + "\n```", "> " + strings.ReplaceAll(inner, "\n", "\n> "), "``" + line + "``", "~~~~\n" + inner,
		} {
			if mentions, addressed := n.ScanPlain(hidden, ""); mentions != nil || addressed != nil {
				t.Errorf("%q mentions %q and addresses %q", hidden, mentions, addressed)
			}
		}
	})
}

// BenchmarkPlain shows that the time grows with the length, in texts of marks only.
func BenchmarkPlain(b *testing.B) {
	for name, mark := range map[string]string{
		"backticks": "` `` ``` ", "brackets": "[[(", "links": "[a](", "closing": "](", "quotes": "\"a „", "at": "a@", "colons": "a://", "fences": "```\n", "indents": "\n\n    ",
	} {
		for _, n := range []int{10_000, 100_000} {
			text := strings.Repeat(mark, n)
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Plain(text)
				}
			})
		}
	}
}
