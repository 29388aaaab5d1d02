package endpoint

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// An AllowRule is a rule of an agent's owner: an action that it matches needs no
// person. It is written in room.yaml and in the settings. It decides about what the
// agent says that it will do.
type AllowRule struct {
	Kind string `json:"kind"` // one of the Action constants, but not ActionOther
	// Argv is the command line, word by word. "*" stands for one word, as the last
	// word for any number of words. A rule for ActionExecute needs it; rules for
	// other kinds have none.
	Argv []string `json:"argv,omitempty"`
	// Paths are patterns of files, relative to the agent's folder, with "/" between
	// elements. "*", "?" and "[...]" match within an element (see path.Match), "**"
	// matches any number of elements. Each file of the action must match one of them.
	// Without patterns all files in the agent's folder match. The folder itself can
	// only be read and searched, and commands can run in it.
	Paths []string `json:"paths,omitempty"`
}

// anyWord matches one word of a command line, and any number of words at its end.
const anyWord = "*"

// ruledKinds are the kinds for which there are rules. The value says whether an
// action of that kind must name the files that it concerns.
var ruledKinds = map[string]bool{
	ActionRead: true, ActionEdit: true, ActionDelete: true, ActionMove: true, ActionSearch: true,
	ActionExecute: false, ActionFetch: false, ActionThink: false,
}

// Check returns an error that says why r is no valid rule.
func (r AllowRule) Check() error {
	switch _, known := ruledKinds[r.Kind]; {
	case r.Kind == ActionOther:
		return errors.New("there are no rules for actions of unknown kinds: a person decides about each")
	case !known:
		return fmt.Errorf("%s is no kind of actions", Quote(r.Kind))
	case r.Kind == ActionExecute && len(r.Argv) == 0:
		return errors.New("a rule of kind execute needs argv: without it every command would be allowed")
	case r.Kind != ActionExecute && r.Argv != nil:
		return fmt.Errorf("only a rule of kind execute has argv, and this one is of kind %s", r.Kind)
	case r.Kind == ActionExecute && r.Argv[0] == anyWord:
		return errors.New("argv does not name the program: \"*\" as the first word would allow every command")
	case slices.Contains(r.Argv, ""):
		return errors.New("argv has an empty word")
	}
	for _, p := range r.Paths {
		if _, err := path.Match(p, ""); err != nil || p == "" || path.IsAbs(p) || slices.Contains(strings.Split(p, "/"), "..") {
			return fmt.Errorf("%s is no pattern of files in the agent's folder", Quote(p))
		}
	}
	return nil
}

// String returns the rule as it is written.
func (r AllowRule) String() string {
	var b strings.Builder
	b.WriteString("{kind: " + r.Kind)
	if len(r.Argv) > 0 {
		b.WriteString(", argv: [" + strings.Join(r.Argv, ", ") + "]")
	}
	if len(r.Paths) > 0 {
		b.WriteString(", paths: [" + strings.Join(r.Paths, ", ") + "]")
	}
	return b.String() + "}"
}

// Allows reports whether r matches p. The paths of p must be relative to the
// agent's folder, with symbolic links resolved and "/" between elements; see package
// allow. An invalid rule matches nothing.
func (r AllowRule) Allows(p Permission) bool {
	if r.Kind != p.Kind || r.Check() != nil {
		return false
	}
	if r.Kind == ActionExecute {
		if !r.allowsCommand(p) {
			return false
		}
	} else if p.Command != "" || len(p.Argv) > 0 {
		return false // it runs a program, whatever its kind says
	}
	if len(p.Paths) == 0 {
		return !ruledKinds[r.Kind] && len(r.Paths) == 0 // an action of an unknown extent goes to the owner
	}
	for _, file := range p.Paths {
		whole := file == "." && r.Kind != ActionRead && r.Kind != ActionSearch && r.Kind != ActionExecute // the folder itself
		if whole || !within(file) || len(r.Paths) > 0 && !slices.ContainsFunc(r.Paths, func(pattern string) bool { return matchFile(pattern, file) }) {
			return false
		}
	}
	return true
}

// allowsCommand reports whether argv matches the command. An agent that states the
// command in both forms may run either, so that both have to match.
func (r AllowRule) allowsCommand(p Permission) bool {
	words, ok := Words(p.Command)
	switch {
	case p.Command == "" && len(p.Argv) == 0:
		return false
	case p.Command != "" && (!ok || !matchWords(r.Argv, words)):
		return false
	}
	return len(p.Argv) == 0 || matchWords(r.Argv, p.Argv)
}

// matchWords reports whether words match the pattern. A word that stands for any
// word must be plain, because the agent may run argv through a shell.
func matchWords(pattern, words []string) bool {
	for i, want := range pattern {
		switch {
		case want == anyWord && i == len(pattern)-1:
			return len(words) >= i && !slices.ContainsFunc(words[i:], func(w string) bool { return !plainWord(w) })
		case i >= len(words) || want != anyWord && want != words[i] || want == anyWord && !plainWord(words[i]):
			return false
		}
	}
	return len(words) == len(pattern)
}

// shellCharacters have a meaning in a shell beyond the one of a word.
const shellCharacters = ";|&<>$()`\n'\"\\"

// Words splits a command line into its words at spaces and tabs. It returns false
// for a line in which a shell would see more than words.
func Words(command string) ([]string, bool) {
	words := strings.FieldsFunc(command, func(r rune) bool { return r == ' ' || r == '\t' })
	return words, len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !plainWord(w) })
}

// plainWord reports whether a shell and a person see nothing but w in w.
func plainWord(w string) bool {
	return w != "" && !strings.ContainsAny(w, shellCharacters) && !strings.ContainsFunc(w, func(r rune) bool {
		return unicode.IsSpace(r) || invisible(r) || r == unicode.ReplacementChar
	})
}

// within reports whether file is a clean path to a file in the folder that it is
// relative to.
func within(file string) bool {
	return file != "" && !path.IsAbs(file) && path.Clean(file) == file && file != ".." && !strings.HasPrefix(file, "../")
}

// matchFile matches a path with a pattern, element by element.
func matchFile(pattern, file string) bool {
	return matchElements(strings.Split(pattern, "/"), strings.Split(file, "/"))
}

// matchElements returns to the last "**" when an element does not match, so that its
// time is at most the product of both lengths.
func matchElements(pattern, file []string) bool {
	i, j, star, from := 0, 0, -1, 0
	for j < len(file) {
		if i < len(pattern) && pattern[i] == "**" {
			star, from = i, j
			i++
			continue
		}
		if i < len(pattern) {
			if ok, err := path.Match(pattern[i], file[j]); err == nil && ok {
				i, j = i+1, j+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		from++
		i, j = star+1, from
	}
	for i < len(pattern) && pattern[i] == "**" {
		i++
	}
	return i == len(pattern)
}
