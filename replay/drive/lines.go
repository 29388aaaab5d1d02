package drive

import (
	"iter"
	"time"

	"github.com/folkmoot/moot/room"
)

// recordedLines are the messages of a transcript, in order. They are kept in
// memory when they are small enough, and otherwise read again for each
// participant, which takes time but no memory.
type recordedLines struct {
	log      iter.Seq2[room.Event, error] // can be read more than once
	classify func(*room.MessagePosted) (recordedLine, bool)
	maxBytes int // that may be kept
	kept     []recordedLine
	inMemory bool
	ownTurns bool // human turns were turns of the transcript; they are not counted in after
}

// A recordedLine is one message: of an agent in its turn, or of a person.
type recordedLine struct {
	from, to   string
	text       string
	visibility room.Visibility
	agent      bool          // posted by an agent, in a turn that was granted
	latency    time.Duration // of an agent's line
	after      int           // of a human turn: how many turns had been granted before
}

// defaultLatency is the duration of a turn whose duration is not known.
const defaultLatency = time.Second

// maxLineBytes is how much may be kept in memory, lineOverhead what a line
// takes in addition to its text. With more than maxReaders participants everything is
// kept, because each would need a reader and an open file.
var maxLineBytes = 16 << 20

const (
	lineOverhead = 128
	maxReaders   = 64
)

// load reads all lines, passes each to visit, and returns how many turns were
// granted.
func (l *recordedLines) load(visit func(*recordedLine)) (turns int, err error) {
	l.inMemory = true
	left := l.maxBytes
	for line, err := range l.read(&turns) {
		if err != nil {
			return 0, err
		}
		visit(&line)
		if left -= len(line.text) + lineOverhead; left < 0 {
			l.kept, l.inMemory = nil, false
		}
		if l.inMemory {
			l.kept = append(l.kept, line)
		}
	}
	return turns, nil
}

// read yields the lines from the log and counts the turns.
func (l *recordedLines) read(turns *int) iter.Seq2[recordedLine, error] {
	return func(yield func(recordedLine, error) bool) {
		for e, err := range l.log {
			if err != nil {
				yield(recordedLine{}, err)
				return
			}
			switch b := e.Body.(type) {
			case room.TurnGranted:
				*turns++
			case room.MessagePosted:
				line, ok := l.classify(&b)
				line.after = *turns
				if ok && !yield(line, nil) {
					return
				}
			}
		}
	}
}

// of yields the lines of an agent, or with "" the human turns.
func (l *recordedLines) of(agent string) iter.Seq2[recordedLine, error] {
	all := func(yield func(recordedLine, error) bool) {
		for _, line := range l.kept {
			if !yield(line, nil) {
				return
			}
		}
	}
	if !l.inMemory {
		turns := 0
		all = l.read(&turns)
	}
	return func(yield func(recordedLine, error) bool) {
		humanTurns := 0
		for line, err := range all {
			if err == nil && (line.agent != (agent != "") || line.agent && line.from != agent) {
				continue
			}
			if humanTurns++; l.ownTurns && !line.agent {
				line.after -= humanTurns
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// A lineReader reads the lines of each participant at its own pace.
type lineReader struct {
	lines *recordedLines
	pull  map[string]func() (recordedLine, error, bool)
	stop  []func()
}

// next returns the next line of the agent, or with "" the next human turn. It
// returns false when none is left.
func (r *lineReader) next(agent string) (recordedLine, bool, error) {
	pull := r.pull[agent]
	if pull == nil {
		var stop func()
		pull, stop = iter.Pull2(r.lines.of(agent))
		if r.pull == nil {
			r.pull = map[string]func() (recordedLine, error, bool){}
		}
		r.pull[agent], r.stop = pull, append(r.stop, stop)
	}
	line, err, ok := pull()
	return line, ok && err == nil, err
}

func (r *lineReader) close() {
	for _, stop := range r.stop {
		stop()
	}
}
