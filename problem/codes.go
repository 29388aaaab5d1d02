package problem

import (
	"cmp"
	"slices"
)

// A Meaning documents a code. `moot help CODE` prints it. Codes are stable.
// Codes of package plugins are in lower case.
type Meaning struct {
	Code  string `json:"code"`
	Exit  int    `json:"exit"` // exit code of a command that fails with it; see `moot help exit-codes`
	Means string `json:"means"`
	Fix   string `json:"fix,omitempty"`
}

// Exit codes. internal/cli has the whole table.
const (
	failure = 1
	usage   = 2
	input   = 3
	denied  = 4
	gate    = 6
	policy  = 7
)

// Codes returns the meanings of all codes, sorted by code.
func Codes() []Meaning {
	all := slices.Concat(fileCodes, settingCodes, roomCodes, agentCodes, logCodes, relayCodes, transcriptCodes, replayCodes, sandboxCodes, packCodes, authorCodes, commandCodes, deviceCodes, shareCodes)
	slices.SortFunc(all, func(a, b Meaning) int { return cmp.Compare(a.Code, b.Code) })
	return all
}

// Lookup returns the meaning of a code. It reports false if there is none.
func Lookup(code string) (Meaning, bool) {
	for _, m := range Codes() {
		if m.Code == code {
			return m, true
		}
	}
	return Meaning{}, false
}
