package config

import (
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
)

// driven returns the seats that the room calls: those that are no persons.
func driven(w wireRoom) (seats []int) {
	for i, s := range w.Participants {
		if s == nil || s.Kind != policy.Human {
			seats = append(seats, i)
		}
	}
	return seats
}

// checkRoster checks who is there at all.
func (d *document) checkRoster(w wireRoom) {
	n := len(driven(w))
	switch {
	case len(w.Participants) == 0:
	case n == 0:
		d.reportAt([]string{"participants"}, "ROOM-NOBODY", "no agent: nobody could be given the floor", "")
	case w.OneToOne && n != 2:
		d.reportAt([]string{"one_to_one"}, "ROOM-ONE-TO-ONE", fmt.Sprintf("a one-to-one room has two agents; this one has %d", n), "people may attend beside the two")
	}
}

// checkCooldowns finds cooldowns under which the room would come to a turn
// that nobody may have. A seat with cooldown c has at most one turn in c+1, so
// over all seats 1/(c+1) must add up to 1.
func (d *document) checkCooldowns(w wireRoom) {
	sum, longest := new(big.Rat), -1
	seats := driven(w)
	for _, i := range seats {
		s := w.Participants[i]
		if s == nil || d.isBroken(at(i, "cooldown")...) {
			return // unknown, so nothing can be said
		}
		sum.Add(sum, big.NewRat(1, int64(s.Cooldown)+1))
		if longest < 0 || s.Cooldown > w.Participants[longest].Cooldown {
			longest = i
		}
	}
	if longest < 0 || sum.Cmp(big.NewRat(1, 1)) >= 0 || w.Limits.MaxTurns == 1 {
		return
	}
	d.reportAt(at(longest, "cooldown"), "ROOM-COOLDOWN",
		fmt.Sprintf("with %d %s and these cooldowns a turn comes that nobody may have", len(seats), plural(len(seats), "agent")),
		fmt.Sprintf("a cooldown counts turns of others: %d here is met for all", len(seats)-1))
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// checkEndpoint looks for what an endpoint needs on this machine.
func (d *document) checkEndpoint(i int, w *wireEndpoint, o Options) {
	if w == nil || d.isBroken(at(i, "endpoint")...) {
		return
	}
	e := w.resolve(d.sourceOf(i).dir)
	d.checkSecrets(i, w)
	switch e.Kind {
	case KindNDJSON:
		d.checkCwd(i, w, e)
		d.checkCommand(i, e)
	case KindScripted:
		if e.Script != "" {
			d.checkScript(i, e, o)
		}
	case KindGo:
		d.checkGo(i, e, o)
	}
}

// checkGo asks the program whether it has an agent in Go.
func (d *document) checkGo(i int, e Endpoint, o Options) {
	err := &problem.Error{What: "this program has no agents in Go"}
	if o.GoEndpoint != nil && !errors.As(o.GoEndpoint(e.Name), &err) {
		return
	}
	d.reportAt(at(i, "endpoint", "name"), "ROOM-ENDPOINT", err.What, err.Fix)
}

// checkScript reads the script of a scripted agent.
func (d *document) checkScript(i int, e Endpoint, o Options) {
	path := at(i, "endpoint", "script")
	text, err := readBounded(e.Script, true)
	switch {
	case err != nil:
		d.reportAt(path, "ROOM-SCRIPT", "no script at "+d.rel(e.Script)+": "+reason(err), d.nearFile(e.Script))
	case len(text) > MaxFileBytes:
		d.reportAt(path, "ROOM-SCRIPT", fmt.Sprintf("%s is over %d bytes", d.rel(e.Script), MaxFileBytes), "")
	case o.CheckScript != nil:
		err := o.CheckScript(d.rel(e.Script), text)
		if p, ok := errors.AsType[*problem.Error](err); ok {
			d.reportAt(path, "ROOM-SCRIPT", p.Where+": "+p.What, p.Fix)
		} else if err != nil {
			d.reportAt(path, "ROOM-SCRIPT", err.Error(), "")
		}
	}
}

func (d *document) checkCwd(i int, w *wireEndpoint, e Endpoint) {
	if w.Cwd == "" {
		return
	}
	path := at(i, "endpoint", "cwd")
	if st, err := os.Stat(e.Dir); err != nil {
		d.reportAt(path, "ROOM-CWD", "no folder "+d.rel(e.Dir)+": "+reason(err), "mkdir -p "+d.rel(e.Dir))
	} else if !st.IsDir() {
		d.reportAt(path, "ROOM-CWD", d.rel(e.Dir)+" is not a folder", "")
	}
}

// checkCommand wants a program that can be started.
func (d *document) checkCommand(i int, e Endpoint) {
	prog, path := e.Command[0], at(i, "endpoint", "command", "0")
	if !filepath.IsAbs(prog) {
		if _, err := exec.LookPath(prog); err != nil {
			d.reportAt(path, "ROOM-COMMAND", fmt.Sprintf("no program %q in PATH", prog), "a path starts with ./")
		}
	} else if st, err := os.Stat(prog); errors.Is(err, fs.ErrNotExist) {
		d.reportAt(path, "ROOM-COMMAND", "no program at "+d.rel(prog), d.nearFile(prog))
	} else if err != nil {
		d.reportAt(path, "ROOM-COMMAND", d.rel(prog)+": "+reason(err), "")
	} else if st.IsDir() {
		d.reportAt(path, "ROOM-COMMAND", d.rel(prog)+" is a folder", "")
	} else if st.Mode()&0o111 == 0 && runtime.GOOS != "windows" {
		d.reportAt(path, "ROOM-COMMAND", d.rel(prog)+" is not executable", "chmod +x "+d.rel(prog))
	}
	for k, arg := range e.Command[1:] {
		if !strings.HasPrefix(arg, "./") && !strings.HasPrefix(arg, "../") {
			continue
		}
		if _, err := os.Stat(filepath.Join(e.Dir, arg)); errors.Is(err, fs.ErrNotExist) {
			d.warnAt(at(i, "endpoint", "command", strconv.Itoa(k+1)), "ROOM-COMMAND", "no file "+arg+" in the folder that the agent runs in", d.nearFile(filepath.Join(e.Dir, arg)))
		}
	}
}

// checkSecrets refuses secrets that are written down: endpoints are logged as
// they are written.
func (d *document) checkSecrets(i int, w *wireEndpoint) {
	for name, val := range w.Env {
		path := at(i, "endpoint", "env", name)
		n, _ := d.find(path)
		if n = follow(n); !secretName(name) || val == "" || n == nil || len(variables(n.Value)) > 0 {
			continue
		}
		d.report(n, path, "ROOM-SECRET", "a secret is written in the file, and would be in the room's log", "export it and write "+name+": \"${"+name+"}\"")
		d.secrets = append(d.secrets, val)
	}
}
