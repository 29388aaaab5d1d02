// Package server is the relay: it passes frames between devices and can read
// none of what they carry.
//
// # Model
//
// An endpoint connects, answers a challenge with its device's key and is then
// known by that key. What it sends names a destination; the relay replaces
// that by the sender and puts the frame into the destination's queue. It
// keeps nothing: what cannot be queued is dropped, and the sender gets GONE
// with a reason. Reliability is the endpoints' own, above.
//
// # Goroutines
//
// Each connection has two: one reads, one writes. gorilla/websocket allows
// one of each, so pings, pongs and closing go through WriteControl and
// everything else through the one that writes. Nothing that one endpoint does
// is waited for by another: a queue that is full refuses.
//
// # Limits
//
// A reader waits for tokens of bytes and frames before it reads on, so TCP
// slows the sender down. Connections are capped in all and per address,
// logins limited per address, queues bounded in frames and bytes, writes in
// time. Strangers may knock a few times a minute until they are answered.
//
// # What it says of its endpoints
//
// A line per connection with times, bytes, frames and a reason, under a name
// that changes every day; counters. No payloads, no tokens, no addresses, no
// device ids, and not who talks to whom.
package server
