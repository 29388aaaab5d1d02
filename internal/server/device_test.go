package server_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/folkmoot/moot/endpoints/relay/server"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/client"
)

// startRelay runs a relay until the test ends, and returns its URL.
func startRelay(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Hosts: []string{l.Addr().String()}, Open: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(ctx, l) }()
	t.Cleanup(func() { cancel(); <-done })
	return "ws://" + l.Addr().String()
}

// settings makes a settings file the one of the Hosts that are opened next.
func settings(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MOOT_CONFIG", path)
	return path
}

// awaitPhase polls a pairing until it has a phase.
func (x *fixture) awaitPhase(path, phase string) (p api.Pairing) {
	x.t.Helper()
	for after := 0; p.Phase != phase; after = p.Version {
		if p.Over() {
			x.t.Fatalf("%s is %s: %+v", path, p.Phase, p.Problem)
		}
		x.call("", http.MethodGet, fmt.Sprintf("%s?wait=20s&after=%d", path, after), nil, &p)
	}
	return p
}

// pairings makes an invite on one device and uses it on the other. It returns the
// paths of both, and the digits.
func pairings(t *testing.T, ann, bob *fixture, q api.InviteRequest) (invite, join, digits string) {
	t.Helper()
	var made, used api.Pairing
	ann.call("", http.MethodPost, "/api/invites", q, &made)
	bob.call("", http.MethodPost, "/api/joins", api.JoinRequest{Invite: made.Invite, Name: "bob"}, &used)
	invite, join = "/api/invites/"+made.ID, "/api/joins/"+used.ID
	here, there := ann.awaitPhase(invite, "asked"), bob.awaitPhase(join, "asked")
	if here.Question.Digits != there.Question.Digits || here.Question.Name != "bob" || there.Invite != "" {
		t.Errorf("asked %+v and %+v", here.Question, there.Question)
	}
	return invite, join, here.Question.Digits
}

// TestPairing checks the pairing of two devices over HTTP: the digits are the same,
// one answer counts, and both devices list each other afterwards.
func TestPairing(t *testing.T) {
	settings(t, "")
	relay := startRelay(t)
	ann, bob := newFixture(t, t.TempDir()), newFixture(t, t.TempDir())
	invite, join, digits := pairings(t, ann, bob, api.InviteRequest{Relay: relay, Name: "ann", Grant: "observer", Expires: "5m"})
	yes := api.PairingAnswer{Digits: digits, Accept: true}
	if p := ann.refused(http.MethodPost, invite+"/answer", api.PairingAnswer{Digits: "1", Accept: true}); p.Status != http.StatusConflict || p.Code != "INVITE-ANSWERED" {
		t.Errorf("an answer to other digits: %+v", p)
	}
	ann.call("", http.MethodPost, invite+"/answer", yes, &api.Pairing{})
	if p := ann.refused(http.MethodPost, invite+"/answer", yes); p.Status != http.StatusConflict {
		t.Errorf("a second answer: %+v", p)
	}
	bob.call("", http.MethodPost, join+"/answer", yes, &api.Pairing{})
	if p := ann.awaitPhase(invite, "paired"); p.Peer.Name != "bob" || p.Peer.Grant != "observer" {
		t.Errorf("paired with %+v", p.Peer)
	}
	bob.awaitPhase(join, "paired")
	var peers api.Peers
	bob.call("", http.MethodGet, "/api/peers", nil, &peers)
	var device api.Device
	bob.call("", http.MethodGet, "/api/device", nil, &device)
	if len(peers.Peers) != 1 || peers.Peers[0].Name != "ann" || peers.Peers[0].Relay != relay || !device.Online || len(device.Relays) != 1 || !device.Relays[0].Connected {
		t.Errorf("peers %+v, device %+v", peers, device)
	}
	bob.call("", http.MethodDelete, "/api/peers/ann", nil, &api.Peer{})
	if p := bob.refused(http.MethodDelete, "/api/peers/ann", nil); p.Status != http.StatusNotFound || p.Code != "RELAY-PEER" {
		t.Errorf("removed twice: %+v", p)
	}
	var all api.Pairings
	ann.call("", http.MethodGet, "/api/invites", nil, &all)
	if len(all.Pairings) != 1 {
		t.Errorf("invites %+v", all)
	}
	if status, _, b := ann.send(http.MethodDelete, invite, nil); status != http.StatusNoContent {
		t.Errorf("forgetting an invite: %d %s", status, b)
	}
	if p := ann.refused(http.MethodGet, invite, nil); p.Status != http.StatusNotFound {
		t.Errorf("a forgotten invite: %+v", p)
	}
}

