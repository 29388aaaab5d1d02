// Package room is the pure core of a room: its events, the state that they fold
// to, and the rules by which a command becomes events.
//
// # Model
//
// A room is an append-only log of [Event]. [State] is the fold of the log.
// People, policies and agents give commands ([Command]). The coordinator does the
// work that the state demands ([Effect]) and gives its results back as commands:
//
//	var s room.State
//	events, err := s.Decide(command, now)      // what the command would change
//	log.Append(events...)                      // make it durable
//	for _, e := range events {
//		s.Apply(e)                         // change the state
//	}
//	for _, f := range s.Effects() { ... }      // what must be in progress now
//
// A [Participant] has a [Seat]. A seat is driven, if the room calls it through an
// endpoint, or attended by a person. At most one seat has the floor: the open
// [Turn]. Its [Window] says which messages it is given.
//
// # Purity
//
// The package starts no goroutine, does no input or output, and never reads the
// clock: a decision gets the time in [Now]. Decide leaves the state unchanged.
// Apply is total: it never fails, and the state after it depends only on the
// events. So a crash is a reload, and a replay sees what the room saw. A State is
// not safe for concurrent use.
//
// # Order
//
// Events must be durable before they are applied, and applied before the effects
// are started. A decision of a policy counts only if no event was stored while it
// computed; otherwise Decide returns [ErrStale] and the policy is asked again.
//
// # Visibility
//
// [Audience] is the only rule of who may read a message. Windows, summaries,
// policy inputs, views, watchers and exports use it.
//
// # Failure
//
//   - A command that is not allowed is an error with a code, and changes nothing.
//     A command whose ID the room has seen changes nothing, without an error.
//   - A policy that fails, or chooses an agent that is not eligible, pauses the
//     room. There is no fallback that chooses a speaker.
//   - A turn that fails is a [TurnFailed]. A seat that fails MaxFailures times in
//     a row, or whose process has ended, is suspended.
//   - A limit stops the room; see [Limits]. The zero Limits means the defaults.
//   - A seat that has used its [Budget] gets no turn, and the room goes on.
//
// # Format
//
// The JSON form of events is the format of the log ([MarshalEvent]). Fields are
// added and never renamed or removed, so that rooms of earlier releases read.
package room
