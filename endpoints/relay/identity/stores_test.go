package identity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

func newInvite(t testing.TB, d *Device) Invite {
	t.Helper()
	in, err := NewInvite(d, Invite{Relay: "wss://relay.example"}, now)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestInvite(t *testing.T) {
	d := newDevice(t)
	in := newInvite(t, d)
	if in.Expires != now.Add(15*time.Minute) || in.MaxUses != 1 || in.Grant != GrantAgent || in.Auto || !in.Commitment || in.Host != d.Record() {
		t.Errorf("defaults: %+v", in)
	}
	text := in.String()
	if len(text) > 330 || !strings.HasPrefix(text, "mootinv1.") {
		t.Errorf("%d characters: %s", len(text), text)
	}
	wrapped := " " + text[:70] + "\n\t" + text[70:200] + "\r\n" + text[200:] + "\n"
	for _, s := range []string{text, wrapped} {
		if got, err := ParseInvite(s); err != nil || got != in {
			t.Errorf("%+v, %v", got, err)
		}
	}
	for _, bad := range []Invite{{Grant: GrantSeat, Room: "r_1"}, {Grant: GrantSeat, Seat: "ann"}, {Seat: "ann", Room: "r_1"}, {Grant: GrantSeat, Room: "r_1", Seat: "ann", MaxUses: 2}} {
		bad.Relay = "wss://relay.example"
		if _, err := NewInvite(d, bad, now); err == nil {
			t.Errorf("accepted: %+v", bad)
		}
	}
	seat, err := NewInvite(d, Invite{Relay: "wss://relay.example", Grant: GrantSeat, Room: "r_1", Seat: "ann"}, now)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseInvite(seat.String()); err != nil || got != seat {
		t.Errorf("%+v, %v", got, err)
	}
	full, err := NewInvite(d, Invite{
		Relay: "ws://127.0.0.1:8443/moot", Grant: GrantObserver, Room: "01J0ROOM", Auto: true, MaxUses: 127, Expires: now.Add(time.Hour),
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseInvite(full.String()); err != nil || got != full {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestInviteRefuses(t *testing.T) {
	text := newInvite(t, newDevice(t)).String()
	for i := range len(text) {
		c := byte('A')
		if text[i] == c {
			c = 'B'
		}
		if _, err := ParseInvite(text[:i] + string(c) + text[i+1:]); !errors.Is(err, ErrInvite) {
			t.Fatalf("a change of character %d is not detected: %v", i, err)
		}
		if _, err := ParseInvite(text[:i]); !errors.Is(err, ErrInvite) {
			t.Fatalf("cut off after %d: %v", i, err)
		} else if i > 60 && strings.Contains(err.Error(), text[20:60]) {
			t.Fatal("an error contains the secret")
		}
	}
	if _, err := ParseInvite(strings.Repeat("A", 1<<20)); !errors.Is(err, ErrInvite) {
		t.Error(err)
	}
	for _, bad := range []Invite{
		{},
		{Relay: "https://relay.example"},
		{Relay: "wss://"},
		{Relay: "wss://user:pass@relay.example"},
		{Relay: "wss://relay\x00"},
		{Relay: "wss://" + strings.Repeat("x", 200)},
		{Relay: "wss://r", Room: strings.Repeat("x", 65)},
		{Relay: "wss://r", Room: "a\nb"},
		{Relay: "wss://r", Grant: 9},
		{Relay: "wss://r", MaxUses: 128},
	} {
		if _, err := NewInvite(newDevice(t), bad, now); !errors.Is(err, ErrInvite) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func FuzzInvite(f *testing.F) {
	in := newInvite(f, newDevice(f))
	f.Add(in.String())
	in.Room, in.Auto = "room", true
	f.Add(in.String())
	in.Grant, in.Seat = GrantSeat, "ann"
	f.Add(in.String())
	f.Fuzz(func(t *testing.T, s string) {
		if in, err := ParseInvite(s); err == nil && in.String() != strings.Join(strings.Fields(s), "") {
			t.Fatalf("%s is written as %s", s, in)
		}
	})
}

// FuzzInviteBytes bypasses the checksum, so that the decoder behind it is
// tested.
func FuzzInviteBytes(f *testing.F) {
	in := newInvite(f, newDevice(f))
	b, err := base64url.DecodeString(strings.TrimPrefix(in.String(), invitePrefix))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[:len(b)-checkSize])
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := decodeInvite(b)
		if err != nil || in.check() != nil {
			return
		}
		if again, err := ParseInvite(in.String()); err != nil || again != in {
			t.Fatalf("%+v %+v %v", in, again, err)
		}
	})
}

func openInvites(t *testing.T) *Invites {
	t.Helper()
	v, err := OpenInvites(filepath.Join(t.TempDir(), "invites.json"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestInvites(t *testing.T) {
	d, v := newDevice(t), openInvites(t)
	a, b, c := DeviceID{1}, DeviceID{2}, DeviceID{3}
	in, err := NewInvite(d, Invite{Relay: "wss://r.example", MaxUses: 2}, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Use(in.ID, a, now); !errors.Is(err, ErrNoInvite) {
		t.Errorf("before: %v", err)
	}
	if err := v.Add(in, now); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		by   DeviceID
		at   time.Duration
		want error
	}{
		{a, 0, nil}, {a, 0, nil}, {b, time.Minute, nil}, {c, time.Minute, ErrInviteUsed}, {b, 14 * time.Minute, nil}, {b, 16 * time.Minute, ErrInviteExpired}, {c, 16 * time.Minute, ErrInviteExpired},
	} {
		reopened, err := OpenInvites(v.file.path) // as another process, or after a crash
		if err != nil {
			t.Fatal(err)
		}
		if err := reopened.Use(in.ID, step.by, now.Add(step.at)); !errors.Is(err, step.want) {
			t.Errorf("%v after %v: %v, want %v", step.by[0], step.at, err, step.want)
		}
	}
	if open, err := v.List(now); err != nil || len(open) != 0 {
		t.Errorf("%d are open, %v", len(open), err)
	}
	if got, err := v.Lookup(in.ID); err != nil || got != in {
		t.Errorf("%+v, %v", got, err)
	}
	later := newInvite(t, d)
	if err := v.Add(later, now.Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Lookup(in.ID); !errors.Is(err, ErrNoInvite) {
		t.Errorf("a day later: %v", err)
	}
	if err := v.Remove(later.ID); err != nil {
		t.Fatal(err)
	}
	for range maxInvites {
		if err := v.Add(newInvite(t, d), now); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Add(newInvite(t, d), now); !errors.Is(err, ErrInvites) {
		t.Errorf("number of invites is not limited: %v", err)
	}
}

func newPeer(t testing.TB, name string) Peer {
	t.Helper()
	d := newDevice(t)
	nk := d.Record().NK
	return Peer{ID: d.ID(), Record: d.Record(), PairPSK: bytes.Repeat([]byte{7}, 32), Mine: nk[:], Name: name, Grant: GrantAgent, Created: now}
}

func openPeers(t *testing.T) *Peers {
	t.Helper()
	p, err := OpenPeers(filepath.Join(t.TempDir(), "peers.json"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPeers(t *testing.T) {
	p := openPeers(t)
	bob, err := p.Add(newPeer(t, "Bob\u202e's\nlaptop"))
	if err != nil || bob.Name != "Bob 's laptop" {
		t.Fatalf("%q, %v", bob.Name, err)
	}
	second, err := p.Add(newPeer(t, bob.Name))
	if err != nil || second.Name != "Bob 's laptop 2" {
		t.Errorf("%q, %v", second.Name, err)
	}
	if unnamed, err := p.Add(newPeer(t, "\x00")); err != nil || unnamed.Name != unnamed.ID.Short() {
		t.Errorf("%q, %v", unnamed.Name, err)
	}
	other, err := OpenPeers(p.file.path) // another process
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"bob 's laptop", bob.ID.String(), bob.ID.Display()} {
		if got, err := other.Find(key); err != nil || got.ID != bob.ID {
			t.Errorf("%s: %v, %v", key, got.Name, err)
		}
	}
	if err := other.Rename(bob.ID, "bob"); err != nil {
		t.Fatal(err)
	}
	if err := other.Verify(bob.ID, now); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Lookup(bob.ID); err != nil || got.Name != "bob" || got.Verified != now || !bytes.Equal(got.PairPSK, bob.PairPSK) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "BOB 'S LAPTOP 2", "a\x1b[31m", " x", strings.Repeat("x", 65), second.ID.String(), "\u202e"} {
		if err := p.Rename(bob.ID, bad); !errors.Is(err, ErrPeerName) || code(err) != "RELAY-PEER-NAME" {
			t.Errorf("%q: %v", bad, err)
		}
	}
	again := bob
	again.Name, again.PairPSK = "another name", bytes.Repeat([]byte{8}, 32)
	if got, err := p.Add(again); err != nil || got.Name != "bob" {
		t.Errorf("paired again: %q, %v", got.Name, err)
	}
	if err := other.Remove(bob.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Lookup(bob.ID); !errors.Is(err, ErrNoPeer) || code(err) != "RELAY-PEER" {
		t.Errorf("removed by another process: %v", err)
	}
	if list, err := p.List(); err != nil || len(list) != 2 {
		t.Errorf("%d peers, %v", len(list), err)
	}
	for name, err := range map[string]error{"rename": p.Rename(bob.ID, "x"), "remove": p.Remove(bob.ID), "verify": p.Verify(bob.ID, now)} {
		if !errors.Is(err, ErrNoPeer) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPeersSeats: a seat is held by the device that was invited last, and pairing again
// for a seat takes nothing else away.
func TestPeersSeats(t *testing.T) {
	p := openPeers(t)
	ann, bob := SeatRef{"r_1", "ann"}, SeatRef{"r_1", "bob"}
	add := func(q Peer, grant Grant, seats, holds []SeatRef) Peer {
		t.Helper()
		q.Grant, q.Seats, q.Holds = grant, seats, holds
		stored, err := p.Add(q)
		if err != nil {
			t.Fatal(err)
		}
		return stored
	}
	first, second := newPeer(t, "first"), newPeer(t, "second")
	first.Room = "r_1"
	add(first, GrantObserver, nil, nil)
	first.Room = ""
	add(first, GrantSeat, []SeatRef{ann}, nil)
	if got := add(first, GrantSeat, []SeatRef{bob}, nil); got.Grant != GrantObserver || got.Room != "r_1" || !slices.Equal(got.Seats, []SeatRef{ann, bob}) {
		t.Errorf("%+v", got)
	}
	if got := add(first, 0, nil, []SeatRef{ann}); got.Grant != GrantObserver || len(got.Seats) != 2 || !got.HoldsSeatOf("r_1") || got.HoldsSeatOf("r_2") {
		t.Errorf("%+v", got)
	}
	add(second, GrantSeat, []SeatRef{ann}, nil)
	if got, err := p.Lookup(first.ID); err != nil || !slices.Equal(got.Seats, []SeatRef{bob}) || len(got.Holds) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if got := add(second, GrantAgent, nil, nil); got.Grant != GrantAgent || len(got.Seats) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestPeersKeepTheirMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	p := openPeers(t)
	if _, err := p.Add(newPeer(t, "bob")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(p.file.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := os.Chmod(p.file.path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenPeers(p.file.path); code(err) != "RELAY-FILE-MODE" {
		t.Error(err)
	}
}

// TestPeersFailedWrite: a change that cannot be saved has no effect.
func TestPeersFailedWrite(t *testing.T) {
	p := openPeers(t)
	bob, err := p.Add(newPeer(t, "bob"))
	if err != nil {
		t.Fatal(err)
	}
	wrong := newPeer(t, "eve")
	wrong.PairPSK = nil
	if _, err := p.Add(wrong); err == nil {
		t.Error("a peer without a secret was stored")
	}
	if list, err := p.List(); err != nil || len(list) != 1 || list[0].ID != bob.ID {
		t.Errorf("%v %v", list, err)
	}
}

// TestPeersTogether: no change is lost if several processes change the file.
func TestPeersTogether(t *testing.T) {
	path := openPeers(t).file.path
	var wg sync.WaitGroup
	for i := range 8 {
		peer := newPeer(t, fmt.Sprint("peer", i))
		wg.Go(func() {
			p, err := OpenPeers(path)
			if err == nil {
				_, err = p.Add(peer)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	p, err := OpenPeers(path)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := p.List(); err != nil || len(list) != 8 {
		t.Errorf("%d peers, %v", len(list), err)
	}
}

func FuzzPeers(f *testing.F) {
	b, err := json.Marshal(peerFile{V: 1, Peers: []Peer{newPeer(f, "bob"), newPeer(f, "eve")}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"v":1,"peers":[]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := decodeDocument(b, checkPeers)
		if err != nil {
			return
		}
		again, err := json.Marshal(file)
		if err != nil {
			t.Skip("a year that JSON cannot hold")
		}
		if _, err := decodeDocument(again, checkPeers); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzInvitesFile(f *testing.F) {
	in := newInvite(f, newDevice(f))
	b, err := json.Marshal(inviteFile{V: 1, Invites: []storedInvite{{Invite: in.String(), Used: []inviteUse{{ID: DeviceID{1}, At: now}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := decodeDocument(b, checkInvites)
		if err == nil && file.V != 1 {
			t.Fatal(file.V)
		}
	})
}

func FuzzCleanName(f *testing.F) {
	f.Add("Bob's laptop")
	f.Add("\u202e\x1b[31m\xff")
	f.Fuzz(func(t *testing.T, s string) {
		c := CleanName(s)
		if CleanName(c) != c || utf8.RuneCountInString(c) > maxPeerName || strings.ContainsAny(c, "\n\r\t\x1b") || !utf8.ValidString(c) {
			t.Fatalf("%q is cleaned to %q", s, c)
		}
	})
}
