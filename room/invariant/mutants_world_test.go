package invariant_test

import (
	"github.com/folkmoot/moot/room"
)

// seen returns the index of the event with that body that a watcher of a level is shown.
func seen[T room.Body](m *mutant, level room.Visibility) int {
	for i, e := range m.history {
		if _, ok := e.event.Body.(T); ok && e.what == shown && e.who == string(level) {
			return i
		}
	}
	m.t.Fatal("no watcher is shown such an event")
	return 0
}

// show changes the first event with that body that a watcher of a level is shown.
func show[T room.Body](m *mutant, level room.Visibility, change func(*T)) {
	edit(m, seen[T](m, level), change)
}

// leak shows a watcher an event that it may not see, in place of the next one.
func leak[T room.Body](m *mutant, level room.Visibility) {
	i := event[T](m, 0)
	for j := i; j < len(m.history); j++ {
		if e := &m.history[j]; e.what == shown && e.who == string(level) {
			e.event = m.history[i].event
			return
		}
	}
}

// worldFaults are about watchers, agents on other devices, and effects.
var worldFaults = []fault{
	{"V1", mailing, func(m *mutant) { leak[room.MessageAcked](m, room.UserVisible) }},
	{"V1", talk, func(m *mutant) { leak[room.PermissionAsked](m, room.UserRedacted) }},
	{"V1", talk, func(m *mutant) {
		i := event(m, 0, note("side"))
		m.history[i+m.nextShown(i, room.UserVisible)].event = m.history[i].event
	}},
	{"V1", talk, func(m *mutant) { show(m, room.UserVisible, func(b *room.TurnDrafted) { b.Message.Text = "Elm" }) }},
	{"V3", talk, func(m *mutant) { show(m, room.UserVisible, func(b *room.Opened) { b.Spec.Secret = "s3cret" }) }},
	{"V3", talk, func(m *mutant) {
		show(m, room.UserRedacted, func(b *room.Joined) { b.Participant.Instructions = "be brief" })
	}},
	{"V6", talk, func(m *mutant) {
		i := event(m, 0, note("m2"))
		m.history = append(m.history, entry{what: watches, who: "late", level: room.Internal, seq: m.history[i].event.Seq - 1}, entry{what: shown, who: "late", event: m.history[i].event})
	}},
	{"W1", talk, func(m *mutant) { m.twice(seen[room.Paused](m, room.Internal)) }},
	{"W1", talk, func(m *mutant) { m.remove(m.find(watches, 0)) }},
	{"W2", talk, func(m *mutant) { m.remove(m.find(stored, 7)) }},
	{"W3", talk, func(m *mutant) { m.history[seen[room.Paused](m, room.Internal)].event.ID = "other" }},
	{"W4", talk, func(m *mutant) { m.remove(seen[room.Paused](m, room.UserVisible)) }},
	{"W4", talk, func(m *mutant) { m.remove(seen[room.PermissionAsked](m, room.Internal)) }},
	{"T1", talk, func(m *mutant) { m.twice(m.find(executed, 0)) }},
	{"T2", talk, func(m *mutant) { m.history[m.find(executed, 0)].request = "forged" }},
	{"E1", talk, func(m *mutant) {
		i := event[room.Paused](m, 0)
		m.fault(i+m.next(i, settled), func(s *room.State) {
			s.Phase = room.PhaseLive
			s.Turn = &room.Turn{Number: 8, Participant: "a", Request: "q008"}
		})
	}},
	{"E1", calling, func(m *mutant) {
		i := event[room.CallStarted](m, 0)
		m.fault(i+m.next(i, settled), func(s *room.State) { s.Calls = append(s.Calls, s.Calls[0]) })
	}},
	{"E2", mailing, func(m *mutant) {
		i := event[room.MessageReleased](m, 0)
		for m.history[i].what != settled {
			i--
		}
		m.history[i].clock += 60e9
	}},
}
