package relay

import (
	"strconv"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

// shorten leaves out the oldest part of what a prompt tells of the past, for
// it does not fit into a message of the relay. What is new stays whole. It
// reports false when nothing is left that could go.
func shorten(p *endpoint.Prompt, size int) bool {
	over := size - session.MaxMessage + 4<<10
	gone := 0
	for gone < len(p.History) && over > 0 {
		over -= len(body(line(p.History[gone])))
		gone++
	}
	switch {
	case gone > 0:
		p.History = p.History[gone:]
		leaveOut(p, "the oldest "+strconv.Itoa(gone)+" of the earlier messages did not fit")
	case p.Summary != "":
		p.Summary = ""
		leaveOut(p, "the lines about older messages did not fit")
	default:
		return false
	}
	return true
}

func leaveOut(p *endpoint.Prompt, what string) {
	if p.Omitted != "" {
		p.Omitted += "; "
	}
	p.Omitted += what
}
