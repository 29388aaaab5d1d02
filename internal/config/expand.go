package config

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// A variableError reports a ${...} without a value.
type variableError struct{ name, what, hint string }

func (e *variableError) Error() string { return e.what }

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces ${NAME}, ${NAME:-default} (also if NAME is empty) and
// ${NAME:?message}. $${ means ${, and any other $ is kept. With an error it
// returns the text that could be expanded too.
func expand(s string, lookup func(string) (string, bool)) (string, error) {
	var b strings.Builder
	var first error
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			return b.String(), first
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		ref, rest, closed := strings.Cut(s[i+2:], "}")
		if !closed {
			return b.String(), &variableError{what: "${ without }", hint: "write $${ for a literal ${"}
		}
		val, err := variable(ref, lookup)
		first = cmp.Or(first, err)
		b.WriteString(val)
		s = rest
	}
}

// variable returns the value of a reference, the text between the braces.
func variable(ref string, lookup func(string) (string, bool)) (string, error) {
	name, op, arg := ref, "", ""
	if i := strings.IndexByte(ref, ':'); i >= 0 {
		name, op = ref[:i], ref[i:min(i+2, len(ref))]
		arg = ref[i+len(op):]
	}
	if !variableName.MatchString(name) || op != "" && op != ":-" && op != ":?" {
		return "", &variableError{
			what: fmt.Sprintf("${%s} is not a variable", ref),
			hint: "write ${NAME}, ${NAME:-default} or ${NAME:?message}; $${ for a literal ${",
		}
	}
	val, ok := lookup(name)
	switch {
	case op == "" && ok, op != "" && val != "":
		return val, nil
	case op == ":-":
		return arg, nil
	case op == ":?" && arg != "":
		return "", &variableError{name: name, what: "variable " + name + " is not set: " + arg, hint: "export " + name + "=..."}
	}
	return "", &variableError{name: name, what: "variable " + name + " is not set", hint: "export " + name + "=... or write ${" + name + ":-default}"}
}

// variables returns the names that s refers to.
func variables(s string) (names []string) {
	_, _ = expand(s, func(name string) (string, bool) {
		names = append(names, name)
		return "", true
	})
	return names
}

// secretName reports whether a name suggests that the value is a secret.
func secretName(name string) bool {
	parts := strings.Split(strings.ToUpper(name), "_")
	for i, p := range parts {
		switch p {
		case "SECRET", "SECRETS", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "APIKEY":
			return true
		case "KEY":
			if i > 0 && strings.Contains(" API ACCESS PRIVATE SECRET AUTH ENCRYPTION SIGNING ", " "+parts[i-1]+" ") {
				return true
			}
		}
	}
	return false
}
