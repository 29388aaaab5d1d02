// Package human formats values for people.
package human

import (
	"strconv"
	"time"
)

// Duration formats d with its one or two largest units, rounded: 310 µs, 42 ms,
// 1.2 s, 45 s, 1 min 30 s, 2 h, 3 days 4 h.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(-d)
	case d == 0:
		return "0 s"
	case d < time.Millisecond:
		return number(d, time.Microsecond, "µs")
	case d < time.Second-time.Millisecond/2:
		return number(d, time.Millisecond, "ms")
	}
	if tenths := d.Round(100 * time.Millisecond); tenths < 10*time.Second && tenths%time.Second != 0 {
		return strconv.FormatFloat(tenths.Seconds(), 'f', 1, 64) + " s"
	}
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return number(d, time.Second, "s")
	case d < time.Hour:
		return two(d, time.Minute, "min", time.Second, "s")
	}
	switch d = d.Round(time.Minute); {
	case d < 48*time.Hour:
		return two(d, time.Hour, "h", time.Minute, "min")
	}
	return two(d.Round(time.Hour), 24*time.Hour, "days", time.Hour, "h")
}

// number formats d as a whole number of a unit.
func number(d, unit time.Duration, name string) string {
	return strconv.FormatInt(int64(d.Round(unit)/unit), 10) + " " + name
}

// two formats d in two units. The second is left out if it is zero.
func two(d, large time.Duration, name string, small time.Duration, smallName string) string {
	s := strconv.FormatInt(int64(d/large), 10) + " " + name
	if rest := d % large; rest > 0 {
		s += " " + number(rest, small, smallName)
	}
	return s
}
