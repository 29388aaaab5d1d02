package coordinator

import "time"

// A clock is a room's running time: it stands still while the room is not
// live, and does not follow the wall.
type clock struct {
	base    time.Duration
	since   time.Time
	running bool
}

func (c *clock) now() time.Duration {
	if !c.running {
		return c.base
	}
	return c.base + time.Since(c.since)
}

func (c *clock) run(on bool) {
	if on == c.running {
		return
	}
	c.base = c.now()
	c.since, c.running = time.Now(), on
}
