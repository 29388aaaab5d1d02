package servecmd

import (
	"context"
	"net"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/cluster"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// A node is what a server needs that shares its rooms with others. The zero node is that of a
// server alone.
type node struct {
	*cluster.Node
	listener net.Listener
	mover    *cluster.Mover
	drain    time.Duration
	deviceOf func(room string) string
}

// listenNode listens for other nodes, if the settings say so, and has the Host of w join
// them.
func (d *daemon) listenNode(ctx context.Context, f serveFlags, w *moot.Wiring) (err error) {
	if f.node == "" {
		return nil
	}
	if d.node.drain, err = time.ParseDuration(f.drain); err != nil || d.node.drain < 0 {
		return &problem.Error{Code: "CONFIG-VALUE", What: "server.drain is no duration", Where: f.drain, Fix: "write it as 2m or 30s", Err: err}
	}
	if d.node.listener, err = cluster.Listen(f.node); err != nil {
		return err
	}
	address := f.node
	if host, port, _ := net.SplitHostPort(f.node); port == "0" {
		_, port, _ = net.SplitHostPort(d.node.listener.Addr().String())
		address = net.JoinHostPort(host, port)
	}
	device := d.deviceID(w)
	w.Node = func(registry log.Members, deviceOf func(string) string) (moot.Node, error) {
		d.node.deviceOf = deviceOf
		d.node.Node, err = cluster.Join(ctx, cluster.Config{Members: registry, Address: address, Version: catalog.Version(), Device: device, DeviceOf: deviceOf, Log: d.Log})
		if err != nil {
			return nil, err
		}
		d.at.Node = address
		return d.node.Node, nil
	}
	return nil
}

// deviceID returns the id by which other owners know this node, "" if its keys cannot be used.
func (d *daemon) deviceID(w *moot.Wiring) string {
	device, err := w.Device()
	if err != nil {
		d.Log.Warn("this node runs no rooms with seats of other owners", "error", err)
		return ""
	}
	return device.Self.ID().String()
}

// serveNode makes c the configuration of a node, if this is one.
func (d *daemon) serveNode(c *server.Config) {
	if d.node.Node == nil {
		return
	}
	d.node.mover = d.node.Mover(d.host)
	c.Placement = server.AcrossNodes(d.host, c.Placement, d.node.Find)
	c.Device = server.DeviceAcrossNodes(c.Device, d.node.FindDevice)
	c.NodeOf = func(ctx context.Context) (func(context.Context, string) string, error) {
		return cluster.Locator(ctx, d.host.Log(), d.node.deviceOf)
	}
	c.Nodes = func() (map[string]*client.Client, error) {
		all := map[string]*client.Client{}
		for _, p := range d.node.Peers() {
			all[p.Address] = client.Local("", func(ctx context.Context) (net.Conn, error) { return d.node.Dial(ctx, p) })
		}
		return all, nil
	}
}

// closeNode ends what listenNode has begun.
func (d *daemon) closeNode() {
	if d.node.listener != nil {
		_ = d.node.listener.Close() // Serve closes it too
	}
	if d.node.mover != nil {
		d.node.mover.Close()
	}
}

// joinNodes answers other nodes until serving ends, and takes part in the distribution of
// the rooms until running ends.
func (d *daemon) joinNodes(serving, running context.Context, run func(func()), failed func(error)) {
	if d.node.Node == nil {
		return
	}
	run(func() { d.node.Run(serving, func() { d.host.DropLost(serving) }) })
	run(func() {
		failed(d.server.Serve(serving, d.node.Secure(d.node.listener), d.node.Handler(d.host, d.server.NodeHandler())))
	})
	run(func() { d.node.mover.Run(running) })
	run(func() { d.reclaimDevice(running) })
}

// reclaimInterval is how often a node tries to be online again as its device. Without it the
// device would be offline for a minute after the node that took it over was killed.
const reclaimInterval = 5 * time.Second

// reclaimDevice has the device online here again when the node that took it over has gone, until
// ctx ends.
func (d *daemon) reclaimDevice(ctx context.Context) {
	ticker := time.NewTicker(reclaimInterval)
	defer ticker.Stop()
	for {
		changed := d.node.Changed()
		d.host.ReclaimDevice()
		select {
		case <-changed:
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// leaveNodes hands over all rooms to the other nodes.
func (d *daemon) leaveNodes(ctx context.Context) {
	if d.node.Node == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, d.node.drain)
	defer cancel()
	if err := d.node.Drain(ctx); err != nil {
		d.Log.Error("the other nodes do not know that this one ends", "error", err)
	}
	d.node.mover.Drain(ctx)
}

// nodesChanged returns a channel that is closed when nodes have come or gone, or nil.
func (d *daemon) nodesChanged() <-chan struct{} {
	if d.node.Node == nil {
		return nil
	}
	return d.node.Changed()
}
