package score

import (
	"fmt"
	"math"
	"strconv"
)

// A Figure is a number of a report, NaN when there is nothing to measure. Its
// JSON form has at most four decimals, and null for NaN.
type Figure float64

// None is the figure of nothing.
func None() Figure { return Figure(math.NaN()) }

// IsNone reports whether there was nothing to measure.
func (f Figure) IsNone() bool { return math.IsNaN(float64(f)) }

// Rounded formats f with at most four decimals.
func (f Figure) Rounded() string { return string(f.appendRounded(nil)) }

func (f Figure) appendRounded(b []byte) []byte {
	x := math.Round(float64(f)*1e4) / 1e4
	if x == 0 {
		x = 0 // drops the sign
	}
	return strconv.AppendFloat(b, x, 'f', -1, 64)
}

// MarshalJSON writes NaN and infinities as null.
func (f Figure) MarshalJSON() ([]byte, error) {
	if f.IsNone() || math.IsInf(float64(f), 0) {
		return []byte("null"), nil
	}
	return f.appendRounded(nil), nil
}

// UnmarshalJSON reads null as NaN.
func (f *Figure) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*f = None()
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("%s is not a number", b)
	}
	*f = Figure(v)
	return nil
}

// Ratio returns num/den, NaN for 0/0.
func Ratio(num, den float64) float64 { return num / den }
