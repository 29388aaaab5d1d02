package app

import (
	"context"
	"errors"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
)

// An Inbox is what waits for a person in all rooms: those of the data folder, or those of
// the server that --server names.
type Inbox struct{ app *App }

// Inbox returns what waits for a person.
func (a *App) Inbox() *Inbox { return &Inbox{a} }

// Follow calls f with what waits, and then with each change, one at a time, until ctx or
// the server that --server names ends.
func (b *Inbox) Follow(ctx context.Context, f func(inbox.Change) error) error {
	stored, err := b.app.StoredItems(ctx)
	if err != nil {
		return err
	}
	for _, x := range stored {
		if err := f(inbox.Change{Item: &x}); err != nil {
			return err
		}
	}
	return client.FollowInboxes(ctx, func() (map[string]*client.Client, error) {
		processes, err := b.app.Processes()
		if b.app.Remote() && err == nil {
			for _, c := range processes {
				return map[string]*client.Client{"": c}, nil // the only one
			}
		}
		return processes, err
	}, f)
}

// Answer answers an item as the person who controls its room from this device.
func (b *Inbox) Answer(ctx context.Context, id string, answer inbox.Answer) error {
	in, command, err := AnswerCommand(id, answer)
	if err != nil {
		return err
	}
	c, err := b.app.Client(in)
	if err != nil {
		return err
	}
	defer c.Close()
	shown, err := c.Show(ctx, in)
	if err != nil {
		return err
	}
	command.As = Person(shown.View, "")
	_, err = c.Do(ctx, in, command)
	return err
}

// AnswerCommand returns the room of an item, and the command that gives the item that
// answer.
func AnswerCommand(id string, answer inbox.Answer) (in string, c api.Command, err error) {
	in, item, err := inbox.Split(id)
	if err != nil {
		return "", c, err
	}
	act, err := answer.Act(item)
	if err == nil {
		c, err = api.CommandOf(act)
	}
	return in, c, err
}

// StoredItems returns the drafts that wait in the log, in rooms that no process runs.
// If there is a server, it lists them.
func (a *App) StoredItems(ctx context.Context) ([]inbox.Item, error) {
	switch c, err := a.Daemon(); {
	case err != nil:
		return nil, err
	case c != nil:
		c.Close()
		return nil, nil
	}
	db, err := a.ReadLog()
	if errors.Is(err, log.ErrNotFound) {
		return nil, nil // no room was ever run here
	}
	if err != nil {
		return nil, err
	}
	defer db.Close()
	b := inbox.New(inbox.Config{
		Log: db, Runs: func(string) bool { return false },
		State: func(ctx context.Context, id string) (*room.State, error) { return coordinator.State(ctx, db, id) },
	})
	return b.Items(ctx)
}
