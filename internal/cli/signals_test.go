package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/cli/app"
)

// waitForSignals is a program that does not end at an interrupt.
func waitForSignals() {
	a := &app.App{Stdout: os.Stdout, Stderr: os.Stderr}
	ctx, stop := a.Interruptible(context.Background())
	defer stop()
	_, _ = io.WriteString(os.Stdout, "ready\n")
	<-ctx.Done()
	_, _ = io.WriteString(os.Stdout, context.Cause(ctx).Error()+"\n")
	time.Sleep(time.Hour) // what a command that hangs does
}

// signalTwice starts a program that prints why it was interrupted and then
// hangs, and sends it sig when it is ready and when it was interrupted.
func signalTwice(t *testing.T, sig os.Signal, notes io.Writer) *exec.Cmd {
	cmd := exec.Command("wait-for-signals")
	cmd.Stderr = notes
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, want := range []string{"ready", "interrupted"} {
		if !lines.Scan() || lines.Text() != want {
			t.Errorf("printed %q, want %q", lines.Text(), want)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	return cmd
}

// TestSignals: the first interrupt cancels, the second ends at once.
func TestSignals(t *testing.T) {
	var notes strings.Builder
	cmd := signalTwice(t, os.Interrupt, &notes)
	if got := exitCodeOf(cmd.Wait()); got != "130" {
		t.Errorf("exit code %s", got)
	}
	if !strings.Contains(notes.String(), "press Ctrl-C again to quit now") {
		t.Errorf("said %q", notes.String())
	}
}

// TestHangups: SIGHUP is an interrupt. A second one changes nothing, because a
// shell sends its own when its terminal goes away.
func TestHangups(t *testing.T) {
	heedHangups(t)
	cmd := signalTwice(t, syscall.SIGHUP, io.Discard)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil { // the second hangup has not ended it
		t.Fatal(err)
	}
	if got := exitCodeOf(cmd.Wait()); got != "130" {
		t.Errorf("exit code %s", got)
	}
}

// TestOnHangup: a server reads its files again instead.
func TestOnHangup(t *testing.T) {
	heedHangups(t)
	a := &app.App{Stderr: io.Discard}
	called := make(chan struct{})
	a.OnHangup(func() { close(called) })
	ctx, stop := a.Interruptible(context.Background())
	defer stop()
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(syscall.SIGHUP)
	}
	if err != nil {
		t.Fatal(err)
	}
	<-called
	if ctx.Err() != nil {
		t.Error("it is interrupted")
	}
}

func heedHangups(t *testing.T) {
	t.Helper()
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("SIGHUP is ignored here, as under nohup")
	}
}

// TestInterruptibleStops: without a signal nothing is left behind.
func TestInterruptibleStops(t *testing.T) {
	a := &app.App{Stderr: io.Discard}
	ctx, stop := a.Interruptible(context.Background())
	stop()
	if ctx.Err() == nil || context.Cause(ctx) == app.ErrInterrupted {
		t.Error(ctx.Err(), context.Cause(ctx))
	}
}
