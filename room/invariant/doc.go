// Package invariant checks a room while it runs: after every event, it compares the
// event and the new state with what was known before, and with what the host has done
// outside the room. It is for tests and for the simulator.
//
// # Use
//
// A [Checker] belongs to one room. It is told of each thing when it happens:
//
//	c := invariant.New()
//	events, err := s.Decide(command, now)
//	broken := c.Decided(command, s, events, err) // Decide changed nothing
//	log.Append(events)
//	c.Stored(last)                               // the events are durable
//	for _, e := range events {
//		s.Apply(e)
//		broken = append(broken, c.Applied(e, &s)...)
//	}
//	c.Acknowledged(last)                         // a caller was told of them
//
// Sent, Executed, Shown, Failed and Recovered tell of prompts, watchers and crashes.
// Each method returns the invariants that are broken, nil if none is. [All] lists the
// invariants; docs/reliability.md has the same list.
//
// # Independence
//
// A check uses the bodies of events and the exported fields of the state. It does
// not call the functions of package room that decide the same question, so that a
// fault in them is found. The package keeps no copy of a state, only a summary of the
// one before, so that a check takes about a microsecond.
package invariant
