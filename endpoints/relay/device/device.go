// Package device is one data folder toward other owners: its keys, its peers,
// its open invites, and its connection to relays.
//
// A [Device] reads and writes the files. [Device.Connect] brings it online: a
// [Connection] logs in at every relay that the device or its peers use, and
// carries what the device asks, shares and watches. One process of a data
// folder can be online, because a relay lets a device in once.
package device

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/share"
	"github.com/folkmoot/moot/internal/flock"
	"github.com/folkmoot/moot/problem"
)

// Config says where a device is kept. Dir is required.
type Config struct {
	Dir   string // folder of its keys, peers and invites
	Relay string // URL of the relay where it meets others; "" is that of an invite or of a peer
	// Token returns the token that a private relay asks for, "" when it asks
	// for none. A nil func has no tokens.
	Token func(url string) (string, error)
	// Passphrase asks for the passphrase of the key file. A nil func has none.
	Passphrase func(prompt string) ([]byte, error)
	Log        *slog.Logger // nil discards
}

// A Device is this data folder toward other owners. Its methods are safe for
// concurrent use.
type Device struct {
	cfg     Config
	phrase  []byte // of the key file; empty if it is not sealed
	Self    *identity.Device
	Peers   *identity.Peers
	Invites *identity.Invites
}

// Open reads the device's files. It makes keys when there are none.
func Open(cfg Config) (*Device, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	d := &Device{cfg: cfg}
	var err error
	if d.Self, err = d.keys(); err != nil {
		return nil, err
	}
	if d.Peers, err = OpenPeers(cfg.Dir); err != nil {
		return nil, err
	}
	d.Invites, err = identity.OpenInvites(filepath.Join(cfg.Dir, "invites.json"))
	return d, err
}

// OpenPeers reads the peers of the device in dir. It needs no keys and makes
// none.
func OpenPeers(dir string) (*identity.Peers, error) {
	return identity.OpenPeers(filepath.Join(dir, "peers.json"))
}

// KeyFile returns where the device in dir keeps its keys.
func KeyFile(dir string) string { return filepath.Join(dir, "keys.json") }

// journalFile returns where the device in dir keeps the answers of its shared
// agents.
func journalFile(dir string) string { return filepath.Join(dir, "journal.jsonl") }

// DropOldAnswers removes answers of shared agents that are older than a day from
// the folder of a device. A connection that shares agents does it by itself, so
// nothing happens while the device is online.
func DropOldAnswers(dir string) error {
	if _, err := os.Stat(journalFile(dir)); err != nil {
		return nil //nolint:nilerr // there is no journal
	}
	unlock, ok, err := tryOnline(dir)
	if err != nil || !ok {
		return err
	}
	defer unlock()
	return share.DropOld(journalFile(dir), time.Now())
}

// ReadPassphrase reads the passphrase of a key file from the first line of a file
// that only this user may read.
func ReadPassphrase(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err == nil && st.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, &problem.Error{Code: "RELAY-FILE-MODE", What: fmt.Sprintf("the file of the passphrase has mode %04o, so others may read it", st.Mode().Perm()), Where: path, Fix: "chmod 600 " + path}
	}
	text, err := os.ReadFile(path)
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); err != nil || line == "" {
		return nil, &problem.Error{Code: "RELAY-PASSPHRASE", What: "the file of the passphrase is empty or cannot be read", Where: path, Fix: "write the passphrase into its first line, or leave device.passphrase out and type it", Err: err}
	}
	return []byte(line), nil
}

// onlineLock returns the file that the process of the device that is online has
// locked.
func onlineLock(dir string) string { return filepath.Join(dir, "online.lock") }

// keys asks for a passphrase only when the key file has one.
func (d *Device) keys() (*identity.Device, error) {
	path := KeyFile(d.cfg.Dir)
	self, err := identity.LoadOrGenerate(path, nil, time.Now())
	if !errors.Is(err, identity.ErrPassphrase) || d.cfg.Passphrase == nil {
		return self, err
	}
	if d.phrase, err = d.cfg.Passphrase("passphrase of " + path + ": "); err != nil {
		return nil, err
	}
	return identity.LoadOrGenerate(path, d.phrase, time.Now())
}

// Sealed reports whether a passphrase protects the key file.
func (d *Device) Sealed() bool { return len(d.phrase) > 0 }

// Seal protects the key file with a passphrase, or with none if it is empty.
func (d *Device) Seal(passphrase []byte) error {
	if err := identity.Reseal(KeyFile(d.cfg.Dir), d.phrase, passphrase); err != nil {
		return err
	}
	d.phrase = passphrase
	return nil
}

