package session

// Counts are the statistics of a Link. They do not distinguish peers and
// contain no content. All but Unsent and Lost count incoming payloads or
// messages.
type Counts struct {
	Received   uint64 // payloads
	Delivered  uint64 // messages
	Dropped    uint64 // not authentic, too late or unexpected
	Repeated   uint64 // authentic duplicates, replays, or frames too far ahead
	Strangers  uint64 // from devices that are not paired, or that use other keys than at pairing
	Overflowed uint64 // dropped because a receive queue was full; the peer resends them
	Violations uint64 // authentic, but against the protocol
	Unsent     uint64 // dropped because the send queue was full; they are resent
	Lost       uint64 // messages whose arrival is unknown
}

// Counts returns the statistics since NewLink. It is safe for concurrent use.
func (l *Link) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// count adds n to a field of l.counts.
func (l *Link) count(field *uint64, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*field += uint64(n)
}
