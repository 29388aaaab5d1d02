package cli

import (
	"time"

	"github.com/folkmoot/moot/endpoints/relay/session"
)

// countsEvery is how often a device that is online says what came to it.
const countsEvery = time.Minute

// tellCounts logs what came through the relay and what became of it, when
// anything did, and once more at the end. Counts are all it says: a relay that
// drops, repeats or forges shows in them, and nobody's words do.
func (c *connection) tellCounts() {
	every := time.NewTicker(countsEvery)
	defer every.Stop()
	var told session.Counts
	toldBroken := c.dispatcher.Violations()
	for over := false; !over; {
		select {
		case <-every.C:
		case <-c.ctx.Done():
			over = true
		}
		n, broken := c.link.Counts(), c.dispatcher.Violations()
		if n == told && broken == toldBroken && !over {
			continue
		}
		told, toldBroken = n, broken
		c.app.log.Debug("counts of the relay's frames", "received", n.Received, "messages", n.Delivered, "dropped", n.Dropped, "repeated", n.Repeated,
			"strangers", n.Strangers, "overflowed", n.Overflowed, "violations", broken, "unsent", n.Unsent, "lost", n.Lost, "last", over)
	}
}
