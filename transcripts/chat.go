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

// A chatMessage is a chat message of the OpenAI API.
type chatMessage struct {
	Role    string `json:"role"`
	Name    string `json:"name,omitempty"`
	Content string `json:"content"`
}

// WriteChat writes a room as OpenAI chat messages, {"messages": [...]}, as
// readers at level see it. The objective has the role system, people and tools
// have the role user, agents the role assistant. The name is the id of the
// participant; characters other than letters, digits, _ and - become _, and a
// number keeps equal names apart. Hidden messages are left out.
func WriteChat(w io.Writer, entries iter.Seq2[log.Entry, error], level Level) error {
	out := bufio.NewWriterSize(w, 64<<10)
	c := chatWriter{list: listWriter{w: out, what: "chat messages"}, names: map[string]string{}, taken: map[string]bool{}}
	out.WriteString(`{"messages":[`)
	for s, err := range c.records(entries, level) {
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

// A chatWriter writes the messages of a room.
type chatWriter struct {
	recordReader
	list  listWriter
	names map[string]string // by id
	taken map[string]bool
}

func (c *chatWriter) message(s *record) error {
	if s.isSilence() || s.shown == shownHidden || s.shown == shownRedacted {
		return nil
	}
	if c.list.n == 0 && c.spec.Objective != "" {
		if err := c.list.write(chatMessage{Role: "system", Content: c.spec.Objective}); err != nil {
			return err
		}
	}
	m := chatMessage{Role: "user", Name: c.nameFor(s.message.From), Content: s.message.Text}
	if kindOf(s.sender) == KindAgent {
		m.Role = "assistant"
	}
	return c.list.write(m)
}

// A listWriter writes the elements of a JSON array, one a line.
type listWriter struct {
	w    *bufio.Writer
	what string // for errors
	n    int    // elements written
}

func (l *listWriter) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing %s: %w", l.what, err)
	}
	if l.n++; l.n > 1 {
		l.w.WriteByte(',')
	}
	l.w.WriteByte('\n')
	if _, err := l.w.Write(b); err != nil {
		return fmt.Errorf("writing %s: %w", l.what, err)
	}
	return nil
}

// maxChatName bounds the length of a name in the OpenAI API.
const maxChatName = 64

// nameFor returns a valid and unique name for an id.
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
