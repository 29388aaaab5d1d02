package spawn

import (
	"io"
	"strings"
	"sync"

	"github.com/folkmoot/moot/internal/term"
)

// tailBytes is how much of the standard error of a process is kept.
const tailBytes = 8 << 10

// shortSecret is the minimum length of a value to redact. Shorter values, such
// as "1" and "true", would redact whole texts.
const shortSecret = 6

// A tail keeps the end of the standard error and the values to redact in it.
type tail struct {
	mu      sync.Mutex
	ring    []byte
	cut     bool
	secrets []string // pairs for strings.NewReplacer
}

func newTail(env []string) *tail {
	t := new(tail)
	for _, kv := range env {
		if _, v, ok := strings.Cut(kv, "="); ok && len(v) >= shortSecret {
			t.secrets = append(t.secrets, v, "[redacted]")
		}
	}
	return t
}

// fill reads r to its end, so that the process never blocks on writing.
func (t *tail) fill(r io.Reader) {
	buf := make([]byte, tailBytes)
	for {
		n, err := r.Read(buf)
		t.add(buf[:n])
		if err != nil {
			return
		}
	}
}

func (t *tail) add(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring = append(t.ring, b...)
	if n := len(t.ring) - tailBytes; n > 0 {
		t.ring = append(t.ring[:0], t.ring[n:]...)
		t.cut = true
	}
}

// String returns the text. A truncated first line is dropped.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.ring)
	if t.cut {
		// The truncated line could hold the end of a secret.
		if _, rest, ok := strings.Cut(s, "\n"); ok {
			s = rest
		} else if len(t.secrets) > 0 {
			s = ""
		}
	}
	return strings.TrimSpace(term.Strip(strings.NewReplacer(t.secrets...).Replace(s)))
}
