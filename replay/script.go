package replay

import (
	"iter"
	"time"

	"github.com/folkmoot/moot/room"
)

// A script is what was said in a transcript, in order. It is held when it is
// short, and else read again by everybody who speaks: that takes time, but no
// memory that grows with the transcript.
type script struct {
	log      iter.Seq2[room.Event, error] // can be read more than once
	classify func(*room.MessagePosted) (saying, bool)
	most     int      // bytes that may be held
	all      []saying // when held
	held     bool
	turns    bool // cues had turns of their own, which are not counted
}

// A saying is what somebody said: the line of an agent in its turn, or the cue
// of a person.
type saying struct {
	from, to string
	text     string
	shown    room.Visibility
	line     bool
	latency  time.Duration // of a line
	after    int           // of a cue: how many turns had been granted
}

// beat is how long a turn takes of which it is not known.
const beat = time.Second

// heldBytes is how much of what was said is held, sayingBytes what each takes
// beside its text. Of a cast of more than mostReaders all is held: each would
// read, and keep a file open.
var heldBytes = 16 << 20

const (
	sayingBytes = 128
	mostReaders = 64
)

// saying tells what a message is in the play, if anything.
func (c *cast) saying(b *room.MessagePosted) (saying, bool) {
	m := &b.Message
	s := saying{from: m.From, to: m.To, text: m.Text, shown: m.Visibility}
	if c.driven(m.From) {
		s.line, s.latency = true, max(b.Latency, beat)
		if c.everybody {
			s.latency = beat
		}
		return s, b.Turn > 0
	}
	return s, true
}

// hold reads all of the script, tells each of it, and returns how many turns
// there were.
func (s *script) hold(each func(*saying)) (turns int, err error) {
	s.held = true
	left := s.most
	for x, err := range s.read(&turns) {
		if err != nil {
			return 0, err
		}
		each(&x)
		if left -= len(x.text) + sayingBytes; left < 0 {
			s.all, s.held = nil, false
		}
		if s.held {
			s.all = append(s.all, x)
		}
	}
	return turns, nil
}

// read yields the script from the log, and counts its turns.
func (s *script) read(turns *int) iter.Seq2[saying, error] {
	return func(yield func(saying, error) bool) {
		for e, err := range s.log {
			if err != nil {
				yield(saying{}, err)
				return
			}
			switch b := e.Body.(type) {
			case room.TurnGranted:
				*turns++
			case room.MessagePosted:
				x, ok := s.classify(&b)
				x.after = *turns
				if ok && !yield(x, nil) {
					return
				}
			}
		}
	}
}

// sayings yields the lines of one of the cast, or with "" the cues.
func (s *script) sayings(who string) iter.Seq2[saying, error] {
	all := func(yield func(saying, error) bool) {
		for _, x := range s.all {
			if !yield(x, nil) {
				return
			}
		}
	}
	if !s.held {
		turns := 0
		all = s.read(&turns)
	}
	return func(yield func(saying, error) bool) {
		cues := 0
		for x, err := range all {
			if err == nil && (x.line != (who != "") || x.line && x.from != who) {
				continue
			}
			if cues++; s.turns && !x.line {
				x.after -= cues // its own turn and those of cues before
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// A stage is where a cast plays: everybody has got to some place of the script.
type stage struct {
	script *script
	next   map[string]func() (saying, error, bool)
	stop   []func()
	cue    *saying // the next one, when it has been looked at
}

// say returns the next of who's lines, or with "" the next cue; false when
// there is none left.
func (s *stage) say(who string) (saying, bool, error) {
	next := s.next[who]
	if next == nil {
		var stop func()
		next, stop = iter.Pull2(s.script.sayings(who))
		if s.next == nil {
			s.next = map[string]func() (saying, error, bool){}
		}
		s.next[who], s.stop = next, append(s.stop, stop)
	}
	x, err, ok := next()
	return x, ok && err == nil, err
}

// close gives up what the script is read from.
func (s *stage) close() {
	for _, stop := range s.stop {
		stop()
	}
}
