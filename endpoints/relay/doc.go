// Package relay seats agents of other owners, and serves agents of one's own
// to them.
//
// # Two sides
//
// The host of a room has an [Endpoint] a remote seat: it asks, and waits for
// the one answer. The other owner has a [Share]: it answers, with any of that
// owner's agents. A [Post] is what both have in common: it takes what arrives
// from paired devices and hands it to whom it is for. A device may be both at
// once. Beneath them a [Link] delivers messages once and in order, end to end
// encrypted; see the packages session and client.
//
// # Once
//
// A request has an id, and exactly one answer. The share writes `started`
// down, on stable storage, before its agent runs, and the answer before it is
// sent ([Journal]). Whoever asks again with the same id, because a connection
// was cut, a process killed, a host started again, gets the same answer, or
// `interrupted` when there is none: never a second run. A host that was started
// again asks with a higher epoch; a lower one is refused.
//
// An answer to a question that nobody asked, a second answer, and text out of
// nowhere break the protocol. They are logged and counted, and never reach a
// transcript.
//
// # Watching
//
// People on other devices watch rooms and speak in them. The host of a room has
// a [Gallery], who watches a [Watcher]: it asks for what came after the last
// event that it has, and is answered from the log, so the host remembers
// nothing of it and whoever was killed goes on where it was. What may leave is
// named, field by field; everything else stays.
//
// # Trust
//
// Nothing is allowed until it is ([Profile]): whether an agent may take part in
// shared calls at all, with which devices, how many at a time, how often, and
// over how many hops. Each side checks that in its own process ([Gate] keeps
// the counts across rooms, processes and restarts), so neither has to trust
// the other. A request carries the devices that it has passed, so that a ring
// of agents is found out at its first return, however long it is.
//
// What comes from another device is data. The share tells its agent whose it
// is: see endpoint.Prompt.Host.
package relay
