package servecmd

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/internal/metrics"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/internal/sessions"
)

type serveFlags struct {
	listen, cert, key string
	cluster           string // folder of this machine; "" without a cluster
	node, drain       string
	open              bool
	share             bool
}

// newServeCmd runs the server of this device.
func newServeCmd(a *commands) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run all rooms of this device, and an HTTP API for them",
		Long: "serve runs the rooms of the data folder until it is told to end. Other commands\n" +
			"find it by a socket in the data folder that only you can open: `moot run` lets it\n" +
			"run the room, and every control of a room works from any terminal. Programs use\n" +
			"the same HTTP API on the address of --listen, with a token.\n\n" +
			"Rooms that were live when the last process ended go on if their onRestart is\n" +
			"continue, and are paused otherwise. A room that another process runs stays there,\n" +
			"and requests about it are forwarded, until that process ends.\n\n" +
			"The first interrupt pauses the rooms in which an agent is at work, but for those\n" +
			"with onRestart: continue, and ends the server. The second ends it at once.\n\n" +
			"With --node the process is one of several, mostly on different machines, that run\n" +
			"the rooms of one log on servers (--log). Each runs a part of them, and answers for\n" +
			"all. If a node comes or ends, rooms move, each between two of its turns; if it dies,\n" +
			"others go on with its rooms. At the first interrupt a node hands over its rooms.\n" +
			"With --cluster the process is a node too.",
		Example: "  moot serve\n  moot serve --open\n  moot serve --share\n  moot serve --listen none\n  moot serve --listen 127.0.0.1:0 -o json\n  moot serve --cluster /etc/moot/cluster\n  moot serve --log postgres://db.internal/moot --node 10.0.0.1:8422",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.fillIn(cmd, a.Settings.Server)
			if err := a.checkPlace(cmd, f.cluster); err != nil {
				return err
			}
			return a.serve(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", "", "address of the HTTP API, or none; port 0 takes any that is free (default "+config.DefaultListen+")")
	fl.BoolVar(&f.open, "open", false, "open the server in the browser and sign the browser in")
	fl.BoolVar(&f.share, "share", false, "share the agents of all profiles with other owners")
	fl.StringVar(&f.cluster, "cluster", "", "keep the rooms together with other machines: the folder of this machine that moot cluster init has made")
	fl.StringVar(&f.cert, "cert", "", "file of the TLS certificate, in PEM; read again when it changes")
	fl.StringVar(&f.key, "key", "", "file of its key, in PEM")
	fl.StringVar(&f.node, "node", "", "address at which the other nodes reach this one, HOST:PORT; the log is on servers")
	fl.StringVar(&f.drain, "drain", "", "how long a node that ends waits for turns before it interrupts them (default "+config.DefaultDrain+")")
	for _, name := range []string{"cert", "key"} {
		_ = cmd.MarkFlagFilename(name) // the flag is there
	}
	_ = cmd.MarkFlagDirname("cluster") // as above
	return cmd
}

// fillIn takes from the settings what no flag says.
func (f *serveFlags) fillIn(cmd *cobra.Command, s config.Server) {
	for _, p := range []struct {
		flag string
		have *string
		set  string
	}{{"listen", &f.listen, s.Listen}, {"cert", &f.cert, s.Cert}, {"key", &f.key, s.Key}, {"node", &f.node, s.Node}, {"drain", &f.drain, s.Drain}} {
		if !cmd.Flags().Changed(p.flag) {
			*p.have = p.set
		}
	}
}

// A Serving is what a server says when it is ready.
type Serving struct {
	Process int    `json:"process"`
	Data    string `json:"data"`
	Socket  string `json:"socket"`
	URL     string `json:"url,omitempty"`  // "" without an address
	Node    string `json:"node,omitempty"` // address for other nodes; "" without any
	Token   string `json:"token"`          // the file with a token for everything
}

