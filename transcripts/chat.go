package transcripts

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/folkmoot/moot/room/log"
)

// A chatMessage is one of OpenAI's chat messages.
type chatMessage struct {
	Role    string `json:"role"`
	Name    string `json:"name,omitempty"`
	Content string `json:"content"`
}

// WriteChat writes the room that entries are of as OpenAI's chat messages,
// {"messages": [...]}, as a reader at that level sees it: the objective with
// the role system, what people and tools said with the role user, agents with
// assistant, and everybody's id as the name, which tells those of one role
// apart. A name has letters, digits, _ and - only, at most 64; what an id has
// else becomes _, and a number keeps two of them apart. What this reader does
// not see is left out.
func WriteChat(w io.Writer, entries iter.Seq2[log.Entry, error], level Level) error {
	out := bufio.NewWriterSize(w, 64<<10)
	c := chatWriter{w: out, names: map[string]string{}, taken: map[string]bool{}}
	out.WriteString(`{"messages":[`)
	for s, err := range c.heard(entries, level) {
		if err != nil {
			return err
		}
		if err := c.message(&s); err != nil {
			return err
		}
	}
	out.WriteString("\n]}\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing chat messages: %w", err)
	}
	return nil
}

// A chatWriter writes messages one by one.
type chatWriter struct {
	recordReader
	w     *bufio.Writer
	n     int
	names map[string]string // by id
	taken map[string]bool
}

func (c *chatWriter) message(s *record) error {
	if s.decline != nil || s.shown == shownHidden || s.shown == shownRedacted {
		return nil
	}
	if c.n == 0 && c.spec.Objective != "" {
		if err := c.write(chatMessage{Role: "system", Content: c.spec.Objective}); err != nil {
			return err
		}
	}
	m := chatMessage{Role: "user", Name: c.nameFor(s.message.From), Content: s.message.Text}
	if kindOf(s.sender) == KindAgent {
		m.Role = "assistant"
	}
	return c.write(m)
}

func (c *chatWriter) write(m chatMessage) error {
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("writing chat messages: %w", err)
	}
	if c.n > 0 {
		c.w.WriteByte(',')
	}
	c.n++
	c.w.WriteByte('\n')
	if _, err := c.w.Write(b); err != nil {
		return fmt.Errorf("writing chat messages: %w", err)
	}
	return nil
}

// maxChatName is how long a name may be, of OpenAI's interface.
const maxChatName = 64

// nameFor returns an id as a name that the interface takes.
func (c *chatWriter) nameFor(id string) string {
	if name, ok := c.names[id]; ok {
		return name
	}
	base := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
	base = base[:min(len(base), maxChatName)]
	name := base
	for n := 2; name == "" || c.taken[name]; n++ {
		suffix := fmt.Sprintf("_%d", n)
		name = base[:min(len(base), maxChatName-len(suffix))] + suffix
	}
	c.names[id], c.taken[name] = name, true
	return name
}
