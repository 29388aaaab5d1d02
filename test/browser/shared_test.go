package browser

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// An owner is a data folder with a settings file.
type owner struct {
	t              *testing.T
	data, settings string
}

func newOwner(t *testing.T) owner {
	t.Helper()
	dir := t.TempDir()
	o := owner{t, filepath.Join(dir, "data"), filepath.Join(dir, "config.yaml")}
	o.write("")
	return o
}

// write writes the settings.
func (o owner) write(settings string) {
	o.t.Helper()
	if err := os.WriteFile(o.settings, []byte(settings), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// command is a moot of the owner. It ends with ctx.
func (o owner) command(ctx context.Context, args ...string) *exec.Cmd {
	o.t.Helper()
	path, cache := mootProgram(o.t)
	cmd := exec.CommandContext(ctx, path, append(args, "--data", o.data)...)
	cmd.Env = append(os.Environ(), "MOOT_CACHE="+cache, "MOOT_CONFIG="+o.settings)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd
}

// start starts a moot that runs until the test ends, and returns its first line.
func (o owner) start(args ...string) (line string, ended func() error) {
	o.t.Helper()
	ctx, end := context.WithCancel(context.Background())
	cmd := o.command(ctx, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		end()
		o.t.Fatal(err)
	}
	done := make(chan error, 1)
	read := bufio.NewReader(out)
	line, err = read.ReadString('\n')
	go func() {
		_, _ = read.WriteTo(new(bytes.Buffer)) // until the process ends
		done <- cmd.Wait()
	}()
	o.t.Cleanup(func() { end(); <-done; done <- nil })
	if err != nil {
		end()
		werr := <-done
		done <- werr
		o.t.Fatalf("moot %s: %v\n%s", strings.Join(args, " "), werr, said.String())
	}
	return strings.TrimSpace(line), func() error {
		err := <-done
		done <- err
		if err != nil {
			err = fmt.Errorf("moot %s: %w\n%s", strings.Join(args, " "), err, said.String())
		}
		return err
	}
}

// says starts a moot that runs until the test ends, and returns what a line of its notes
// has for the pattern.
func (o owner) says(pattern *regexp.Regexp, args ...string) string {
	o.t.Helper()
	ctx, end := context.WithCancel(context.Background())
	cmd := o.command(ctx, args...)
	cmd.Env = append(cmd.Env, "BROWSER=true")
	in, err := cmd.StdinPipe() // open, as a terminal is
	var notes io.ReadCloser
	if err == nil {
		notes, err = cmd.StderrPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		end()
		o.t.Fatal(err)
	}
	lines, done := bufio.NewScanner(notes), make(chan struct{})
	o.t.Cleanup(func() {
		_ = in.Close()
		end()
		<-done
	})
	found, said := "", ""
	for found == "" && lines.Scan() {
		said += lines.Text() + "\n"
		if m := pattern.FindStringSubmatch(lines.Text()); m != nil {
			found = m[1]
		}
	}
	go func() {
		defer close(done)
		for lines.Scan() { // until the process ends
		}
		_ = cmd.Wait()
	}()
	if found == "" {
		o.t.Fatalf("moot %s says:\n%s", strings.Join(args, " "), said)
	}
	return found
}

// id returns the id of the owner's device.
func (o owner) id() string {
	o.t.Helper()
	out, err := o.command(o.t.Context(), "peers", "self").Output()
	if err != nil {
		o.t.Fatal(err)
	}
	id, _, _ := strings.Cut(string(out), "\n")
	return id
}

// pair starts a relay and pairs two owners. It returns the address of the relay.
func pair(t *testing.T, ann, bob owner) string {
	t.Helper()
	url, _ := newOwner(t).start("relay", "--listen", "127.0.0.1:0", "--allow", ann.id(), "--allow", bob.id())
	invite, invited := ann.start("invite", "--auto", "--relay", url, "--name", "ann")
	join := bob.command(t.Context(), "join", "--yes", "--name", "bob")
	join.Stdin = strings.NewReader(invite)
	if out, err := join.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := invited(); err != nil {
		t.Fatal(err)
	}
	return url
}

// TestUseMyAgent runs the flow of the one-to-one note on the page: two owners, each with
// a process of their own, and a relay between them. Ann's agent works with Bob's, and she
// approves what her agent sends.
func TestUseMyAgent(t *testing.T) {
	ann, bob := newOwner(t), newOwner(t)
	pair(t, ann, bob)
	const profile = "profiles:\n  - name: %s\n    endpoint: {kind: scripted, lines: [%s]}\n    allowSharedAgentCalls: true\n    allowedSharedDeviceIds: [%s]\n"
	ann.write(fmt.Sprintf(profile, "orchestrator", "Which endpoint has no check, Thank you.", bob.id()))
	bob.write(fmt.Sprintf(profile, "reviewer", "The one for exports., Done.", ann.id()))
	bob.start("share")
	t.Setenv("MOOT_CONFIG", ann.settings)
	s := serveAt(t, ann.data, "127.0.0.1:0")

	b := start(t)
	s.signIn(b, "admin")
	b.run(t, chromedp.Navigate(s.URL+"/"), chromedp.Click(`[data-peer="bob"] button`, chromedp.ByQuery), chromedp.WaitVisible("dialog [name=shared]", chromedp.ByQuery),
		chromedp.Poll(`document.querySelector("dialog [name=shared]").value === "reviewer"`, nil, chromedp.WithPollingTimeout(2*time.Minute)), // which Bob's device says
		chromedp.SendKeys("dialog [name=objective]", "Review this API for security issues", chromedp.ByQuery),
		chromedp.Click("dialog [name=own]", chromedp.ByQuery), chromedp.WaitVisible("dialog [name=mine]", chromedp.ByQuery))
	b.axe(t, "the form of an agent that is shared")
	b.shots(t, "useagent")
	b.run(t, chromedp.Click("dialog .primary[type=submit]", chromedp.ByQuery), chromedp.WaitReady("[data-seat=reviewer]", chromedp.ByQuery))
	b.until(t, `document.querySelector("#state").textContent.startsWith("ready to send")`)
	b.shots(t, "onetoone")
	for what, expression := range map[string]string{
		"the local agent":  `document.querySelector("[data-seat=orchestrator] .tag").textContent === "Local Agent"`,
		"the remote agent": `document.querySelector("[data-seat=reviewer] .tag").textContent === "Remote Agent · bob"`,
		"the person":       `document.querySelector("[data-seat=You] .tag").textContent === "You"`,
		"who is next":      `document.querySelector("[data-seat=reviewer]").matches(".is-next")`,
		"the mode":         `document.querySelector("[data-seat=orchestrator] .seat-used").textContent.startsWith("asks\u00a0first")`,
	} {
		t.Run(what, func(t *testing.T) { b.until(t, expression) })
	}
	b.run(t, chromedp.Evaluate(`[...document.querySelectorAll("moot-dock button")].find((x) => x.textContent === "Approve").click()`, nil))
	b.until(t, `document.querySelector("moot-timeline").textContent.includes("The one for exports.")`)
	b.until(t, `document.querySelector("#state").textContent.startsWith("ready to send")`)

	// The name of the agent is offered the next time.
	b.run(t, chromedp.Navigate(s.URL+"/"), chromedp.WaitVisible(`[data-peer="bob"]`, chromedp.ByQuery))
	b.until(t, `document.querySelector('[data-peer="bob"]').textContent.includes("reviewer")`)
}
