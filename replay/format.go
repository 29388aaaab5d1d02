package replay

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// appendRounded writes f with at most four decimals.
func appendRounded(b []byte, f float64) []byte {
	if f = math.Round(f*1e4) / 1e4; f == 0 {
		f = 0 // without the sign
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

func parseFigure(b []byte, f *Figure) error {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("%s is no figure", b)
	}
	*f = Figure(v)
	return nil
}

// percent is f in per cent, or a dash.
func percent(f float64) string {
	if math.IsNaN(f) {
		return "—"
	}
	return fmt.Sprintf("%.1f %%", 100*f)
}

// decimal is f with two decimals, or a dash.
func decimal(f float64) string {
	if math.IsNaN(f) {
		return "—"
	}
	return fmt.Sprintf("%.2f", f)
}

// signed is n with its sign, a true minus.
func signed(n int) string {
	switch {
	case n < 0:
		return "−" + thousands(-n)
	case n > 0:
		return "+" + thousands(n)
	}
	return "±0"
}

// thousands groups digits: 1,074.
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

// tokens is an estimate: ~1.92M.
func tokens(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("~%.2fM", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("~%.0fk", n/1e3)
	}
	return fmt.Sprintf("~%.0f", n)
}

// count is n of a noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

// money is an estimate of millionths of a currency; a dash where nothing has a
// price.
func money(n float64) string {
	if n == 0 {
		return "—"
	}
	return fmt.Sprintf("~%.2f", n/1e6)
}

// whole is f without decimals, or a dash.
func whole(f float64) string {
	if math.IsNaN(f) {
		return "—"
	}
	return fmt.Sprintf("%.0f", f)
}
