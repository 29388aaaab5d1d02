package processes

import (
	"regexp"
	"strings"
	"testing"
)

var (
	anyInvite = regexp.MustCompile(`mootinv1\.[A-Za-z0-9_-]+`)
	anyDigits = regexp.MustCompile(`digits +([0-9]{6} [0-9]{6})`)
)

// TestInviteAccepted: both owners see who is there, with the same digits, and
// say yes or no. Neither device stores the other before both have said yes. It is
// the same when servers are online in place of the commands.
func TestInviteAccepted(t *testing.T) {
	t.Run("alone", func(t *testing.T) { inviteAndJoin(t, false) })
	t.Run("servers", func(t *testing.T) { inviteAndJoin(t, true) })
}

func inviteAndJoin(t *testing.T, servers bool) {
	ann, bob := newWorkbench(t, nil), newWorkbench(t, nil)
	url := "ws://127.0.0.1:" + freePort(t)
	relay := ann.start("relay", "--listen", strings.TrimPrefix(url, "ws://"), "--open")
	relay.until(t, "ws://")
	if servers {
		for _, w := range []*workbench{ann, bob} {
			w.start("serve", "--listen", "none").until(t, "daemon.sock")
		}
	}
	for _, c := range []struct{ host, guest, hostSees, guestSees string }{
		{"n", "", "you have refused", "the other owner has refused"},
		{"", "n", "the other owner has refused to pair", "you have refused the pairing, so nothing is stored"},
		{"y", "n", "the other owner has refused to pair", "you have refused the pairing, so nothing is stored"},
		{"y", "y", "paired with bob", "paired with ann"},
	} {
		host := openTerminal(t, ann, 500, "invite", "--relay", url, "--name", "ann")
		invite := anyInvite.FindString(host.wait("waiting until"))
		guest := openTerminal(t, bob, 500, "join", "--name", "bob", invite)
		ours := anyDigits.FindStringSubmatch(host.wait("accept? [y/N]"))
		theirs := anyDigits.FindStringSubmatch(guest.wait("does the other owner see the same digits? [y/N]"))
		if ours == nil || theirs == nil || ours[1] != theirs[1] {
			t.Errorf("digits %v here, %v there", ours, theirs)
		}
		if c.host != "" {
			host.press(c.host + "\n")
		}
		if c.host == "y" {
			host.wait("waiting for the other owner to agree too")
		}
		for _, w := range []*workbench{ann, bob} {
			if ls, err := w.moot("peers", "ls", "-o", "json"); err != nil || strings.TrimSpace(ls) != "[]" {
				t.Errorf("stored before both have agreed: %v\n%s", err, ls)
			}
		}
		if c.guest != "" {
			guest.press(c.guest + "\n")
		}
		host.wait(c.hostSees)
		guest.wait(c.guestSees)
	}
	ls, err := ann.moot("peers", "ls")
	if err != nil || strings.Count(ls, "\n") != 2 || !strings.Contains(ls, "bob") || !strings.Contains(ls, url) {
		t.Errorf("%v\n%s", err, ls)
	}
	if out, err := ann.moot("peers", "rename", "bob", "robert"); err != nil || !strings.Contains(out, "robert") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := ann.moot("peers", "verify", "robert", "--yes"); err != nil || !strings.Contains(out, "verified") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := ann.moot("peers", "rm", "robert"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if ls, err := ann.moot("peers", "ls", "-o", "json"); err != nil || strings.TrimSpace(ls) != "[]" {
		t.Errorf("%v\n%s", err, ls)
	}
}
