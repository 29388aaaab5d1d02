package sim

import (
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// Kinds of moments.
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
	onSnapshot              // a room was opened from a snapshot
	onPolicyState           // the state of a policy was computed again
	onAckAgain              // an agent repeats an ack after a restart
	onReserved              // a room was opened again whose turn has a reservation
	onReleased              // a restart has dropped a reservation
	onBudgetShared          // a budget that other rooms have used keeps an agent from a turn
	onTorn                  // a crash has torn a batch, and recovery drops the rest of it
	onModel                 // the model is given a command that a crash has kept
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

// writing reports whether a batch with a body of a type waits for the disk.
func writing[T room.Body](_ *simulation, m *moment) bool {
	return m.room.batch != nil && has[T](m.room.batch.events)
}

// cutOff reports whether a crash came while a batch with a body of a type waited.
func cutOff[T room.Body](_ *simulation, m *moment) bool {
	return m.batch != nil && has[T](m.batch.events)
}

// running reports whether an effect runs whose key begins so.
func running(prefix string) func(*simulation, *moment) bool {
	return func(_ *simulation, m *moment) bool { return m.room.gate.cutNow(prefix) }
}

// turnOpen reports whether the room has an open turn like that.
func turnOpen(like func(*room.Turn) bool) func(*simulation, *moment) bool {
	return func(_ *simulation, m *moment) bool { return m.room.state.Turn != nil && like(m.room.state.Turn) }
}

// is reports whether the command is of a type.
func is[T room.Act](m *moment) bool {
	_, ok := m.cmd.Do.(T)
	return ok
}

// body reports whether the event has a body of a type for which when holds.
func body[T room.Body](when func(*moment, T) bool) func(*simulation, *moment) bool {
	return func(_ *simulation, m *moment) bool {
		b, ok := m.event.Body.(T)
		return ok && when(m, b)
	}
}

// failed reports whether a turn failed with a code.
func failed(code string) func(*simulation, *moment) bool {
	return body(func(_ *moment, b room.TurnFailed) bool { return b.Code == code })
}

// refused reports whether a command of a type was refused with a code.
func refused[T room.Act](code string) func(*simulation, *moment) bool {
	return func(_ *simulation, m *moment) bool {
		coded, ok := m.err.(*problem.Error)
		return ok && is[T](m) && coded.Code == code
	}
}

// agentOf returns the agent of a seat.
func (h *hosted) agentOf(id string) (*agent, bool) {
	for _, a := range h.facts.agents {
		if a.seat.ID == id {
			return a, true
		}
	}
	return nil, false
}

// startedBefore reports whether an earlier process has started a call.
func (h *hosted) startedBefore(call string) bool {
	for _, e := range h.s.disk.logs[h.id].events {
		if b, ok := e.Body.(room.CallStarted); ok && b.ID == call {
			return e.Epoch < h.state.Epoch
		}
	}
	return false
}
