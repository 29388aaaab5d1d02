package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/spawn"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// The other owner of the demo, on whose device one of its agents is.
const (
	demoOwner   = "Sam"
	demoShared  = "Security"
	demoProfile = "demo" // on whose behalf it is asked
)

// A neighbour is that owner's device: a relay and a share, each a process of
// its own, which are started again when they are killed. Its keys last as long
// as the demo.
type neighbour struct {
	host *host
	dir  string
	pace time.Duration
	ours *device
	id   identity.DeviceID

	stop context.CancelFunc
	runs sync.WaitGroup
}

// neighbour makes the other owner's device and ours, which know each other as
// after a pairing, and starts the processes. It does not wait for them: the
// host's way to remote seats is closed until they are there.
func (h *host) neighbour(ctx context.Context, pace time.Duration) (*neighbour, error) {
	dir, err := os.MkdirTemp("", "moot-demo-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the demo: %w", err)
	}
	n := &neighbour{host: h, dir: dir, pace: pace}
	if err := n.pair(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	ctx, n.stop = context.WithCancel(context.WithoutCancel(ctx))
	h.remote.mu.Lock()
	n.runs.Go(func() {
		h.remote.conn, h.remote.err = n.start(ctx)
		h.remote.mu.Unlock()
	})
	return n, nil
}

func (n *neighbour) close() error {
	n.host.remote.close()
	n.stop()
	n.runs.Wait()
	return os.RemoveAll(n.dir)
}

// pair writes the files of both devices.
func (n *neighbour) pair() (err error) {
	n.ours = &device{app: n.host.app, dir: filepath.Join(n.dir, "ours", "device")}
	theirs := &device{dir: filepath.Join(n.dir, "theirs", "device")}
	psk := make([]byte, 32)
	copy(psk, newSecret()) // 32 characters, 128 random bits
	for _, d := range []*device{n.ours, theirs} {
		if d.self, err = identity.LoadOrGenerate(filepath.Join(d.dir, "keys.json"), nil, time.Now()); err != nil {
			return err
		}
		if d.peers, err = identity.OpenPeers(filepath.Join(d.dir, "peers.json")); err != nil {
			return err
		}
	}
	n.id = theirs.self.ID()
	for _, x := range []struct {
		at, of *device
		name   string
	}{{n.ours, theirs, demoOwner}, {theirs, n.ours, "the demo"}} {
		mine := x.at.self.Record().NK
		if _, err := x.at.peers.Add(identity.Peer{
			ID: x.of.self.ID(), Record: x.of.self.Record(), PairPSK: psk, Mine: mine[:], Name: x.name, Grant: identity.GrantAgent, Created: time.Now().UTC(),
		}); err != nil {
			return err
		}
	}
	rules := config.Profile{Name: demoProfile, Allow: true, Devices: []string{n.id.String()}, PerMinute: 600, Burst: 100}
	n.host.app.settings.Profiles = append([]config.Profile{rules}, n.host.app.settings.Profiles...)
	rules.Name, rules.Devices = demoShared, []string{n.ours.self.ID().String()}
	rules.Endpoint, err = json.Marshal(map[string]any{"kind": config.KindNDJSON, "command": demoCommand(demoShared, n.pace)})
	if err != nil {
		return err
	}
	b, err := json.Marshal(map[string]any{"profiles": []config.Profile{rules}}) // JSON is YAML
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(n.dir, "theirs.yaml"), b, 0o600)
}

// start starts the relay, then the share, and connects our device.
func (n *neighbour) start(ctx context.Context) (*connection, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	listen := "127.0.0.1:0"
	first := make(chan string, 1)
	relay := func() (*spawn.Process, error) {
		return spawn.Start(spawn.Config{Command: []string{
			self, "relay", "--listen", listen, "--allow", n.id.String(), "--allow", n.ours.self.ID().String(),
		}, Env: []string{"MOOT_CONFIG=" + os.DevNull}})
	}
	n.runs.Go(func() { n.keep(ctx, relay, first) })
	var url string
	select {
	case url = <-first:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if url == "" {
		return nil, errors.New("the relay of the demo did not start")
	}
	listen = strings.TrimPrefix(url, "ws://")
	share := func() (*spawn.Process, error) {
		return spawn.Start(spawn.Config{
			Command: []string{self, "share", "--relay", url, "--data", filepath.Join(n.dir, "theirs")},
			Env:     []string{"MOOT_CONFIG=" + filepath.Join(n.dir, "theirs.yaml")},
		})
	}
	n.runs.Go(func() { n.keep(ctx, share, nil) })
	return n.ours.connect(ctx, online{url: url})
}

// restartAfter is how long a process of the demo stays away that was killed.
const restartAfter = 100 * time.Millisecond

// maxStarts bounds how often a process of the demo is started.
const maxStarts = 100

// keep runs a process, and another when it ends, until ctx does. first is given
// the first line that one of them prints, "" when none can be started.
func (n *neighbour) keep(ctx context.Context, start func() (*spawn.Process, error), first chan<- string) {
	tell := func(string) {}
	if first != nil {
		var once sync.Once
		tell = func(line string) { once.Do(func() { first <- line }) }
	}
	defer tell("")
	for starts := 0; ctx.Err() == nil && starts < maxStarts; starts++ {
		p, err := start()
		if err != nil {
			n.host.app.log.Error("a process of the demo cannot be started", "error", err)
			return
		}
		var read sync.WaitGroup
		read.Go(func() {
			out := bufio.NewReader(p.Stdout())
			if line, err := out.ReadString('\n'); err == nil {
				tell(strings.TrimSpace(line))
			}
			_, _ = io.Copy(io.Discard, out) // it ends with the process
		})
		select {
		case <-p.Done():
		case <-ctx.Done():
		}
		p.Close(0, time.Second)
		read.Wait()
		sleepFor(ctx, restartAfter)
	}
}

func sleepFor(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// seat is the shared agent's seat.
func (n *neighbour) seat(role string, domains ...string) room.Participant {
	at, err := json.Marshal(map[string]string{"kind": config.KindRelay, "peer": demoOwner, "profile": demoShared})
	if err != nil {
		panic("demo: " + err.Error()) // strings only
	}
	return room.Participant{
		ID: demoShared, Kind: policy.Remote, Owner: demoOwner, Device: n.id.String(), Profile: demoProfile,
		Role: role, Domains: domains, Mode: room.FullAuto, Endpoint: at,
	}
}
