package human

import (
	"strconv"
	"strings"
)

// Money writes an amount that is given in millionths of the currency: 12.50,
// 0.034. It has two decimals, or more where the amount needs them.
func Money(millionths int64) string {
	s := strconv.FormatFloat(float64(millionths)/1e6, 'f', 6, 64)
	s = strings.TrimRight(s, "0")
	for len(s)-strings.IndexByte(s, '.') < 3 {
		s += "0"
	}
	return s
}
