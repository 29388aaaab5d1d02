package replay

import "github.com/folkmoot/moot/room"

// What a room's state knows of every message grows with the room, slowly. So a
// walk keeps that of the newest only, which is as far back as windows of a usual
// room reach. When one reaches back further, the log is read again up to here,
// once, and from then on all of it is kept.
const (
	keptMessages = 8192
	shortenEvery = 512
)

// shorten drops what is too old. A simulation has no log to read again.
func (p *point) shorten() {
	if n := p.state.Tally.Messages; n > keptMessages && n%shortenEvery == 0 && !p.long && !p.simulated {
		p.state.Shorten(keptMessages)
	}
}

// lengthen makes the state whole again, and reports whether it is another now.
func (p *point) lengthen() bool {
	if p.long || p.simulated {
		return false
	}
	p.long = true
	s := &room.State{}
	for e, err := range p.h.again() {
		if err != nil {
			p.failed = err
			return false
		}
		if e.Seq > p.state.Seq {
			break
		}
		s.Apply(e)
	}
	p.state = s
	return true
}
