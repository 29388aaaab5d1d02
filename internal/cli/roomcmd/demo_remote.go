package roomcmd

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/flock"
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
	app     *commands
	dir     string
	release func() error // releases dir when no process uses it any more
	delay   time.Duration
	ours    *device.Device
	id      identity.DeviceID

	offline func()
	stop    context.CancelFunc
	runs    sync.WaitGroup
}

// startNeighbour makes the other owner's device and ours, paired with each
// other, and starts the processes. It does not wait for them: rooms of the host
// wait for the connection when they need a remote seat.
func (a *commands) startNeighbour(ctx context.Context, h *moot.Host, delay time.Duration) (*neighbour, error) {
	n := &neighbour{app: a, delay: delay}
	if err := n.takeFolder(); err != nil {
		return nil, fmt.Errorf("making a folder for the demo: %w", err)
	}
	rules, err := n.pair()
	if err != nil {
		return nil, errors.Join(err, n.release())
	}
	ctx, n.stop = context.WithCancel(context.WithoutCancel(ctx))
	n.runs.Add(1)
	n.offline = h.UseDevice(rules, func() (*device.Connection, error) {
		defer n.runs.Done()
		return n.start(ctx)
	})
	return n, nil
}

// leave ends the processes and takes our device offline.
func (n *neighbour) leave() {
	n.offline()
	n.stop()
	n.runs.Wait()
	if err := n.release(); err != nil {
		n.app.Log.Warn("the demo left something behind", "error", err)
	}
}

// demoFolder is where the devices of the demo are kept.
func (a *commands) demoFolder() string { return filepath.Join(a.Settings.Data, "demo") }

// demoAgain starts the neighbour for a stored room of the demo. Other rooms
// need none.
func (a *commands) demoAgain(ctx context.Context, h *moot.Host, s *room.State, headless bool) (leave func(), err error) {
	theirs, err := identity.Load(device.KeyFile(filepath.Join(a.demoFolder(), "theirs", "device")), nil)
	if err != nil {
		return func() {}, nil // no demo was run here
	}
	isTheirs := func(x *room.Seat) bool {
		return config.Remote(x.Participant) && x.Device == theirs.ID().String()
	}
	if !slices.ContainsFunc(s.Seats, isTheirs) {
		return func() {}, nil
	}
	delay := demoDelay
	if headless {
		delay = 0
	}
	n, err := a.startNeighbour(ctx, h, delay)
	if err != nil {
		return nil, err
	}
	return n.leave, nil
}

// takeFolder takes the folder in the data folder or, while another demo uses
// it, a temporary one.
func (n *neighbour) takeFolder() error {
	n.dir = n.app.demoFolder()
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return err
	}
	unlock, ok, err := flock.TryLock(filepath.Join(n.dir, "lock"))
	if err != nil {
		return err
	}
	if ok {
		n.release = func() error { unlock(); return nil }
		return nil
	}
	n.dir, err = os.MkdirTemp("", "moot-demo-")
	n.release = func() error { return os.RemoveAll(n.dir) }
	return err
}

// pair writes the files of both devices and the settings of the share. It
// returns the rules by which our host may ask.
func (n *neighbour) pair() (rules config.Profile, err error) {
	w := n.app.Wiring()
	w.Passphrase = nil
	var both [2]*device.Device
	for i, owner := range []string{"ours", "theirs"} {
		if both[i], err = w.DeviceAt(filepath.Join(n.dir, owner, "device")); err != nil {
			return rules, err
		}
	}
	n.ours = both[0]
	n.id = both[1].Self.ID()
	if !arePaired(both[0], both[1]) {
		if err := pairDevices(both[0], both[1]); err != nil {
			return rules, err
		}
	}
	rules = config.Profile{Name: demoProfile, Allow: true, Devices: []string{n.id.String()}, PerMinute: 600, Burst: 100}
	return rules, n.writeSettings(rules)
}

// arePaired reports whether both devices have the other as a peer.
func arePaired(a, b *device.Device) bool {
	x, errX := a.Peers.Lookup(b.Self.ID())
	y, errY := b.Peers.Lookup(a.Self.ID())
	return errX == nil && errY == nil && bytes.Equal(x.PairPSK, y.PairPSK)
}

// pairDevices makes two devices peers, as a pairing does.
func pairDevices(ours, theirs *device.Device) error {
	psk := make([]byte, 32)
	rand.Read(psk)
	for _, x := range []struct {
		at, of *device.Device
		name   string
	}{{ours, theirs, demoOwner}, {theirs, ours, "the demo"}} {
		if err := x.at.Peers.Remove(x.of.Self.ID()); err != nil && !errors.Is(err, identity.ErrNoPeer) {
			return err
		}
		mine := x.at.Self.Record().NK
		if _, err := x.at.Peers.Add(identity.Peer{
			ID: x.of.Self.ID(), Record: x.of.Self.Record(), PairPSK: psk, Mine: mine[:], Name: x.name, Grant: identity.GrantAgent, Created: time.Now().UTC(),
		}); err != nil {
			return err
		}
	}
	return nil
}

// writeSettings lets their share answer our host.
func (n *neighbour) writeSettings(rules config.Profile) (err error) {
	rules.Name, rules.Devices = demoShared, []string{n.ours.Self.ID().String()}
	rules.Endpoint, err = json.Marshal(map[string]any{"kind": config.KindNDJSON, "command": demoCommand(demoShared, n.delay)})
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
func (n *neighbour) start(ctx context.Context) (*device.Connection, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	listen := "127.0.0.1:0"
	first := make(chan string, 1)
	relay := func() (*spawn.Process, error) {
		return spawn.Start(spawn.Config{Command: []string{
			self, "relay", "--listen", listen, "--allow", n.id.String(), "--allow", n.ours.Self.ID().String(),
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
	return n.ours.Connect(ctx, device.Options{Relay: url})
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
			n.app.Log.Error("a process of the demo cannot be started", "error", err)
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
		app.SleepFor(ctx, restartAfter)
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