// serve runs all rooms until ctx ends.
func (a *commands) serve(ctx context.Context, f serveFlags) (err error) {
	hosts, err := access.ParseHosts(a.Settings.Server.Hosts)
	if err != nil {
		return err
	}
	w := a.Wiring()
	if f.cluster != "" {
		if w.Cluster, err = a.startCluster(ctx, f.cluster); w.Cluster == nil {
			return err
		}
		defer a.stopCluster(w) // after the rooms
		f.node = cmp.Or(f.node, w.Cluster.Self.Nodes())
	}
	socket, err := local.ListenDaemon(a.Settings.Data)
	if err != nil {
		return err
	}
	defer socket.Release()
	defer socket.Close() // when something else fails; Serve closes it too
	d := daemon{commands: a, socket: socket, hosts: hosts, share: f.share, at: Serving{
		Process: os.Getpid(), Data: a.Settings.Data, Socket: socket.Path(), Token: filepath.Join(a.Settings.Data, "server", "token"),
	}}
	if f.listen != config.ListenNone {
		web, scheme, err := access.Listen(f.listen, f.cert, f.key)
		if err != nil {
			return err
		}
		defer web.Close()
		d.web, d.at.URL = web, access.URL(scheme, web)
	}
	keys, err := a.Keys()
	if err != nil {
		return err
	}
	if _, err := keys.AdminToken(); err != nil {
		return err
	}
	a.OfferTools(keys, d.at.URL) // before a room starts its agents
	w.AllRooms = true
	flush, err := a.Trace(ctx, &w)
	if err != nil {
		return err
	}
	defer flush()
	counted := metrics.New()
	w.Observers = append(w.Observers, counted)
	if err := d.listenNode(ctx, f, &w); err != nil {
		return err
	}
	defer d.closeNode()
	if d.host, err = w.OpenHost(); err != nil {
		return err
	}
	counted.Watch(d.host.Loads)
	defer func() { err = errors.Join(err, d.host.Close()) }()
	agents, err := d.sessions()
	if err != nil {
		return err
	}
	defer agents.Close()
	c := server.Config{
		Host: d.host, Log: a.Log, Version: catalog.Version(), Keys: keys, Sessions: agents,
		URL: func() string { return d.at.URL }, Placement: server.AllRooms(d.at.Data, d.host), Device: server.DeviceElsewhere(d.at.Data, d.host),
		Others: server.OtherProcesses(d.at.Data), Metrics: counted.Handler(),
	}
	d.serveNode(&c)
	d.server = server.New(c)
	defer func() { err = errors.Join(err, d.server.Close()) }()
	return d.run(ctx, f.open)
}

// sessions opens the agent sessions. A node has none: the rooms of sessions work in folders
// of one machine, and cannot move.
func (d *daemon) sessions() (*sessions.Sessions, error) {
	if d.node.Node != nil {
		return nil, nil
	}
	return sessions.Open(sessions.Config{Host: d.host, Settings: d.Settings, Path: filepath.Join(d.at.Data, "server", "sessions.json"), Log: d.Log})
}

// A daemon is the server of a data folder.
type daemon struct {
	*commands
	host        *moot.Host
	server      *server.Server
	socket, web net.Listener // web is nil without an address
	hosts       access.Hosts
	at          Serving
	share       bool // the agents of all profiles with other owners
	node        node
}

// run answers requests until ctx ends. Then it brings the rooms to rest first, so that
// those who watch a room see how it ends.
func (d *daemon) run(ctx context.Context, open bool) error {
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	running, failed := context.WithCancelCause(ctx)
	var tasks sync.WaitGroup
	defer func() {
		end()
		failed(nil)
		tasks.Wait()
	}()
	tasks.Go(func() { failed(d.server.Serve(serving, d.socket, d.server.SocketHandler())) })
	if d.web != nil {
		tasks.Go(func() { failed(d.server.Serve(serving, d.web, d.server.TCPHandler(d.hosts))) })
	}
	d.joinNodes(serving, running, tasks.Go, failed)
	tasks.Go(func() { d.takeOver(running) })
	if d.share {
		tasks.Go(func() { d.shareAll(running) })
	}
	if err := d.ready(); err != nil {
		return err
	}
	if open {
		tasks.Go(func() {
			if err := d.openBrowser(running); err != nil {
				d.Note("the browser cannot be signed in: %v", err)
			}
		})
	}
	<-running.Done()
	d.leaveNodes(context.WithoutCancel(ctx))
	err := errors.Join(d.host.Rest(context.WithoutCancel(ctx), "the server ended"), d.host.Stop())
	if ctx.Err() == nil {
		err = errors.Join(context.Cause(running), err)
	}
	return err
}

// shareAll shares the agents of all profiles until the Host is closed.
func (d *daemon) shareAll(ctx context.Context) {
	s, err := d.host.Share(ctx, moot.ShareOptions{})
	if err != nil {
		if ctx.Err() == nil {
			d.Log.Error("the agents of this device are not shared", "error", err, "fix", "end what prevents it, then run `moot share`")
		}
		return
	}
	d.Note("shares  %s", strings.Join(s.Profiles, ", "))
}

// ready says where the server is.
func (d *daemon) ready() error {
	d.Note("rooms   %s", d.at.Data)
	d.Note("socket  %s, for commands of this user", d.at.Socket)
	if d.at.Node != "" {
		d.Note("node    %s, for the other nodes", d.at.Node)
	}
	if d.at.URL == "" {
		return d.EmitText(d.at, "%s\n", d.at.Socket)
	}
	d.Note("token   %s, for programs that use the address", d.at.Token)
	return d.EmitText(d.at, "%s\n", d.at.URL)
}
