package device

import (
	"time"

	"github.com/folkmoot/moot/endpoints/relay/session"
)

// countsInterval is how often the counts are logged when they have changed.
const countsInterval = time.Minute

// logCounts logs how many frames came through the relay and what became of
// them, and once more at the end. It logs counts only: they show a relay that
// drops, repeats or forges frames, and reveal no message.
func (c *Connection) logCounts() {
	ticker := time.NewTicker(countsInterval)
	defer ticker.Stop()
	var logged session.Counts
	loggedViolations := c.dispatcher.Violations()
	for last := false; !last; {
		select {
		case <-ticker.C:
		case <-c.ctx.Done():
			last = true
		}
		n, violations := c.link.Counts(), c.dispatcher.Violations()
		if n == logged && violations == loggedViolations && !last {
			continue
		}
		logged, loggedViolations = n, violations
		c.cfg.Log.Debug("counts of the relay's frames", "received", n.Received, "messages", n.Delivered, "dropped", n.Dropped, "repeated", n.Repeated,
			"strangers", n.Strangers, "overflowed", n.Overflowed, "violations", violations, "unsent", n.Unsent, "lost", n.Lost, "last", last)
	}
}
