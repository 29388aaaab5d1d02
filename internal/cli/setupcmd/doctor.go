package setupcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// Outcomes of a check.
const (
	checkOK   = "ok"
	checkWarn = "warn" // moot works, with less
	checkFail = "fail"
)

// A check is one thing that doctor looked at.
type check struct {
	Name   string       `json:"name"`
	Result string       `json:"result"`
	Detail string       `json:"detail"`
	Fix    string       `json:"fix,omitempty"`
	Agent  *agentReport `json:"agent,omitempty"`
}

// newDoctorCmd looks at what moot needs on this machine.
func newDoctorCmd(a *commands) *cobra.Command {
	var noAgents bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what moot needs on this machine, each with its fix",
		Long: "doctor checks what moot needs on this machine. It also starts the agents that\n" +
			"`moot init --agent` can seat, all at the same time, and opens a session with each.\n" +
			"No model is asked. That takes from 3 seconds to a minute; --no-agents leaves it out.",
		Example: "  moot doctor\n  moot doctor --no-agents -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e := examination{commands: a}
			e.report(a.examine(cmd.Context())...)
			if !noAgents {
				e.checkAgents(cmd.Context(), timeout)
			}
			return e.end(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&noAgents, "no-agents", false, "start no agents")
	cmd.Flags().DurationVar(&timeout, "timeout", 2*time.Minute, "how long an agent may take to start")
	return cmd
}

// An examination is one run of doctor. Its checks are written one by one, unless
// the format is one document.
type examination struct {
	*commands
	all    []check
	failed int
	err    error // to write
}

// report writes the result of checks.
func (e *examination) report(checks ...check) {
	e.all = append(e.all, checks...)
	for _, c := range checks {
		if c.Result == checkFail {
			e.failed++
		}
	}
	if e.Format != app.FormatJSON {
		e.err = errors.Join(e.err, e.Emit(checks, func(w io.Writer) error { return e.printChecks(w, checks) }))
	}
}

// end writes what has not been written, and returns an error if a check failed.
func (e *examination) end(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if e.Format == app.FormatJSON {
		e.err = e.Emit(e.all, nil)
	}
	if e.err == nil && e.failed > 0 {
		return &problem.Error{Code: "DOCTOR-FAILED", What: app.Count(e.failed, "check") + " failed", Fix: "each says what to do"}
	}
	return e.err
}

// examine checks everything but the agents. It changes nothing.
func (a *commands) examine(ctx context.Context) []check {
	return []check{
		checkFolder("data folder", a.Settings.Data, "choose another with --data or MOOT_DATA"),
		checkPrivate(a.Settings.Data),
		checkDisk(a.Settings.Data),
		a.checkRooms(ctx),
		a.checkServer(),
		checkFolder("policy cache", a.Settings.Cache, "choose another with MOOT_CACHE"),
		checkCompiled(filepath.Join(a.Settings.Cache, "policies")),
		checkPolicies(),
		checkSandbox(),
		checkProgram("go", "writing policies in Go", "https://go.dev/dl", "version"),
		checkProgram("python3", "the Python examples", "install Python 3", "--version"),
		a.checkTerminal(),
	}
}

// checkFolder checks that a folder, or the nearest one above it that exists,
// can be written to.
func checkFolder(name, dir, fix string) check {
	at := nearest(dir)
	f, err := os.CreateTemp(at, ".moot-doctor-*")
	if err != nil {
		return check{Name: name, Result: checkFail, Detail: fmt.Sprintf("%s cannot be written to: %v", at, err), Fix: fix}
	}
	_ = f.Close() // nothing was written
	if err := os.Remove(f.Name()); err != nil {
		return check{Name: name, Result: checkWarn, Detail: fmt.Sprintf("%s: nothing can be removed: %v", at, err), Fix: fix}
	}
	if at != dir {
		return check{Name: name, Result: checkOK, Detail: dir + " (made when it is needed)"}
	}
	return check{Name: name, Result: checkOK, Detail: dir}
}

// nearest returns dir or the first above it that exists, a file too: it is
// then what is in the way.
func nearest(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}

// checkPrivate warns when others on this machine can read the rooms.
func checkPrivate(dir string) check {
	const name = "privacy"
	st, err := os.Stat(dir)
	switch {
	case err != nil:
		return check{Name: name, Result: checkOK, Detail: "no rooms yet"}
	case runtime.GOOS != "windows" && st.Mode().Perm()&(fs.ModePerm&0o077) != 0:
		return check{Name: name, Result: checkWarn, Detail: fmt.Sprintf("%s can be read by others (%s)", dir, st.Mode().Perm()), Fix: "chmod 700 " + dir}
	}
	return check{Name: name, Result: checkOK, Detail: "only you can read your rooms"}
}

