package pack

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// A version is one of https://semver.org, without build metadata.
type version struct {
	number [3]uint64
	pre    []string // nil for a release
}

var versionForm = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$`)

func parseVersion(s string) (version, bool) {
	m := versionForm.FindStringSubmatch(s)
	if m == nil || len(s) > 64 {
		return version{}, false
	}
	var v version
	for i := range v.number {
		v.number[i], _ = strconv.ParseUint(m[i+1], 10, 64) // nine digits
	}
	if m[4] != "" {
		v.pre = strings.Split(m[4], ".")
	}
	return v, true
}

// ValidVersion reports whether s is a version such as 1.2.3 or 1.2.3-rc.1.
func ValidVersion(s string) bool {
	_, ok := parseVersion(s)
	return ok
}

// CompareVersions orders versions as semver.org does (section 11); what is no
// version comes before all.
func CompareVersions(a, b string) int {
	v, okA := parseVersion(a)
	w, okB := parseVersion(b)
	if !okA || !okB {
		return cmp.Compare(btoi(okA), btoi(okB))
	}
	for i := range v.number {
		if c := cmp.Compare(v.number[i], w.number[i]); c != 0 {
			return c
		}
	}
	if v.pre == nil || w.pre == nil {
		return cmp.Compare(btoi(v.pre == nil), btoi(w.pre == nil))
	}
	for i := range min(len(v.pre), len(w.pre)) {
		if c := comparePre(v.pre[i], w.pre[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(v.pre), len(w.pre))
}

// comparePre orders numbers before words and numbers by their value.
func comparePre(a, b string) int {
	m, errA := strconv.ParseUint(a, 10, 64)
	n, errB := strconv.ParseUint(b, 10, 64)
	switch {
	case errA == nil && errB == nil:
		return cmp.Compare(m, n)
	case errA == nil || errB == nil:
		return cmp.Compare(btoi(errB == nil), btoi(errA == nil))
	}
	return cmp.Compare(a, b)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
