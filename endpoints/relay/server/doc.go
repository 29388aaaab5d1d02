// Package server implements the relay: it forwards frames between devices and
// can read none of their content.
//
// # Model
//
// An endpoint connects, signs a challenge with its device's key, and is then
// known by the public key. Each frame that it sends names a destination. The
// relay replaces the destination by the sender and appends the frame to the
// destination's send queue. It stores nothing: a frame that cannot be queued is
// dropped, and the sender receives GONE with a reason. Endpoints add
// reliability themselves.
//
// # Order
//
// Frames of one sender to one destination stay in order. Each connection has
// one reading and one writing goroutine, because gorilla/websocket allows one
// of each: control messages go through WriteControl, everything else through
// the writer. No endpoint waits for another, because a full queue refuses
// frames.
//
// # Failure
//
// A connection ends on a protocol violation, a lost network, a timeout, or a
// reader that is too slow. When a relay shuts down it sends RESTART with a
// random delay. Endpoints then reconnect.
//
// # Limits
//
// Token buckets (https://en.wikipedia.org/wiki/Token_bucket) for bytes and
// frames delay reading, so TCP slows the sender down. Connections are limited
// in total and per address, failed logins per address, send queues in frames and
// bytes, and writes in time. Connections that have not logged in yet have a pool
// of their own, in which new ones replace the oldest. A device that the destination has not written to
// may send a few frames a minute.
//
// # Groups
//
// With a Bus, several relays are one. A relay subscribes for the devices that are
// connected to it, and sends frames for others over the bus. Each limit of a device
// is applied where the device is connected. A login is announced, so that the other
// relays end older connections of the device. Without the bus, devices of the same
// relay reach each other, and senders are told that others are not there.
//
// # Privacy
//
// The log has one line per connection with times, bytes, frames and a reason,
// under a device alias that changes every day. Metrics are counters. Neither
// contains payloads, tokens, addresses, device ids or pairs of devices.
//
// # Example
//
//	s, err := server.New(server.Config{Hosts: []string{"relay.example.org"}, Tokens: []string{token}})
//	...
//	err = s.Serve(ctx, listener) // until ctx ends
package server
