package plugins

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/folkmoot/moot/plugins/guest"
)

// maxSavedInputs is the number of inputs that a folder may have.
const maxSavedInputs = 100

// saveInput saves the exact input of a decision that failed with an [*Error],
// and adds to the error's fix how to repeat the decision. It also says when the
// input could not be saved. Other errors are returned as they are.
func (p *Policy) saveInput(q request, err error) error {
	dir := p.host.config.FailDir
	var e *Error
	if dir == "" || !errors.As(err, &e) {
		return err
	}
	path := filepath.Join(dir, fileName(p.name)+"-"+guest.Digest(q.input)[:16]+".json")
	if err := writeInput(dir, path, q.input); err != nil {
		e.Fix += fmt.Sprintf(" (its input could not be saved: %v)", err)
		return e
	}
	e.Fix += fmt.Sprintf("; to see it again: `moot policy run %s %s`", p.rerunOptions, path)
	return e
}

// maxShownSettings is the number of bytes of settings that a command shows.
const maxShownSettings = 300

// rerunOptionsFor returns the options that find a policy again and configure it.
func rerunOptionsFor(m Module) string {
	use := m.Use
	if use == "" {
		use = m.Name
	}
	s := "--policy " + shellQuote(use)
	if n := len(m.Settings); n > 0 && n <= maxShownSettings {
		s += " --settings " + shellQuote(string(m.Settings))
	}
	return s
}

func writeInput(dir, path string, b []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if old, err := filepath.Glob(filepath.Join(dir, "*.json")); err == nil && len(old) >= maxSavedInputs {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%s holds %d inputs already", dir, len(old))
		}
	}
	return os.WriteFile(path, b, 0o600)
}

// fileName makes a file name of a policy's name.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, s)
	return s[:min(len(s), 60)]
}

// shellQuote quotes text that a shell would not take as one word.
func shellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@:") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
