package cli

import (
	"bufio"
	"bytes"
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
// its own, which are started again when they are killed. Its keys stay in the
// data folder, so that a room of the demo can go on another day.
type neighbour struct {
	host *host
	dir  string
	done func() error // when nothing of it runs any more
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
	n := &neighbour{host: h, pace: pace}
	if err := n.settle(); err != nil {
		return nil, fmt.Errorf("making a folder for the demo: %w", err)
	}
	if err := n.pair(); err != nil {
		return nil, errors.Join(err, n.done())
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
	return n.done()
}

// leave is close for who has nothing to do about an error.
func (n *neighbour) leave() {
	if err := n.close(); err != nil {
		n.host.app.log.Warn("the demo left something behind", "error", err)
	}
}

// demoFolder is where the devices of the demo are kept.
func (h *host) demoFolder() string { return filepath.Join(h.app.settings.Data, "demo") }

// demoAgain starts what a room of the demo that is opened again needs.
func (h *host) demoAgain(ctx context.Context, seats []room.Participant, headless bool) (leave func(), err error) {
	pace := demoPace
	if headless {
		pace = 0
	}
	n, err := h.neighbourOf(ctx, seats, pace)
	if n == nil || err != nil {
		return func() {}, err
	}
	return n.leave, nil
}

// neighbourOf is the neighbour of a room of the demo that is opened again, nil
// for any other room.
func (h *host) neighbourOf(ctx context.Context, seats []room.Participant, pace time.Duration) (*neighbour, error) {
	theirs, err := identity.Load(filepath.Join(h.demoFolder(), "theirs", "device", "keys.json"), nil)
	if err != nil {
		return nil, nil // there was never a demo here
	}
	for _, p := range seats {
		if config.Remote(p) && p.Device == theirs.ID().String() {
			return h.neighbour(ctx, pace)
		}
	}
	return nil, nil
}

// settle finds the neighbour a folder: the one in the data folder or, beside
// another demo, one that ends with it.
func (n *neighbour) settle() error {
	n.dir = n.host.demoFolder()
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return err
	}
	unlock, _, err := holdFile(filepath.Join(n.dir, "lock"))
	if err != nil {
		return err
	}
	if unlock != nil {
		n.done = func() error { unlock(); return nil }
		return nil
	}
	n.dir, err = os.MkdirTemp("", "moot-demo-")
	n.done = func() error { return os.RemoveAll(n.dir) }
	return err
}

// acquainted says whether two devices have been paired whole.
func acquainted(a, b *device) bool {
	x, errX := a.peers.Lookup(b.self.ID())
	y, errY := b.peers.Lookup(a.self.ID())
	return errX == nil && errY == nil && bytes.Equal(x.PairPSK, y.PairPSK)
}

// pair writes the files of both devices.
func (n *neighbour) pair() (err error) {
	n.ours = &device{app: n.host.app, dir: filepath.Join(n.dir, "ours", "device")}
	theirs := &device{dir: filepath.Join(n.dir, "theirs", "device")}
	for _, d := range []*device{n.ours, theirs} {
		if d.self, err = identity.LoadOrGenerate(filepath.Join(d.dir, "keys.json"), nil, time.Now()); err != nil {
			return err
		}
		if d.peers, err = identity.OpenPeers(filepath.Join(d.dir, "peers.json")); err != nil {
			return err
		}
	}
	n.id = theirs.self.ID()
	if !acquainted(n.ours, theirs) {
		if err := introduce(n.ours, theirs); err != nil {
			return err
		}
	}
	return n.allow()
}

// introduce makes two devices know each other as after a pairing.
func introduce(ours, theirs *device) error {
	psk := make([]byte, 32)
	copy(psk, newSecret()) // 32 characters, 128 random bits
	for _, x := range []struct {
		at, of *device
		name   string
	}{{ours, theirs, demoOwner}, {theirs, ours, "the demo"}} {
		if err := x.at.peers.Remove(x.of.self.ID()); err != nil && !errors.Is(err, identity.ErrNoPeer) {
			return err
		}
		mine := x.at.self.Record().NK
		if _, err := x.at.peers.Add(identity.Peer{
			ID: x.of.self.ID(), Record: x.of.self.Record(), PairPSK: psk, Mine: mine[:], Name: x.name, Grant: identity.GrantAgent, Created: time.Now().UTC(),
		}); err != nil {
			return err
		}
	}
	return nil
}

// allow lets our host ask and their share answer, and writes their settings.
func (n *neighbour) allow() (err error) {
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
