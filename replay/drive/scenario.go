package drive

import (
	"math"
	"slices"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
)

// A Scenario is a transcript prepared for simulation: the room, its
// participants and their recorded lines. Policies can be simulated on it one
// after the other.
type Scenario struct {
	spec         room.Spec
	participants []room.Participant
	lines        recordedLines
	lineCounts   map[string]int // by participant that can be given a turn
	humanTurns   int            // lines of the others
	onlyHumans   bool           // no agent spoke, so all participants are given turns like agents
	firstSpeaker string
	opener       string // has the first turn of a conversation, unless a person has; "" in a room of moot
}

// NewScenario reads the participants of h and their lines.
func NewScenario(h *history.History) (*Scenario, error) {
	s, agentSpoke := &Scenario{lineCounts: map[string]int{}}, false
	for e, err := range h.Reread() {
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case room.Opened:
			s.spec = b.Spec
			s.spec.Explore = 0 // its figures are those of the policy alone
		case room.Joined:
			b.Participant.Mode, b.Participant.Endpoint = room.FullAuto, nil // a simulation has no person to approve drafts
			if !slices.ContainsFunc(s.participants, func(p room.Participant) bool { return p.ID == b.Participant.ID }) {
				s.participants = append(s.participants, b.Participant)
			}
		case room.MessagePosted:
			if s.firstSpeaker == "" {
				s.firstSpeaker = b.Message.From
			}
			agentSpoke = agentSpoke || b.Turn > 0 && s.takesTurns(b.Message.From)
		}
	}
	s.onlyHumans = h.Conversation() && !agentSpoke
	s.lines = recordedLines{log: h.Reread(), classify: s.classify, maxBytes: maxLineBytes}
	if len(s.participants) > maxReaders {
		s.lines.maxBytes = math.MaxInt
	}
	turns, err := s.lines.load(s.count)
	if err != nil {
		return nil, err
	}
	if h.Conversation() {
		s.setLimits(turns)
	}
	return s, nil
}

// Lines is how many recorded lines can be posted in turns.
func (s *Scenario) Lines() int {
	n := 0
	for _, lines := range s.lineCounts {
		n += lines
	}
	return n
}

// Choosable is how many participants a policy can give turns.
func (s *Scenario) Choosable() int {
	n := 0
	for _, p := range s.participants {
		if s.takesTurns(p.ID) {
			n++
		}
	}
	return n
}

// takesTurns reports whether the policy may give the participant a turn.
func (s *Scenario) takesTurns(id string) bool {
	return slices.ContainsFunc(s.participants, func(p room.Participant) bool {
		return p.ID == id && (s.onlyHumans || p.Kind != policy.Human)
	})
}

// classify returns the recorded line of a message, if it is one.
func (s *Scenario) classify(b *room.MessagePosted) (recordedLine, bool) {
	m := &b.Message
	line := recordedLine{from: m.From, to: m.To, text: m.Text, visibility: m.Visibility}
	if !s.takesTurns(m.From) {
		return line, true
	}
	line.agent, line.latency = true, max(b.Latency, defaultLatency)
	if s.onlyHumans {
		line.latency = defaultLatency
	}
	return line, b.Turn > 0
}

func (s *Scenario) count(line *recordedLine) {
	if line.agent {
		s.lineCounts[line.from]++
	} else {
		s.humanTurns++
	}
}

// setLimits gives the room of a conversation as many turns as the conversation
// had and no other limit. No participant has two turns in a row, because
// consecutive turns are merged.
func (s *Scenario) setLimits(turns int) {
	const unlimited = 1 << 30
	s.spec.Limits = room.Limits{MaxDuration: unlimited * time.Second, SameText: unlimited, SameTextOf: 1, MaxOutput: unlimited, MaxRing: unlimited, MaxInternal: unlimited, MaxPingPong: unlimited}
	if s.onlyHumans {
		for i := range s.participants {
			s.participants[i].Kind = policy.Local
		}
	} else {
		turns -= s.humanTurns
		s.lines.ownTurns = true
	}
	if s.takesTurns(s.firstSpeaker) {
		s.opener = s.firstSpeaker
	}
	s.spec.Limits.MaxTurns = max(turns, 1)
	for i := range s.participants {
		s.participants[i].Cooldown = 1
	}
}
