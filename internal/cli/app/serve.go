package app

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/internal/sessions"
)

// ServeLocal lets other commands of this user control the rooms that h runs, until
// stop is called. Where that is not possible it says so, and the rooms run all the
// same.
func (a *App) ServeLocal(h *moot.Host) (stop func()) {
	l, err := local.Listen(a.Settings.Data)
	if err != nil {
		a.Note("other commands cannot control this room: %v", err)
		return func() {}
	}
	keys, err := a.Keys()
	if err != nil {
		a.Log.Warn("this process takes no tokens", "error", err)
	}
	agents, err := sessions.Open(sessions.Config{Host: h, Settings: a.Settings, Log: a.Log})
	if err != nil {
		a.Log.Warn("this process runs no sessions", "error", err)
	}
	a.OfferTools(keys, "")
	s := server.New(server.Config{
		Host: h, Log: a.Log, Version: catalog.Version(), Keys: keys, Sessions: agents, Placement: server.OnlyRunning(h),
	})
	ctx, end := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(ctx, l, s.SocketHandler()); err != nil {
			a.Log.Error("other commands cannot control this room any more", "error", err)
		}
		if err := s.Close(); err != nil {
			a.Log.Error("a client of the tools was not closed", "error", err)
		}
		if agents != nil {
			agents.Close()
		}
	})
	return func() { end(); serving.Wait() }
}

// Keys opens the keys of tokens of the data folder.
func (a *App) Keys() (*access.Keys, error) {
	return access.OpenKeys(filepath.Join(a.Settings.Data, "server"))
}