// checkRooms reads the whole log: the structure of the database, the chain of
// every room, and whether each log reaches its head.
func (a *commands) checkRooms(ctx context.Context) check {
	const name = "rooms"
	db, err := a.Wiring().OpenLog(true)
	if errors.Is(err, log.ErrNotFound) {
		return check{Name: name, Result: checkOK, Detail: "none yet"}
	}
	if err != nil {
		return check{Name: name, Result: checkFail, Detail: app.ReportOf(err).What, Fix: app.ReportOf(err).Fix}
	}
	defer db.Close()
	infos, _ := db.Rooms(ctx) // Check reports the same
	if err := db.Check(ctx); err != nil {
		report := app.ReportOf(err)
		return check{Name: name, Result: checkFail, Detail: report.What + "; `moot ls` names damaged rooms", Fix: report.Fix}
	}
	return check{Name: name, Result: checkOK, Detail: app.Count(len(infos), "room") + " intact"}
}

// checkServer says which processes of the data folder listen.
func (a *commands) checkServer() check {
	const name = "server"
	sockets, err := local.Find(a.Settings.Data)
	if err != nil {
		return check{Name: name, Result: checkFail, Detail: app.ReportOf(err).What, Fix: app.ReportOf(err).Fix}
	}
	detail := "none; `moot run` runs one room, `moot serve` all"
	if len(sockets) > 0 && sockets[0].Daemon() {
		detail, sockets = "`moot serve` runs the rooms", sockets[1:]
	}
	if len(sockets) > 0 {
		detail += fmt.Sprintf("; other processes with rooms: %d", len(sockets))
	}
	return check{Name: name, Result: checkOK, Detail: detail}
}

// wantFree is how much room there should be for logs.
const wantFree = 100 << 20

func checkDisk(dir string) check {
	const name = "free disk"
	free, err := freeBytes(nearest(dir))
	switch {
	case err != nil:
		return check{Name: name, Result: checkWarn, Detail: "unknown: " + err.Error()}
	case free < wantFree:
		return check{Name: name, Result: checkFail, Detail: fmt.Sprintf("%d MiB", free>>20), Fix: "free some space, or choose another folder with --data"}
	}
	return check{Name: name, Result: checkOK, Detail: fmt.Sprintf("%d MiB", free>>20)}
}

// checkCompiled warns when others on this machine could change compiled
// policies, which moot runs.
func checkCompiled(dir string) check {
	const name = "compiled policies"
	modules, bytes, err := plugins.CheckCache(dir)
	if err != nil {
		return check{Name: name, Result: checkWarn, Detail: err.Error() + "; it is not used, and policies load more slowly", Fix: "make it yours and chmod go-w it, or choose another folder with MOOT_CACHE"}
	}
	return check{Name: name, Result: checkOK, Detail: fmt.Sprintf("%s, %d MiB; only you can change them", app.Count(modules, "module"), bytes>>20)}
}

func checkPolicies() check {
	const name = "built-in policies"
	if err := policies.Verify(); err != nil {
		return check{Name: name, Result: checkFail, Detail: err.Error(), Fix: app.ReportOf(err).Fix}
	}
	return check{Name: name, Result: checkOK, Detail: strings.Join(policies.Names(), ", ")}
}

// checkSandbox says which of wazero's engines this platform has.
func checkSandbox() check {
	const name = "policy sandbox"
	if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
		return check{Name: name, Result: checkOK, Detail: "compiler and interpreter on " + runtime.GOARCH}
	}
	return check{Name: name, Result: checkWarn, Detail: "interpreter only on " + runtime.GOARCH + ": decisions take longer"}
}

// checkProgram looks for something that only some uses need.
func checkProgram(program, use, fix string, args ...string) check {
	path, err := exec.LookPath(program)
	if err != nil {
		return check{Name: program, Result: checkWarn, Detail: "not found; needed for " + use, Fix: fix}
	}
	out, err := exec.Command(path, args...).Output()
	if err != nil {
		return check{Name: program, Result: checkWarn, Detail: path + " does not run: " + err.Error(), Fix: fix}
	}
	return check{Name: program, Result: checkOK, Detail: strings.TrimSpace(string(out))}
}

func (a *commands) checkTerminal() check {
	const name = "terminal"
	if !app.IsTerminal(a.Stdin) || !app.IsTerminal(a.Stdout) {
		return check{Name: name, Result: checkOK, Detail: "none: nobody can be asked here; rooms run with --headless"}
	}
	return check{Name: name, Result: checkOK, Detail: fmt.Sprintf("colours %v", a.Colours(a.Stdout))}
}

func (a *commands) printChecks(w io.Writer, checks []check) error {
	styles := map[string]app.Style{checkOK: app.StyleGood, checkWarn: app.StyleWarn, checkFail: app.StyleError}
	for _, c := range checks {
		mark := a.Paint(a.Stdout, styles[c.Result], fmt.Sprintf("%-4s", c.Result))
		fmt.Fprintf(w, "%s  %-18s %s\n", mark, c.Name, term.Line(c.Detail))
		if c.Fix != "" {
			fmt.Fprintf(w, "      fix: %s\n", term.Line(c.Fix))
		}
	}
	return nil
}
