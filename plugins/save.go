package plugins

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mostSaved bounds the inputs that are kept.
const mostSaved = 100

// save keeps the exact input of a decision that failed and tells how to make
// it again. That the input could not be kept is said too: it must not hide
// what happened.
func (p *Policy) save(c call, e *Error) *Error {
	dir := p.host.config.FailDir
	if dir == "" {
		return e
	}
	path := filepath.Join(dir, fileName(p.name)+"-"+digestOf(c.input)[:16]+".json")
	if err := write(dir, path, c.input); err != nil {
		e.Fix += fmt.Sprintf(" (its input could not be saved: %v)", err)
		return e
	}
	e.Fix += fmt.Sprintf("; to see it again: `moot policy run %s %s`", p.again, path)
	return e
}

// mostShown bounds the settings that are part of a command to type.
const mostShown = 300

// againOptions are what finds a policy again and configures it so.
func againOptions(m Module) string {
	use := m.Use
	if use == "" {
		use = m.Name
	}
	s := "--policy " + shellName(use)
	if n := len(m.Settings); n > 0 && n <= mostShown {
		s += " --settings " + shellName(string(m.Settings))
	}
	return s
}

func write(dir, path string, b []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if old, err := filepath.Glob(filepath.Join(dir, "*.json")); err == nil && len(old) >= mostSaved {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%s holds %d inputs already", dir, len(old))
		}
	}
	return os.WriteFile(path, b, 0o600)
}

// fileName makes a file's name of a policy's.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, s)
	return s[:min(len(s), 60)]
}

// shellName quotes what a shell would take for more than a word.
func shellName(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@:") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
