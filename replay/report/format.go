package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/replay/score"
)

// missing is shown where there is nothing to measure.
const missing = "—"

// percent formats a share in percent.
func percent(f float64) string { return formatKnown("%.1f %%", 100*f) }

// decimal formats f with two decimals.
func decimal(f float64) string { return formatKnown("%.2f", f) }

// integer formats f without decimals.
func integer(f float64) string { return formatKnown("%.0f", f) }

// formatKnown formats f unless it is NaN.
func formatKnown(format string, f float64) string {
	if math.IsNaN(f) {
		return missing
	}
	return fmt.Sprintf(format, f)
}

// number formats f with at most four decimals.
func number(f score.Figure) string {
	if f.IsNone() {
		return "nothing to measure"
	}
	return f.Rounded()
}

// signed formats n with its sign. The minus is U+2212.
func signed(n int) string {
	switch {
	case n < 0:
		return "−" + thousands(-n)
	case n > 0:
		return "+" + thousands(n)
	}
	return "±0"
}

// thousands formats n with grouped digits: 1,074.
func thousands(n int) string {
	s := strconv.Itoa(n)
	var b strings.Builder
	for i, d := range s {
		if i > 0 && (len(s)-i)%3 == 0 && s[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// count formats n of a noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

// tokens formats an estimate: ~1.92M.
func tokens(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("~%.2fM", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("~%.0fk", n/1e3)
	}
	return fmt.Sprintf("~%.0f", n)
}

// money formats an estimate in millionths of a currency; 0 means that no
// participant has a price.
func money(n float64) string {
	if n == 0 {
		return missing
	}
	return fmt.Sprintf("~%.2f", n/1e6)
}

// milliseconds formats the time of a decision.
func milliseconds(f score.Figure) string { return formatKnown("%.3f ms", float64(f)) }

// bounds formats an interval: [36.0,40.5]. It is empty for none.
func bounds(i [2]score.Figure, format func(float64) string) string {
	if i[0].IsNone() || i[1].IsNone() {
		return ""
	}
	bare := func(f score.Figure) string {
		return strings.Replace(strings.TrimSuffix(format(float64(f)), " %"), "-", "−", 1)
	}
	return "[" + bare(i[0]) + "," + bare(i[1]) + "]"
}

// mark is ~ for a difference that may be chance. Without a comparison, as of a
// single transcript, any difference may be.
func mark(c *score.Comparison) string {
	if c.Significant() {
		return ""
	}
	return "~"
}

// noted is a cell with notes, which a form may set apart. The text form shows the
// first one only.
func noted(value string, notes ...string) string {
	return strings.Join(append([]string{value}, notes...), noteMark)
}

// noteMark separates a value and its notes. Texts of others have no tabs, because
// term.Line replaces them.
const noteMark = "\t"

// seconds formats milliseconds of turns; 0 means that no latency is recorded.
func seconds(ms float64) string {
	switch s := ms / 1000; {
	case ms == 0:
		return missing
	case s >= 3600:
		return fmt.Sprintf("~%.1f h", s/3600)
	case s >= 120:
		return fmt.Sprintf("~%.1f min", s/60)
	default:
		return fmt.Sprintf("~%.1f s", s)
	}
}
