// Package session is what two devices have between them: pairing by invite,
// encrypted sessions, and messages that arrive once and in order over a relay
// that may read, drop, delay, repeat, reorder and forge whatever it carries.
//
// # Model
//
// A Session is one device's side of everything between it and one peer. It is
// a state machine without goroutines, clock or network: Send, Receive, Tick
// and Reconnected take what happened and the time; Take returns the payloads
// to be sent, the events, and when to call Tick.
//
// Sessions start with Noise_KKpsk0_25519_ChaChaPoly_SHA256 between keys that
// both stores hold and with a secret that the two got when they were paired.
// Nothing happens because of a first message, which may be a replay: a
// handshake under way replaces the live session only when a frame from the
// other side decrypts with its keys. Keys are only in memory. New ones are
// made after an hour or 65,536 frames, and none is used for more than two
// hours or 1,048,576 frames; the ones before decrypt for 30 seconds more.
//
// A Door and a Join are the two sides of a pairing,
// Noise_IKpsk1_25519_ChaChaPoly_SHA256 with the secret of an invite. Only a
// first message that decrypts uses the invite up, so the relay cannot. The
// secret for sessions is fresh from the host, and never derived from what the
// relay saw.
//
// A Link owns the sessions of a device with all its peers, over one Transport.
//
// # Order
//
// Messages of one direction are cut into data frames with numbers that go on
// when keys change. A frame is kept, encrypted, until it is acknowledged, and
// sent again byte for byte after 1, 2, 4, 8 and then each 15 seconds. Under
// other keys it is encrypted again with its number: no key ever encrypts two
// things under one. Up to 16 frames or 256 KiB are on the way; the receiver
// holds 64 ahead. Acknowledgements are frames with keys of their own outside
// this order, so one that is lost leaves no hole.
//
// In the handshake each side says which stream of frames it sends and which
// one it knows. When they agree, streams go on, whatever happened to the
// connection. When a device was started again, or gave up, both start with
// the first frame.
//
// # Failure
//
// What is not authentic is dropped and counted; nothing else comes of it. So
// is everything from devices that are not peers. A message that was not
// acknowledged for 150 seconds is lost (ErrUnreachable), and so is one that
// was on the way to a device that was started again (ErrForgotten): nobody
// knows whether it arrived, so it is never sent a second time. What repeats a
// request is above this package, with an id by which the other side knows it.
//
// A peer that is authentic and breaks the protocol yields Violated, and the
// session starts anew. A reset frame, which anybody on the way can write, is a
// hint to try a handshake, ever less often when hints were false.
package session
