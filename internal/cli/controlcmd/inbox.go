package controlcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
)

// newInboxCmd lists what waits for a person.
func newInboxCmd(a *commands) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:   "inbox",
		Short: "List the drafts, permission requests and questions that wait for you, in all rooms",
		Long: "inbox lists what waits for a person: drafts, and permission requests and questions of\n" +
			"your own agents, in the rooms that a process of this data folder runs, and the drafts\n" +
			"of rooms that no process runs. `moot approve`, `moot reply`, `moot edit` and `moot\n" +
			"reject` answer an item by its id. It is answered once: the second answer is told who\n" +
			"was first.\n\n" +
			"With --watch it goes on and shows what begins to wait and what ends. With -o jsonl\n" +
			"these are lines {\"item\": ...} and {\"ended\": ...}.",
		Example: "  moot inbox\n  moot inbox --watch\n  moot inbox -o jsonl",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				return a.watchInbox(cmd.Context())
			}
			items, err := a.items(cmd.Context())
			if err != nil {
				return err
			}
			if items == nil {
				items = []inbox.Item{}
			}
			if len(items) == 0 {
				a.Note("nothing waits")
			}
			return app.EmitEach(a.App, items, a.itemText)
		},
	}
	app.AllowServer(cmd)
	cmd.Flags().BoolVar(&watch, "watch", false, "go on, and show what changes")
	return cmd
}

// items returns what waits in all processes and, if none listens, in the log.
func (a *commands) items(ctx context.Context) ([]inbox.Item, error) {
	processes, err := a.Processes()
	if err != nil {
		return nil, err
	}
	stored, err := a.StoredItems(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]inbox.Item{}
	for _, x := range stored {
		found[x.ID] = x
	}
	for _, c := range processes {
		items, err := c.Inbox(ctx)
		c.Close()
		if errors.Is(err, local.ErrNone) {
			continue // it has just ended
		}
		if err != nil {
			return nil, err
		}
		for _, x := range items {
			found[x.ID] = x
		}
	}
	return slices.SortedFunc(maps.Values(found), func(x, y inbox.Item) int {
		return cmp.Or(x.Since.Compare(y.Since), cmp.Compare(x.ID, y.ID))
	}), nil
}

// itemText is an item as people read it. All that an agent says stands behind a bar.
func (a *commands) itemText(x inbox.Item) string {
	id := a.Paint(a.Stdout, app.StyleWarn, term.Line(x.ID))
	if x.Kind == inbox.Permission || x.Kind == inbox.Question {
		left := max(0, time.Until(x.Until)).Round(time.Second)
		asked := room.PermissionAsked{Turn: x.Turn, Participant: x.Agent, ID: item(x.ID), Permission: room.Permission{Question: x.Question}}
		what := "waits for "
		if x.Permission != nil {
			asked.Permission, what = *x.Permission, "refused in "
		}
		return id + "  " + what + human.Duration(left) + "\n" + chainText(x) + a.Printer().Event(room.Event{Body: asked})
	}
	facts := "the draft of " + term.Line(x.Agent) + " waits for approval (" + term.Line(x.Why) + ")"
	if x.To != "" && x.To != room.Broadcast {
		facts += ", for " + term.Line(x.To)
	}
	if x.Edited {
		facts += ", edited"
	}
	if x.Phase != string(room.PhaseLive) {
		facts += "; the room is " + term.Line(x.Phase)
	}
	var b strings.Builder
	b.WriteString(id + "  " + facts + "\n" + chainText(x))
	for line := range strings.Lines(x.Text) {
		b.WriteString("  │ " + term.Line(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String() + "\n"
}

// chainText says who called whom until the agent was called that waits, "" for one that
// no other has called.
func chainText(x inbox.Item) string {
	if len(x.Chain) == 0 {
		return ""
	}
	var steps []string
	for i, link := range x.Chain {
		called := x.Agent
		if i+1 < len(x.Chain) {
			called = x.Chain[i+1].Agent
		}
		steps = append(steps, term.Line(link.Agent)+" called "+term.Line(called))
	}
	return "  " + strings.Join(steps, ", ") + " (the first in room " + term.Line(x.Chain[0].Room) + ")\n"
}

// item returns the id of an item in its room.
func item(id string) string {
	_, item, _ := strings.Cut(id, "/")
	return item
}

// watchInbox shows what waits, and what changes, until ctx ends.
func (a *commands) watchInbox(ctx context.Context) error {
	return a.Inbox().Follow(ctx, a.showChange)
}

func (a *commands) showChange(c inbox.Change) error {
	if a.Format != app.FormatTable {
		return a.Emit([]inbox.Change{c}, nil)
	}
	text := ""
	switch {
	case c.Item != nil:
		text = a.itemText(*c.Item)
	case c.Ended != nil && c.Ended.Answer != nil:
		r := c.Ended.Answer
		text = term.Line(c.Ended.ID) + "  " + term.Line(r.What)
		if r.By != room.ActorRoom {
			text += " by " + term.Line(r.By)
		}
		if r.Via != "" {
			text += " (" + term.Line(r.Via) + ")"
		}
		text += "\n\n"
	case c.Ended != nil:
		text = term.Line(c.Ended.ID) + "  does not wait any more\n\n"
	}
	_, err := io.WriteString(a.Stdout, text)
	return err
}

// findItem returns the id that an argument means: an id as it is, else the only item
// whose id in its room begins with it.
func (a *commands) findItem(ctx context.Context, arg string) (string, error) {
	if strings.Contains(arg, "/") {
		_, _, err := inbox.Split(arg)
		return arg, err
	}
	items, err := a.items(ctx)
	if err != nil {
		return "", err
	}
	var found []string
	for _, x := range items {
		if strings.HasPrefix(item(x.ID), arg) {
			found = append(found, x.ID)
		}
	}
	if len(found) != 1 {
		return "", noItem(arg, found)
	}
	return found[0], nil
}

func noItem(arg string, found []string) error {
	e := inbox.UnknownError(arg)
	if len(found) > 1 {
		e.What = fmt.Sprintf("%d items have such an id: %s", len(found), strings.Join(found, ", "))
	}
	return e
}

// completeItem completes the id of an item of one of these kinds.
func (a *commands) completeItem(kinds ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var all []cobra.Completion
		settings, _, err := config.LoadSettings(cmd.Flags())
		if err == nil && len(args) == 0 {
			a.Settings = settings
			items, _ := a.items(cmd.Context()) // nothing to complete is no error
			for _, x := range items {
				if slices.Contains(kinds, x.Kind) {
					all = append(all, cobra.CompletionWithDesc(x.ID, x.Kind+" of "+x.Agent))
				}
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}
