package servecmd

import (
	"context"
	"slices"
	"time"

	"github.com/folkmoot/moot/internal/local"
)

// processInterval is how often the server looks for processes that have ended. A
// request about a room of such a process does not wait for that.
const processInterval = time.Second

// takeOver opens the rooms that were live when the last server ended, and then those
// of each other process or node that ends, until ctx ends.
func (d *daemon) takeOver(ctx context.Context) {
	ticker := time.NewTicker(processInterval)
	defer ticker.Stop()
	var before []local.Socket
	for again := true; ; {
		nodes := d.nodesChanged()
		d.host.YieldDevice()
		now, err := local.Find(d.Settings.Data)
		if err != nil {
			d.Log.Warn("other processes cannot be found", "error", err)
		}
		ended := slices.ContainsFunc(before, func(s local.Socket) bool { return !slices.Contains(now, s) })
		if again || ended {
			err := d.host.Recover(ctx)
			if again = err != nil; again && ctx.Err() == nil {
				d.Log.Error("rooms of other processes cannot be taken over", "error", err)
			}
		}
		before = now
		select {
		case <-ticker.C:
		case <-nodes:
			again = true
		case <-ctx.Done():
			return
		}
	}
}
