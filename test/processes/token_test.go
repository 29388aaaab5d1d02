//go:build unix

package processes

import (
	"bufio"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/internal/cli/relaycmd"
)

// TestTokenOfOneRelay: the relay of an invite gets the token that the settings
// have for it, and never the token for another relay. The relay lets in any
// device that shows the token, so a device that it rejects has not sent it.
func TestTokenOfOneRelay(t *testing.T) {
	w := newWorkbench(t, map[string]string{"token": "a token that is long enough\n", "other": "another token, for another relay\n"})
	port := freePort(t)
	address := net.JoinHostPort("127.0.0.1", port)
	w.start("relay", "--listen", address, "--tokens", "token").until(t, "ws://")
	host := newWorkbench(t, map[string]string{"token": "a token that is long enough\n", "config.yaml": "relay: {tokens: {\"" + address + "\": token}}\n"})
	host.env = append(host.env, "MOOT_CONFIG="+filepath.Join(host.dir, "config.yaml"))
	invite := inviteTo(t, "ws://"+address)
	for _, c := range []struct {
		name, settings string
		env            []string
		sent           bool
		notes          string
	}{
		{"of no relay", "", []string{"MOOT_RELAY_TOKEN=token"}, false, "relay: {tokens: {" + address + ": "},
		{"of another relay's URL", "relay: {token: token, url: \"wss://relay.example.org\"}\n", nil, false, "it belongs to wss://relay.example.org"},
		{"of another port", "relay: {tokens: {127.0.0.1: token}}\n", nil, false, ""},
		{"of another relay", "relay: {tokens: {relay.example.org: token, \"" + address + "\": other}}\n", nil, false, ""},
		{"of this relay", "relay: {tokens: {relay.example.org: other, \"" + address + "\": token}}\n", nil, true, ""},
		{"of this relay's URL, as written before", "relay: {token: token, url: \"ws://" + address + "\"}\n", nil, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			invite := invite
			b := newWorkbench(t, map[string]string{"token": "a token that is long enough\n", "other": "another token, for another relay\n", "config.yaml": c.settings})
			b.env = append(append(b.env, "MOOT_CONFIG="+filepath.Join(b.dir, "config.yaml")), c.env...)
			if c.sent {
				invite, _ = host.inviteAt(t, "ws://"+address)
			}
			out, err := b.moot("join", "--yes", "--name", "bob", invite)
			switch {
			case c.sent && err != nil:
				t.Errorf("%v\n%s", err, out)
			case !c.sent && (err == nil || !strings.Contains(out, "RELAY-REJECTED") || !strings.Contains(out, c.notes)):
				t.Errorf("it does not say %q: %v\n%s", c.notes, err, out)
			}
		})
	}
}

// inviteAt has the owner of the workbench make an invite and wait for a device.
func (w *workbench) inviteAt(t *testing.T, url string) (invite string, r *running) {
	t.Helper()
	r = w.start("invite", "--auto", "--relay", url, "-o", "jsonl")
	var p relaycmd.Pairing
	decodeLine(t, r.until(t, "invite"), &p)
	return p.Invite, r
}

// inviteTo returns an invite of a device that is not there.
func inviteTo(t *testing.T, url string) string {
	t.Helper()
	d, err := identity.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	in, err := identity.NewInvite(d, identity.Invite{Relay: url}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return in.String()
}

// TestOfflineIsSaid: a device that joins is told at once when the device that
// made the invite is not connected, and does not wait in silence.
func TestOfflineIsSaid(t *testing.T) {
	w := newWorkbench(t, nil)
	relay := w.start("relay", "--listen", "127.0.0.1:0", "--open")
	cmd := exec.Command("moot", "join", "--yes", inviteTo(t, relay.until(t, "ws://")))
	cmd.Dir, cmd.Env = w.dir, w.env
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "is not connected to the relay; waiting for it") {
	}
	if lines.Text() == "" {
		t.Error("it ended and did not say that the device is not connected")
	}
	_ = cmd.Process.Kill() // it would wait for the device
	_ = cmd.Wait()
}
