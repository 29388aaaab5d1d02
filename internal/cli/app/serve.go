package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/internal/sessions"
)

// Serving says how a process serves the rooms that it runs.
type Serving struct {
	Page bool // on a free loopback port too, for a browser
	Demo bool // pages say that the rooms are a demonstration
}

// A LocalServer serves the rooms of this process. Where that is not possible it says so,
// and the rooms run all the same.
type LocalServer struct {
	app    *App
	server *server.Server
	agents *sessions.Sessions
	web    net.Listener // nil without a page
	url    string       // "" without a page

	ctx   context.Context
	end   context.CancelFunc
	tasks sync.WaitGroup
}

// ServeLocal lets other commands of this user control the rooms that h runs, until
// stop is called.
func (a *App) ServeLocal(h *moot.Host) (stop func()) { return a.ServeRooms(h, Serving{}).Stop }

// ServeRooms is ServeLocal that can serve the page too.
func (a *App) ServeRooms(h *moot.Host, o Serving) *LocalServer {
	s := &LocalServer{app: a}
	s.ctx, s.end = context.WithCancel(context.Background())
	socket, err := local.Listen(a.Settings.Data)
	if err != nil {
		a.Note("other commands cannot control this room: %v", err)
	}
	keys, err := a.Keys()
	if err != nil {
		a.Log.Warn("this process takes no tokens", "error", err)
	}
	if o.Page {
		s.listen(keys)
	}
	if s.agents, err = sessions.Open(sessions.Config{Host: h, Settings: a.Settings, Log: a.Log}); err != nil {
		a.Log.Warn("this process runs no sessions", "error", err)
	}
	a.OfferTools(keys, "")
	s.server = server.New(server.Config{
		Host: h, Log: a.Log, Version: catalog.Version(), Keys: keys, Sessions: s.agents, Placement: server.OnlyRunning(h),
		URL: func() string { return s.url }, Own: o.Page, Demo: o.Demo,
	})
	if socket != nil {
		s.serve(socket, s.server.SocketHandler(), "other commands cannot control this room any more")
	}
	if s.web != nil {
		s.serve(s.web, s.server.TCPHandler(access.Hosts{}), "the page is not served any more")
	}
	return s
}

// listen finds a free port of this machine.
func (s *LocalServer) listen(keys *access.Keys) {
	if keys == nil {
		return // the log says why
	}
	web, scheme, err := access.Listen("127.0.0.1:0", "", "")
	if err != nil {
		s.app.Note("the page cannot be served: %v", err)
		return
	}
	s.web, s.url = web, access.URL(scheme, web)
}

// serve answers requests on l until Stop is called.
func (s *LocalServer) serve(l net.Listener, handler http.Handler, failed string) {
	s.tasks.Go(func() {
		if err := s.server.Serve(s.ctx, l, handler); err != nil {
			s.app.Log.Error(failed, "error", err)
		}
	})
}

// Open opens the page of a room in the user's browser and signs the browser in. Where
// there is probably no browser, it only prints the address.
func (s *LocalServer) Open(room string) {
	if s.web == nil {
		return
	}
	launch, err := s.server.LaunchURL(access.Admin)
	if err != nil {
		s.app.Note("the browser cannot be signed in: %v", err)
		return
	}
	s.tasks.Go(func() { s.app.ShowPage(s.ctx, s.file(), RoomURL(launch.URL, room)) })
}

// file is the name of the file that leads the browser to the page of this process.
func (s *LocalServer) file() string { return fmt.Sprintf("open-%d.html", os.Getpid()) }

// Stop ends the server and waits for it.
func (s *LocalServer) Stop() {
	s.end()
	s.tasks.Wait()
	if err := s.server.Close(); err != nil {
		s.app.Log.Error("a client of the tools was not closed", "error", err)
	}
	if s.agents != nil {
		s.agents.Close()
	}
	if err := os.Remove(filepath.Join(s.app.Settings.Data, "server", s.file())); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.app.Log.Debug("a file for the browser is left", "error", err)
	}
}

// Keys opens the keys of tokens of the data folder.
func (a *App) Keys() (*access.Keys, error) {
	return access.OpenKeys(filepath.Join(a.Settings.Data, "server"))
}
