// Package relay connects the rooms and agents of different owners. Its
// [Dispatcher] hands each message that arrives at this device to the part of the
// program that it is for.
//
// # Roles
//
// A device can have four roles at once. Each has a package of its own:
//
//   - seat: the host of a room asks agents of other owners;
//   - share: the device answers such requests with its owner's agents;
//   - spectate.Server: people on other devices watch rooms of this one;
//   - spectate.Client: this device watches a room of another one.
//
// Package wire has the bodies of their messages, package quota the rules and
// limits that both sides of a request check. Beneath them a [Link] delivers each
// message once and in order, end-to-end encrypted; see packages session,
// envelope and client.
//
// # Order
//
// The dispatcher takes one message at a time. A response or message of an agent
// goes to the seat whose request it belongs to. All else goes to the first
// handler that takes it. A message that nothing takes is a violation of the
// protocol: it is logged, counted, and told to a seat of the device, and its
// text never reaches a transcript.
//
// # Once
//
// A request has an id and exactly one answer. The share records the request on
// stable storage before its agent runs, and the answer before it sends it. When
// a connection is cut, a process killed or a host restarted, the seat sends the
// request again with the same id. It gets the same answer, or the error
// `interrupted` when there is none, and the agent never runs twice. A restarted
// host sends its requests with a higher epoch; lower epochs are refused.
//
// # Failure
//
// A message that cannot be delivered ends its request with an error of package
// endpoint: ErrUnreachable, ErrUntrusted or ErrInterrupted. A peer that lost its
// sessions is reported by PeerRestarted, after which seats and clients send
// their open requests again.
//
// # Trust
//
// Nothing is allowed by default. A profile states whether its agent takes part
// in shared calls, with which devices, how many at a time, how often, and over
// how many hops (quota.Profile). Each side checks that in its own process, so
// neither has to trust the other. A request carries the devices that it has
// passed, so a ring of agents is detected at its first return. Text of another
// device is data; a shared agent is told whose room it is (endpoint.Prompt.Host).
//
// # Example
//
// A host with one remote seat:
//
//	d := relay.NewDispatcher(device.ID(), link, log)
//	go d.Run(ctx)
//	agent := seat.New(seat.Config{Dispatcher: d, Device: peer, Remote: "reviewer", Profile: profile, Quota: calls})
//	reply, err := agent.Speak(ctx, prompt, floor)
package relay
