package sim

import (
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// kinds of moments.
const (
	onEvent          = iota // an event was applied
	onApply                 // an event is about to be applied
	onDecided               // a command was decided
	onSend                  // a prompt leaves
	onHeld                  // a prompt is held back
	onAsked                 // the policy is asked
	onLate                  // an agent answers a request that has ended
	onForged                // an agent answers a request that never was
	onAttack                // an agent acts outside its rights
	onPausing               // a person has pressed pause or stop
	onCrash                 // the process ends; once for each room
	onKept                  // a crash kept what was written and not durable
	onLost                  // a crash lost what was written
	onReopen                // a room is opened again
	onRepeat                // an append is repeated that was written
	onFailed                // an append has failed
	onSyncFailed            // a sync has failed
	onGroup                 // one sync made batches of more than one room durable
	onAnswered              // a client got an answer
	onUnanswered            // the answer to a client was lost
	onRetry                 // a client gives a command again
	onReconnect             // a spectator goes on at its cursor
	onClock                 // the wall clock has jumped
	onChildHeld             // the room of a call is held with the room of its caller
	onReturned              // the room of a call has a result
	onReceived              // an agent begins to work on a prompt
	onAnswerAgain           // a session repeats its answer
	onPostAgain             // a session repeats a message under its id
	onSessionActs           // a session gives a command
	onLeaseEnds             // the lease of a session has ended
	onFrameLost             // the relay loses a frame
	onFrameTwice            // the relay repeats a frame
	onOldEpoch              // a device refuses a request of an older process
	onFromRecord            // a device answers a request again
	onDeviceRestarts        // a device loses its work
	onRedacted              // an event was redacted
	onRedactionCut          // a crash comes before its text is removed
	kindsOfMoments
)

// A moment is something that happens, as the conditions of situations see it.
type moment struct {
	kind   int
	room   *hosted
	event  room.Event
	batch  *batch
	cmd    room.Command
	events []room.Event
	err    error
	speak  *room.Speak
	order  *order
	input  *policy.Input
	agent  *agent
	epoch  bool // of the request is a new one

	returned *room.CallReturned
}

// A situation is something that a set of runs must have reached at least once.
type situation struct {
	name string
	on   int
	when func(s *simulation, m *moment) bool
}

// Situations returns the names of all situations.
func Situations() []string {
	names := make([]string, len(situations))
	for i, x := range situations {
		names[i] = x.name
	}
	return names
}

// byMoment lists the indexes of the situations by the kind of their moment.
var byMoment = func() (index [kindsOfMoments][]int) {
	for i, x := range situations {
		index[x.on] = append(index[x.on], i)
	}
	return index
}()

// at notes the situations that a moment reaches.
func (s *simulation) at(m moment) {
	for _, i := range byMoment[m.kind] {
		if !s.result.Reached[i] && situations[i].when(s, &m) {
			s.result.Reached[i] = true
		}
	}
}

func always(*simulation, *moment) bool { return true }

// has reports whether events have a body of a type.
func has[T room.Body](events []room.Event) bool {
	for _, e := range events {
		if _, ok := e.Body.(T); ok {
			return true
		}
	}
	return false
}

// situations is the table of situations.
var situations = []situation{
	{"a pause came between a draft's approval and its posting", onPausing, func(_ *simulation, m *moment) bool {
		return m.room.batch != nil && has[room.TurnApproved](m.room.batch.events)
	}},
	{"a pause came while an answer waited for the disk", onPausing, func(_ *simulation, m *moment) bool {
		return m.room.batch != nil && has[room.MessagePosted](m.room.batch.events)
	}},
	{"a pause came while a grant waited for the disk", onPausing, func(_ *simulation, m *moment) bool {
		return m.room.batch != nil && has[room.TurnGranted](m.room.batch.events)
	}},
	{"a prompt was held back", onHeld, always},
	{"a crash came while a grant was written and not durable", onCrash, func(_ *simulation, m *moment) bool {
		return m.batch != nil && has[room.TurnGranted](m.batch.events)
	}},
	{"a crash came with a turn in flight", onCrash, func(_ *simulation, m *moment) bool {
		return m.room.state.Turn != nil && m.room.state.Turn.Draft == nil
	}},
	{"a crash came with a draft waiting", onCrash, func(_ *simulation, m *moment) bool {
		return m.room.state.Turn != nil && m.room.state.Turn.Draft != nil
	}},
	{"a crash kept events that nobody was told of", onKept, always},
	{"a crash lost events that were written", onLost, always},
	{"an append was repeated that was written", onRepeat, always},
	{"a sync failed", onSyncFailed, always},
	{"an append failed and its room was opened again", onFailed, func(_ *simulation, m *moment) bool { return m.err == errFull }},
	{"one sync made batches of two rooms durable", onGroup, always},
	{"an answer came after its turn had ended", onLate, always},
	{"an answer came under a forged id", onForged, always},
	{"a command was repeated after its answer was lost", onRetry, always},
}
