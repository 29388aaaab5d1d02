package inbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/folkmoot/moot/internal/spawn"
	"github.com/folkmoot/moot/room"
)

// A Notifier runs a program for each item that begins to wait in a room of this
// process. The program gets the item as one line of JSON on its standard input.
type Notifier struct {
	Command []string // argv, never a shell command
	Text    bool     // whether the program gets texts of agents
	Log     *slog.Logger
}

// notifyLimit is how long a program may run.
const notifyLimit = 10 * time.Second

// desktop are variables that programs need to show something on a desktop.
var desktop = []string{"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"}

// Run runs the program until ctx ends, for one item at a time. An item that was
// answered meanwhile is left out, so that no queue can grow.
func (n Notifier) Run(ctx context.Context, b *Inbox) {
	told := map[string]bool{}
	for ctx.Err() == nil {
		changed := b.Changed()
		items := b.Running()
		waits := map[string]bool{}
		for _, x := range items {
			waits[x.ID] = true
		}
		maps.DeleteFunc(told, func(id string, _ bool) bool { return !waits[id] })
		if i := slices.IndexFunc(items, func(x Item) bool { return !told[x.ID] && !x.Edited }); i >= 0 {
			told[items[i].ID] = true
			if err := n.notify(ctx, items[i]); err != nil && ctx.Err() == nil {
				n.Log.Warn("the program of notify.command has failed", "item", items[i].ID, "error", err)
			}
			continue // others may have been answered meanwhile
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// withoutText returns x without what an agent has written.
func (x Item) withoutText() Item {
	x.Text, x.Why, x.Question = "", "", nil
	if x.Permission != nil {
		x.Permission = &room.Permission{Kind: x.Permission.Kind, Always: x.Permission.Always}
	}
	return x
}

// notify runs the program for x, and ends it when its time is over.
func (n Notifier) notify(ctx context.Context, x Item) error {
	if !n.Text {
		x = x.withoutText()
	}
	line, err := json.Marshal(x)
	if err != nil {
		return err
	}
	p, err := spawn.Start(spawn.Config{Command: n.Command, AllowEnv: desktop})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, notifyLimit)
	defer cancel()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, p.Stdout()) // it ends with the program
	}()
	if d, ok := ctx.Deadline(); ok {
		_ = p.Stdin().SetWriteDeadline(d) // a program that reads nothing is ended at its time
	}
	_, _ = p.Stdin().Write(append(line, '\n')) // a program that needs no input may have ended
	p.Stdin().Close()
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Terminate(time.Second)
	}
	<-read
	p.Close(0, 0)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("it has not ended within %v", notifyLimit)
	case !p.Succeeded():
		return fmt.Errorf("%s: %s", p.State(), p.Stderr())
	}
	return nil
}
