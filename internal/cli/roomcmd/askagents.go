package roomcmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/preset"
	"github.com/folkmoot/moot/internal/term"
)

// An offer is a preset, and whether this machine has it.
type offer struct {
	preset.Preset
	found   bool
	comment string // where it was found, or what to do
}

// askAgents asks the person which agents to seat. None means the template.
func (a *commands) askAgents(ctx context.Context) ([]string, error) {
	done := a.Working("looking for agents")
	offers := a.offers(ctx)
	done()
	a.printOffers(a.Stderr, offers)
	for {
		line, answered := a.Ask(ctx, "Seat which? Numbers or names; Enter alone writes the demo of three scripted agents: ")
		if !answered {
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			fmt.Fprintln(a.Stderr)
			return nil, app.ExitWith(app.ExitInterrupted, nil) // Ctrl-D: the person writes nothing
		}
		chosen, wrong := choose(line, offers)
		if wrong == "" {
			return chosen, nil
		}
		fmt.Fprintln(a.Stderr, term.Strip(wrong))
	}
}

// offers finds out which agents this machine has, the servers in parallel with
// the programs.
func (a *commands) offers(ctx context.Context) []offer {
	all := make([]offer, len(preset.All()))
	var wg sync.WaitGroup
	for i, p := range preset.All() {
		wg.Go(func() {
			seat, err := p.Find(ctx)
			all[i] = offer{Preset: p, found: err == nil, comment: seat.Where}
			if err != nil {
				all[i].comment = app.ReportOf(err).Fix
			}
		})
	}
	wg.Wait()
	return all
}

// printOffers lists the agents, with the numbers that choose them.
func (a *commands) printOffers(w io.Writer, offers []offer) {
	fmt.Fprintln(w, "Agents that can sit in the room:")
	for i, o := range offers {
		mark := a.Paint(w, app.StyleGood, "found  ")
		if !o.found {
			mark = a.Paint(w, app.StyleWarn, "missing")
		}
		fmt.Fprintf(w, "%3d  %-9s %s  %s\n", i+1, o.Name, mark, term.Line(o.comment))
	}
}

// choose reads an answer: numbers of the list and names. wrong says what is wrong
// with it.
func choose(line string, offers []offer) (names []string, wrong string) {
	for _, word := range strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		i := slices.IndexFunc(offers, func(o offer) bool { return o.Name == word })
		if n, err := strconv.Atoi(word); err == nil {
			i = n - 1
		}
		switch {
		case i < 0 || i >= len(offers):
			return nil, fmt.Sprintf("%q is no number or name of the list", word)
		case !offers[i].found:
			return nil, offers[i].Name + " is missing: " + offers[i].comment
		}
		names = append(names, offers[i].Name)
	}
	return names, ""
}
