package openai

import "strings"

const (
	thoughtBegin = "<think>"
	thoughtEnd   = "</think>"
)

// A thoughtFilter removes the <think> blocks at the beginning of a text that comes
// in parts.
type thoughtFilter struct {
	held     string // what may be the beginning of a tag
	thinking bool
	speaking bool // all that follows is the answer
}

// add takes the next part and returns what is known to be of the answer.
func (f *thoughtFilter) add(part string) string {
	if f.speaking {
		return part
	}
	f.held += part
	for {
		if f.thinking {
			_, rest, ended := strings.Cut(f.held, thoughtEnd)
			if !ended {
				f.held = f.held[max(0, len(f.held)-len(thoughtEnd)+1):]
				return ""
			}
			f.held, f.thinking = rest, false
		}
		begin := strings.TrimLeft(f.held, " \t\r\n")
		rest, opened := strings.CutPrefix(begin, thoughtBegin)
		switch {
		case opened:
			f.held, f.thinking = rest, true
		case strings.HasPrefix(thoughtBegin, begin):
			f.held = begin
			return ""
		default:
			f.speaking = true
			return begin
		}
	}
}

// end returns what was held back of the answer.
func (f *thoughtFilter) end() string {
	if f.speaking || f.thinking {
		return ""
	}
	f.speaking = true
	return f.held
}