// Rotate replaces the device's session key. Each peer learns of the new one in
// its next session. The key before is kept for that, so a peer that does not
// know the current key yet would be lost by another rotation, which is refused
// unless force is set. The device must be offline.
func (d *Device) Rotate(force bool) error {
	unlock, err := d.hold()
	if err != nil {
		return err
	}
	defer unlock()
	peers, err := d.Peers.List()
	if err != nil {
		return err
	}
	now := d.Self.Record().NK
	for _, p := range peers {
		if !bytes.Equal(p.Mine, now[:]) && !force {
			return &problem.Error{
				Code: "RELAY-ROTATED", What: fmt.Sprintf("%q does not know the key of the last rotation yet, and would have to be paired again", p.Name),
				Fix: "connect to it twice first, as by two rooms: one session tells it the key, the next shows that it has it; or add --force",
			}
		}
	}
	if err := identity.RotateFile(KeyFile(d.cfg.Dir), d.phrase, time.Now()); err != nil {
		return err
	}
	d.Self, err = identity.Load(KeyFile(d.cfg.Dir), d.phrase)
	return err
}

// Find returns the id and the name of a peer, by either.
func (d *Device) Find(peer string) (id, name string, err error) {
	p, err := d.Peers.Find(peer)
	return p.ID.String(), p.Name, err
}

// FindObserver is like Find for a peer that may watch any room of this device.
// Other peers are an error.
func (d *Device) FindObserver(peer string) (id, name string, err error) {
	p, err := d.Peers.Find(peer)
	if err != nil {
		return "", "", err
	}
	fix := "make it an invite: `moot invite --grant observer`"
	switch {
	case p.Grant != identity.GrantObserver:
		return "", "", &problem.Error{Code: "ROOM-PEER", What: fmt.Sprintf("%q was not paired as observer but as %s", p.Name, p.Grant), Fix: fix}
	case p.Room != "":
		return "", "", &problem.Error{Code: "ROOM-PEER", What: fmt.Sprintf("%q was invited to room %s and may watch no other", p.Name, p.Room), Fix: fix + " without --room"}
	}
	return p.ID.String(), p.Name, nil
}

// NameOf returns what the device's owner calls another device, "" when it is
// no peer.
func (d *Device) NameOf(id identity.DeviceID) string {
	p, err := d.Peers.Lookup(id)
	if err != nil {
		return ""
	}
	return p.Name
}

// Trusted returns a func that reports whether a peer may be spoken to now: the
// store of peers can change while a room runs.
func (d *Device) Trusted(id identity.DeviceID) func() error {
	return func() error {
		p, err := d.Peers.Lookup(id)
		switch {
		case errors.Is(err, identity.ErrNoPeer):
			return session.ErrUnknownPeer
		case err == nil && p.Suspended():
			return session.ErrSuspended
		}
		return nil // when the store cannot be read, the Link refuses
	}
}

// How often hold tries to lock, and how long it waits between two tries: 2 s in
// all, because DropOldAnswers may write a large journal.
const (
	lockTries = 100
	lockWait  = 20 * time.Millisecond
)

// hold makes this process the only one of the device that is online.
func (d *Device) hold() (unlock func(), err error) {
	unlock, ok, err := tryOnline(d.cfg.Dir)
	for tries := 0; err == nil && !ok && tries < lockTries; tries++ {
		time.Sleep(lockWait)
		unlock, ok, err = tryOnline(d.cfg.Dir)
	}
	switch {
	case err != nil:
		return nil, &problem.Error{Code: "RELAY-FILE", What: "the device's folder cannot be used", Where: d.cfg.Dir, Fix: "make it writable", Err: err}
	case !ok:
		return nil, &problem.Error{
			Code: "RELAY-ONLINE", What: fmt.Sprintf("this device is online in process %d, and a relay lets a device in once", readHolder(d.cfg.Dir)), Where: d.cfg.Dir,
			Fix: "end that process; `moot serve` does all in one process, and other commands work through it",
		}
	}
	return unlock, nil
}

// Holder returns the id of the process in which the device in dir is online, 0 if
// it is in none.
func Holder(dir string) int {
	if _, err := os.Stat(onlineLock(dir)); err != nil {
		return 0
	}
	unlock, ok, err := flock.TryLock(onlineLock(dir))
	if err != nil {
		return 0
	}
	if ok {
		unlock()
		return 0
	}
	return readHolder(dir)
}

// readHolder reads the process that has taken the lock last.
func readHolder(dir string) int {
	text, _ := os.ReadFile(onlineLock(dir)) // without it there is no process to name
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// tryOnline takes the lock of the process that is online and writes the id of this
// process into its file. It reports false if another process has it.
func tryOnline(dir string) (unlock func(), ok bool, err error) {
	path := onlineLock(dir)
	unlock, ok, err = flock.TryLock(path)
	if err != nil || !ok {
		return nil, false, err
	}
	if err := os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		unlock()
		return nil, false, err
	}
	return unlock, true, nil
}
