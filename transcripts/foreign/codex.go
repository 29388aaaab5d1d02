package foreign

import (
	"strings"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// A codex reads a rollout: lines {timestamp, type, payload}. What was said is
// in lines of type response_item; those of type event_msg say it again for
// the screen. A sub-agent has a file of its own, whose session_meta names the
// session that started it; its user is that session.
type codex struct {
	*talk
	made calls
	user string
	me   string
}

func readCodex(in *input) (*talk, error) {
	c := codex{talk: newTalk(in.name, Codex, ""), made: calls{}}
	c.c.ID = ""
	for _, line := range in.docs {
		at, _ := time.Parse(time.RFC3339Nano, line.get("timestamp").word())
		c.line(line, at)
		if err := line.failed(); err != nil {
			return nil, err
		}
	}
	if c.c.ID == "" {
		c.c.ID = stem(in.name)
	}
	return c.talk, nil
}

func (c *codex) line(v value, at time.Time) {
	payload := v.need("payload")
	switch kind := v.need("type").text(); kind {
	case "session_meta":
		c.session(payload)
	case "response_item":
		c.item(payload, at)
	case "event_msg":
		c.leave("event for the screen")
	default:
		c.leave("line of type " + cut(clean(kind), 60))
	}
}

// session takes the first line: whose session it is.
func (c *codex) session(v value) {
	c.leave("line of type session_meta")
	if c.c.ID != "" {
		return // a session that was resumed repeats those before it
	}
	c.c.ID = clean(v.get("id").text())
	spawn := v.get("source").get("subagent").get("thread_spawn")
	if parent := spawn.get("parent_thread_id").word(); parent != "" {
		c.user = c.seat(parent, "parent", transcripts.KindAgent, "started this sub-agent")
		c.me = c.seat(c.c.ID, spawn.get("agent_nickname").word(), transcripts.KindAgent, spawn.get("agent_role").word())
	}
}

func (c *codex) people() (user, me string) {
	if c.user == "" {
		c.user = c.seat("user", "", transcripts.KindHuman, "")
	}
	if c.me == "" {
		c.me = c.seat("assistant", "Codex", transcripts.KindAgent, "")
	}
	return c.user, c.me
}

// item takes one item of the conversation with the model.
func (c *codex) item(v value, at time.Time) {
	p := piece{at: at}
	id := v.get("call_id").word()
	switch kind := v.need("type").text(); kind {
	case "message":
		c.message(v, p)
	case "reasoning":
		c.reasoning(v, p)
	case "function_call", "custom_tool_call":
		args := v.get("arguments")
		if args.kind() == 0 {
			args = v.get("input")
		}
		_, me := c.people()
		c.call(me, v.need("name").text(), arguments(args), id, c.made, p)
	case "local_shell_call", "web_search_call":
		_, me := c.people()
		c.call(me, strings.TrimSuffix(kind, "_call"), arguments(v.get("action")), id, c.made, p)
	case "function_call_output", "custom_tool_call_output":
		c.answer(c.made[id], c.output(v.get("output")), p)
	default:
		c.leave("item of type " + cut(clean(kind), 60))
	}
}

// output is what a tool answered: a string, parts, or an object with either.
func (c *codex) output(v value) string {
	if v.kind() == '{' {
		if inner := v.get("content"); inner.kind() != 0 {
			return c.content(inner)
		}
		return v.compact()
	}
	return c.content(v)
}

func (c *codex) message(v value, p piece) {
	user, me := c.people()
	text := c.content(v.get("content"))
	switch role := v.need("role").text(); {
	case role == "assistant":
		p.speaker = me
	case role != "user":
		c.leave("instructions of the role " + cut(clean(role), 60))
		return
	case added(text):
		c.leave("text that the program added")
		return
	default:
		p.speaker = user
	}
	if strings.TrimSpace(text) == "" {
		c.leave("message without a text")
		return
	}
	p.text = text
	c.say(p)
}

// added reports whether a text of the role user is one with which Codex
// starts a session.
func added(text string) bool {
	text = strings.TrimSpace(text)
	for _, start := range []string{"<environment_context>", "<user_instructions>", "<permissions instructions>", "# AGENTS.md instructions", "<turn_aborted>"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// reasoning takes the summary of what the model thought; the whole is
// encrypted.
func (c *codex) reasoning(v value, p piece) {
	var all []string
	for _, key := range []string{"summary", "content"} {
		if list := v.get(key); list.kind() == '[' {
			for part := range list.items() {
				all = append(all, part.get("text").word())
			}
		}
	}
	p.text = strings.Join(all, "\n")
	if strings.TrimSpace(p.text) == "" {
		c.leave("thoughts that are encrypted")
		return
	}
	_, p.speaker = c.people()
	p.channel = thought
	c.say(p)
}
