package problem

import (
	"cmp"
	"slices"
)

// Codes returns the meanings of all codes, sorted by code.
func Codes() []Meaning {
	all := slices.Concat(fileCodes, settingCodes, roomCodes, seatCodes, agentCodes, logCodes, clusterCodes, relayCodes, transcriptCodes, replayCodes, sandboxCodes, packCodes, authorCodes, commandCodes, deviceCodes, shareCodes, apiCodes)
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
