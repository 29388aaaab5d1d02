package roomcmd

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/condition"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// A joined is the server that runs the room of a foreground run.
type joined struct{ *client.Client }

// Stop implements roomHost. The room runs on.
func (j joined) Stop() error {
	j.Close()
	return nil
}

// FindPolicy implements roomHost. The server finds the policy.
func (j joined) FindPolicy(_ context.Context, name string) (room.PolicyRef, error) {
	return room.PolicyRef{Name: absolutePolicy(name)}, nil
}

// joinNew lets a server run the room that a file describes, and shows it.
func (a *commands) joinNew(ctx context.Context, c *client.Client, file string, o runOptions, conditions []condition.Condition) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err // it has just been read
	}
	file, err = filepath.Abs(file)
	if err != nil {
		return err
	}
	return a.join(ctx, c, api.Create{YAML: string(text), File: file, Dir: filepath.Dir(file)}, o, foreground{failIf: conditions})
}

// joinAgain lets a server run a stored room again, and shows it.
func (a *commands) joinAgain(ctx context.Context, c *client.Client, o runOptions) error {
	on, agents := foreground{}, []string(nil)
	if a.Remote() {
		shown, err := c.Show(ctx, o.stored)
		if err != nil {
			return err
		}
		on.after = shown.Seq
		for _, x := range shown.Seats {
			agents = append(agents, x.ID)
		}
	} else {
		before, err := a.stateOf(ctx, o.stored)
		if err != nil {
			return err
		}
		on.before, on.after, agents = before, before.Seq, drivenSeats(before)
	}
	var err error
	if on.failIf, err = parseConditions(o.failIf, agents); err != nil {
		return err
	}
	return a.join(ctx, c, api.Create{Room: o.stored}, o, on)
}

// join lets a server run a room, and shows it as on says. The room ends as it would
// in this process: Ctrl-C pauses it.
func (a *commands) join(ctx context.Context, c *client.Client, q api.Create, o runOptions, on foreground) error {
	if a.AllowFuel {
		return &problem.Error{Code: "CLI-USAGE", What: "--allow-fuel is for a process that runs rooms, and a server runs this one", Fix: "leave it out, or end the server"}
	}
	q.Options = api.RunOptions{
		Headless: o.Headless, Foreground: o.Headless && !o.detach, Mode: o.Mode, Policy: absolutePolicy(o.Policy), MaxTurns: o.MaxTurns, Limits: o.Limits, Restore: o.Restore,
		As: o.As, Say: o.Say, TrustCommands: o.TrustCommands, Share: o.Share,
	}
	var launch api.Launch
	if o.web {
		var err error
		if launch, err = c.Launch(ctx); err != nil {
			return err
		}
	}
	// An interrupt does not end the request: the room that it makes is paused then.
	created, err := c.Create(context.WithoutCancel(ctx), q)
	if err != nil {
		return err
	}
	if o.detach {
		c.Close()
		return a.EmitText(created, "%s\n", created.Room)
	}
	if o.web {
		opening, stop := context.WithCancel(ctx)
		var page sync.WaitGroup
		page.Go(func() { a.ShowPage(opening, "open.html", app.RoomURL(launch.URL, created.Room)) })
		defer page.Wait()
		defer stop()
	}
	r, err := c.Room(context.WithoutCancel(ctx), created.Room)
	if err != nil {
		return err
	}
	r.Lost = func(err error) { a.Note("the connection is lost, and is tried again: %v", err) }
	on.commands, on.host, on.room, on.joined = a, joined{c}, r, true
	on.headless, on.you, on.again = o.Headless, app.Person(r.View(), o.As), o.again(a)
	return on.run(ctx)
}

// absolutePolicy returns the name of a policy for a process in another folder.
func absolutePolicy(name string) string {
	if !config.IsPath(name) {
		return name
	}
	if path, err := filepath.Abs(name); err == nil {
		return path
	}
	return name
}

// drivenSeats returns the ids of the agents of a room.
func drivenSeats(s *room.State) (ids []string) {
	for _, x := range s.Seats {
		if x.Driven() {
			ids = append(ids, x.ID)
		}
	}
	return ids
}
