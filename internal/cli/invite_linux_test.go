package cli

import (
	"net"
	"regexp"
	"strings"
	"testing"
)

var (
	anyInvite = regexp.MustCompile(`mootinv1\.[A-Za-z0-9_-]+`)
	anyDigits = regexp.MustCompile(`digits +([0-9]{6} [0-9]{6})`)
)

// TestInviteAccepted: a person sees who knocks, with the digits that the other
// owner sees too, and says yes or no.
func TestInviteAccepted(t *testing.T) {
	ann, bob := newWorkbench(t, nil), newWorkbench(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "ws://" + l.Addr().String()
	l.Close()
	relay := ann.start("relay", "--listen", strings.TrimPrefix(url, "ws://"), "--open")
	relay.until(t, "ws://")
	for _, c := range []struct {
		key  string
		want string
	}{{"n\n", "INVITE-REFUSED"}, {"y\n", "paired with ann"}} {
		x := openTerminal(t, ann, 500, "invite", "--relay", url, "--name", "ann")
		invite := anyInvite.FindString(x.wait("waiting until"))
		out := make(chan string, 1)
		go func() {
			text, _ := bob.moot("join", "--name", "bob", invite) // what it says is what counts
			out <- text
		}()
		asked := x.wait("accept? [y/N]")
		x.press(c.key)
		said := <-out
		if !strings.Contains(said, c.want) {
			t.Errorf("answered with %q, the other side sees %q, want %q", c.key, said, c.want)
		}
		ours, theirs := anyDigits.FindStringSubmatch(asked), anyDigits.FindStringSubmatch(said)
		if ours == nil || theirs == nil || ours[1] != theirs[1] {
			t.Errorf("digits %v here, %v there", ours, theirs)
		}
		if c.key == "y\n" {
			x.wait("paired with bob")
		} else {
			x.wait("INVITE-REFUSED")
		}
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
