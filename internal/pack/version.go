package pack

import (
	"regexp"

	"golang.org/x/mod/semver"
)

// versionForm bounds the numbers and forbids build metadata, which
// https://semver.org ignores when it orders versions.
var versionForm = regexp.MustCompile(`^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}(-[0-9A-Za-z.-]+)?$`)

// ValidVersion reports whether s is a version such as 1.2.3 or 1.2.3-rc.1.
func ValidVersion(s string) bool { return parsed(s) != "" }

// CompareVersions returns -1, 0 or 1 in the order of https://semver.org
// (section 11). An invalid version comes before all valid ones.
func CompareVersions(a, b string) int { return semver.Compare(parsed(a), parsed(b)) }

// parsed returns s as package semver writes it, or "" when it is invalid.
func parsed(s string) string {
	if len(s) > 64 || !versionForm.MatchString(s) || !semver.IsValid("v"+s) {
		return ""
	}
	return "v" + s
}