// TestPairingRefused checks what both devices say after a refusal, and requests that
// are not allowed.
func TestPairingRefused(t *testing.T) {
	settings(t, "")
	relay := startRelay(t)
	ann, bob := newFixture(t, t.TempDir()), newFixture(t, t.TempDir())
	invite, join, digits := pairings(t, ann, bob, api.InviteRequest{Relay: relay})
	bob.call("", http.MethodPost, join+"/answer", api.PairingAnswer{Digits: digits}, &api.Pairing{})
	for _, p := range []api.Pairing{ann.awaitPhase(invite, "refused"), bob.awaitPhase(join, "refused")} {
		if p.Problem == nil || p.Problem.Code != "INVITE-REFUSED" {
			t.Errorf("refused with %+v", p.Problem)
		}
	}
	for path, body := range map[string]any{
		"/api/joins":   api.JoinRequest{Invite: "mootinv1.x"},
		"/api/invites": api.InviteRequest{Relay: relay, Expires: "25h"},
		"/api/shares":  api.ShareRequest{Profiles: []string{"none"}},
	} {
		if p := ann.refused(http.MethodPost, path, body); p.Status/100 != 4 {
			t.Errorf("POST %s: %+v", path, p)
		}
		if p := ann.refused(http.MethodPost, path, body, "Test-Scope", "control"); p.Status != http.StatusForbidden {
			t.Errorf("POST %s with the scope control: %+v", path, p)
		}
	}
	for _, path := range []string{"/api/shares/none", "/api/invites/none", "/api/joins/none"} {
		if p := ann.refused(http.MethodDelete, path, nil); p.Status != http.StatusNotFound {
			t.Errorf("DELETE %s: %+v", path, p)
		}
	}
	for _, query := range []string{"", "?last=x", "?last=10001", "?after=-1", "?wait=soon"} {
		if p := ann.refused(http.MethodGet, "/api/watches/nobody"+query, nil); p.Status/100 != 4 {
			t.Errorf("watching with %q: %+v", query, p)
		}
	}
}

// TestHeldShare checks that a share lasts as long as its answer is read, and that
// the settings file is read again for it.
func TestHeldShare(t *testing.T) {
	relay := startRelay(t)
	path := settings(t, "relay: {url: '"+relay+"'}\n")
	bob := newFixture(t, t.TempDir())
	if err := os.WriteFile(path, []byte("relay: {url: '"+relay+"'}\nprofiles: [{name: one, endpoint: {kind: scripted, lines: [x]}}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := client.New(client.Config{URL: bob.web.URL})
	ctx, cancel := context.WithCancel(t.Context())
	begun, ended := make(chan api.Share, 1), make(chan error, 1)
	go func() {
		ended <- c.Share(ctx, api.ShareRequest{Profiles: []string{"one"}}, func(s api.Share) error { begun <- s; return nil })
	}()
	var s api.Share
	select {
	case s = <-begun:
	case err := <-ended:
		t.Fatal(err)
	}
	if len(s.Unused) != 1 || s.Relays[0] != relay {
		t.Errorf("shared %+v", s)
	}
	var all api.Shares
	bob.call("", http.MethodGet, "/api/shares", nil, &all)
	if len(all.Shares) != 1 || all.Shares[0].ID != s.ID {
		t.Errorf("shares %+v", all)
	}
	if p := bob.refused(http.MethodPost, "/api/shares", api.ShareRequest{}); p.Status != http.StatusConflict {
		t.Errorf("shared twice: %+v", p)
	}
	cancel()
	<-ended
	for len(all.Shares) > 0 { // the server sees soon that the caller has gone
		bob.call("", http.MethodGet, "/api/shares", nil, &all)
	}
	bob.call("", http.MethodPost, "/api/shares", api.ShareRequest{}, &s)
	if status, _, b := bob.send(http.MethodDelete, "/api/shares/"+url.PathEscape(s.ID), nil); status != http.StatusNoContent {
		t.Errorf("ending a share: %d %s", status, b)
	}
}
