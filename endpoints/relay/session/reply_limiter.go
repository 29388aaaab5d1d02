package session

import (
	"crypto/sha256"
	"slices"
	"time"
)

// A replyLimiter limits the answers to messages 1. A message 1 that decrypts is
// of the peer, but the relay can repeat it. So one that was not answered before
// is answered at once, a peer that restarts often included, and a repeated one
// at most every handshakeInterval. The zero replyLimiter is ready for use.
type replyLimiter struct {
	seen []([sha256.Size]byte) // of the latest answered messages, oldest first
	at   []time.Time           // of the latest answers, oldest first
}

// replyBurst is how many messages 1 are answered within handshakeInterval. The
// relay can hold back old ones, which are new here.
const replyBurst = 4

// maxSeenMessages is how many answered messages 1 are remembered, 32 bytes each.
const maxSeenMessages = 64

// allow reports whether a message 1 may be answered at now. lastReply is when
// any was answered, or an answer was sent again.
func (l *replyLimiter) allow(now, lastReply time.Time, message []byte) bool {
	if slices.Contains(l.seen, sha256.Sum256(message)) {
		return !now.Before(lastReply.Add(handshakeInterval))
	}
	recent := 0
	for _, at := range l.at {
		if now.Before(at.Add(handshakeInterval)) {
			recent++
		}
	}
	return recent < replyBurst
}

// answered records an answer at now.
func (l *replyLimiter) answered(now time.Time, message []byte) {
	l.seen = last(append(l.seen, sha256.Sum256(message)), maxSeenMessages)
	l.at = last(append(l.at, now), replyBurst)
}

func last[T any](list []T, n int) []T { return slices.Clone(list[max(0, len(list)-n):]) }
