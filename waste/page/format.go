package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/waste"
)

// missing is shown where there is nothing to measure.
const missing = "—"

// percent formats a share.
func percent(s waste.Share) string {
	if math.IsNaN(float64(s)) {
		return missing
	}
	return fmt.Sprintf("%.1f %%", 100*float64(s))
}

// thousands formats n with grouped digits: 1,074.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// count formats n of a noun.
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

// amount formats a number of tokens: 1.92M, or ~1.92M for an estimate.
func amount(n int64, estimated bool) string {
	s := thousands(n)
	switch {
	case n == 0:
		return s
	case n >= 999_500_000:
		s = fmt.Sprintf("%.2fB", float64(n)/1e9)
	case n >= 999_500:
		s = fmt.Sprintf("%.2fM", float64(n)/1e6)
	case n >= 10_000:
		s = fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	if estimated {
		return "~" + s
	}
	return s
}

// titles are the names of the kinds.
var titles = map[waste.Kind]string{
	waste.AfterError:      "after the labelled error",
	waste.Loop:            "loops",
	waste.ExactDuplicate:  "exact duplicates",
	waste.NearDuplicate:   "near duplicates",
	waste.Acknowledgement: "pure acknowledgements",
	waste.ResentContext:   "context sent again",
}

// place names the turn of an example.
func place(x *waste.Example) string {
	return fmt.Sprintf("%s, turn %d, %s", term.Line(x.Run), x.Turn, term.Line(x.Speaker))
}

// remark says what is special about an example.
func remark(x *waste.Example, estimated bool) string {
	switch {
	case x.Follow > 0:
		return count(x.Follow, "turn") + " after it, " + amount(x.Tokens, estimated) + " tokens"
	case x.Like >= 0:
		return fmt.Sprintf("like turn %d, %s tokens", x.Like, amount(x.Tokens, estimated))
	}
	return amount(x.Tokens, estimated) + " tokens"
}

// shower returns the command that shows the run of an example, from its turn on if that
// is known: the command with the run, and its options, if any.
func shower(x *waste.Example) []string {
	if x.File == "" {
		return []string{"moot transcript show " + quoted(x.Run)}
	}
	options := "--conversation " + quoted(x.Run)
	if x.Last > 0 {
		options += fmt.Sprintf(" --last %d", x.Last)
	}
	return []string{"moot transcript show " + quoted(x.File), options}
}

// quoted quotes a word for a shell, if it needs that.
func quoted(s string) string {
	s = term.Line(s)
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@+,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// excerpt returns the text of an example in one line of at most n characters.
func excerpt(x *waste.Example, n int) string {
	text := []rune(strings.Join(strings.Fields(term.Line(strings.ReplaceAll(x.Text, "\n", " "))), " "))
	if len(text) > n {
		return string(text[:n-1]) + "…"
	}
	return string(text)
}
