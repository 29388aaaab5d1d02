package reference

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A Model is what a room knows, as the rules of this package state it. The fields that
// are exported tell tests what fits next.
type Model struct {
	room.Spec
	exploration
	Limits           room.Limits
	Phase            room.Phase
	cause, actor     string
	degraded         bool // it settled without its work
	Seats            []*Seat
	Turn             *Turn // that is open, or nil
	Tally            room.Tally
	Decision, Seq    int64 // newest ones
	Epoch            uint64
	bids             []string            // participants that have bid on the next decision
	texts            []string            // of agents, normalised
	Steps            []Step              // from agent to agent, since a person spoke
	pairs            map[string][]string // of two agents: who handed off to the other, in turns
	watch            bool                // the command has counted a step
	follow           *policy.Handoff     // of the last turn that ended with an answer
	Calls            []*Call
	called           int             // calls that have ended, with those below them
	seen             map[string]bool // ids of commands and messages
	answered         map[string]bool // drafts and permission requests, by hash and id
	second           bool            // the command answers one of them again
	LastDraft        string          // of those answered
	news, declinedAt int64           // events: the newest that the policy wants to know of, the last decline

	now, clock, retryAt time.Duration
	out                 []room.Body
}

// A Seat is a participant, as the model knows it.
type Seat struct {
	room.Participant
	session
	budget
	standing     room.Standing
	set          room.Mode // by a person; "" for that of Participant
	takenBy      string
	last, failed int // its last turn, its failures in a row
	spent        int64
	fault        bool  // the room itself suspended it
	Attempt      int64 // the event because of which its agent has to start; 0 when it is ready
	startedAt    time.Duration
}

// A Turn is the open turn, as the model knows it.
type Turn struct {
	room.TurnGranted
	requests
	turnHandOffs
	Seat    *Seat
	started time.Duration
	Epoch   uint64 // of the process that granted it
	Draft   *room.TurnDrafted
	drafted time.Duration // since when the text of the draft waits
}

// New returns the model of a room that was opened.
func New(open room.Open) *Model {
	m := &Model{Spec: open.Spec, Limits: open.Spec.Limits, Phase: room.PhaseLive, Seq: 1, seen: map[string]bool{}, answered: map[string]bool{}}
	for _, p := range open.Participants {
		x := &Seat{Participant: p, standing: room.Active}
		x.leave()
		m.Seq++
		m.start(x)
		m.Seats = append(m.Seats, x)
	}
	m.news = m.Seq
	return m
}

func (m *Model) seat(id string) *Seat {
	if i := slices.IndexFunc(m.Seats, func(x *Seat) bool { return x.ID == id }); i >= 0 {
		return m.Seats[i]
	}
	return nil
}

// do gives the model a command, and returns the events and whether the command is
// allowed.
func (m *Model) do(c room.Command, now time.Duration) (events []room.Body, allowed bool) {
	m.actor, m.now, m.out, m.second, m.watch = c.Actor, now, nil, false, false
	if c.ID != "" && m.seen[c.ID] {
		return nil, true
	}
	waited := map[*Call]int{}
	for _, c := range m.OpenCalls() {
		if c.WaitUntil > 0 {
			waited[c] = c.Turn
		}
	}
	if allowed = m.act(c.Do); allowed {
		m.loop()
		m.cancelCalls(waited)
	}
	if len(m.out) > 0 {
		m.seen[c.ID] = true
	}
	return m.out, allowed
}

func (m *Model) note(b room.Body) bool {
	switch b := b.(type) {
	case room.TurnPassed, room.TurnFailed, room.TurnInterrupted, room.TurnDrafted:
		m.cancel()
	case room.MessagePosted:
		if b.Turn > 0 {
			m.cancel()
		}
	}
	m.Seq, m.clock = m.Seq+1, max(m.clock, m.now)
	m.out = append(m.out, b)
	return true
}

// DraftOf returns the hash that names a draft.
func DraftOf(request, text string) string {
	sum := sha256.Sum256([]byte(request + "\x00" + text))
	return hex.EncodeToString(sum[:])[:16]
}

// normal returns a text as the loop guard compares it: its words in lower case. The texts
// of the tests have letters and digits only in words.
func normal(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, " ")
}
