// Package session connects two devices: pairing by invite, encrypted sessions,
// and messages that arrive exactly once and in order. It needs only a relay
// that may read, drop, delay, repeat, reorder and forge everything it carries.
//
// # Model
//
// A Session is one device's side of the connection to one peer. It is a state
// machine without goroutines, clock or network. Send, Receive, Tick and
// Reconnected take an input and the time. Take returns the payloads to send,
// the events, and the time of the next Tick.
//
// A session starts with the handshake Noise_KKpsk0_25519_ChaChaPoly_SHA256
// (noiseprotocol.org). It uses the keys in both peer stores and a secret from
// the pairing. Message 1 may be a replay, so it has no effect of its own: new
// keys replace the live ones only when a frame of the peer decrypts with them.
// Keys exist only in memory. They are replaced after one hour or 65,536
// frames, and never used after two hours or 1,048,576 frames. The previous
// keys decrypt for 30 more seconds.
//
// A PairingListener and a Joiner are the two sides of a pairing. They use
// Noise_IKpsk1_25519_ChaChaPoly_SHA256 with the secret of an invite. Only a
// message 1 that decrypts uses the invite up, so the relay cannot do that. Both
// owners compare twelve digits, to which the joiner has committed before it saw
// the host's answer, and neither device stores the other before both agree. The
// host generates the secret for later sessions at random; it is not derived
// from anything that the relay has seen.
//
// A Link runs the sessions and pairings of one device over one Transport. It
// is the only type here with a goroutine.
//
// # Order
//
// Messages of one direction are split into numbered data frames. Numbers
// continue when keys change. A frame is kept encrypted until the peer
// acknowledges it, and resent byte for byte after 1, 2, 4, 8 and then every 15
// seconds. Under new keys it is encrypted again with the same number, so no
// key ever encrypts two plaintexts under one number. At most 16 frames or 256
// KiB are in flight. The receiver buffers up to 64 frames ahead.
// Acknowledgements have keys of their own and are outside this order, so a
// lost one leaves no gap.
//
// In the handshake each side names the stream that it sends and the stream of
// the peer that it knows. If they agree, both streams continue, whatever
// happened to the connection. If a device restarted or gave up, both streams
// start again with frame 1.
//
// # Failure
//
// Payloads that are not authentic, or come from unknown devices, are dropped
// and counted. They have no other effect.
//
// A message that is not acknowledged for 150 seconds is lost
// (ErrUnreachable). So is a message in flight to a device that restarts
// (ErrForgotten). It is unknown whether a lost message arrived, so it is not
// resent. Layers above repeat requests under an id that the peer recognises.
//
// A peer that is authentic but breaks the protocol yields Violated, and the
// session starts again. A reset frame is not authenticated. It is only a hint
// to try a handshake, and false hints are followed less and less often.
//
// # Example
//
// The example of this package pairs two devices and sends a message.
package session
