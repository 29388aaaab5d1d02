package relaycmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/timeline"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

type watchFlags struct {
	shareFlags
	room  string
	after int64
	last  int
	say   []string
	wait  time.Duration
}

// newWatchCmd watches a room on another owner's device.
func newWatchCmd(a *commands) *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch PEER",
		Short: "Watch a room on another owner's device, and post messages in it",
		Long: "watch shows a room that another owner's device runs, the last of it first and\n" +
			"then what comes, until the room ends or you press Ctrl-C. Each line that you type\n" +
			"is a message in the room, under the name that its host has for you; --say takes it\n" +
			"from the command line. Its agents are told that it is not from their owner.\n\n" +
			"You see what the room shows to everybody, if its host has invited you with\n" +
			"`moot invite --grant observer` and lists you under observers: of the room, or has\n" +
			"named the room in the invite. When the relay, the host or watch itself was away\n" +
			"it goes on where it was: nothing is shown twice and nothing is left out. After a\n" +
			"new start --after says from where. With -o jsonl it writes events as `moot schema\n" +
			"event` describes them.",
		Example: "  moot watch ann\n  moot watch ann --room r_01k5... --say \"@dba, what about the index?\"\n  moot watch ann -o jsonl --after 120",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed("after")
			switch {
			case given && (f.after < 0 || cmd.Flags().Changed("last")):
				return app.FlagProblem("--after", fmt.Sprint(f.after), "it is the number of the last event that you have, and goes without --last")
			case f.last < 0 || f.last > maxWatchLast:
				return app.FlagProblem("--last", fmt.Sprint(f.last), fmt.Sprintf("it is a number from 0 to %d", maxWatchLast))
			case f.wait < 0:
				return app.FlagProblem("--wait", f.wait.String(), "it is a duration, 0 for as long as it takes")
			}
			var after *int64
			if given {
				after, f.last = &f.after, 0
			}
			return a.watch(cmd.Context(), args[0], f, after)
		},
	}
	app.Formats(cmd, app.FormatTable, app.FormatJSONL)
	f.add(cmd)
	cmd.Flags().StringVar(&f.room, "room", "", "id of the room; default: the only one that you may watch there")
	cmd.Flags().Int64Var(&f.after, "after", 0, "go on after the event with this number")
	cmd.Flags().IntVar(&f.last, "last", 50, "how many events of the past to show first")
	cmd.Flags().StringArrayVar(&f.say, "say", nil, "say this, instead of what is typed; may be given again")
	cmd.Flags().DurationVar(&f.wait, "wait", 5*time.Minute, "how long to wait for a device that does not answer; 0 for ever")
	cmd.ValidArgsFunction = a.completePeers
	return cmd
}

// maxWatchLast is how much of the past a host may be asked for.
const maxWatchLast = 10_000

// watch watches until the room has ended.
func (a *commands) watch(ctx context.Context, peer string, f watchFlags, after *int64) error {
	peers, err := a.Wiring().Peers()
	if err != nil {
		return err
	}
	p, err := peers.Find(peer)
	if err != nil {
		return err
	}
	c, done, err := a.Online()
	if err != nil {
		return err
	}
	defer done()
	v := &viewer{app: a, printer: a.Printer(), peer: p.Name, entered: make(chan string, 1)}
	talk, hush := context.WithCancel(ctx)
	defer hush()
	said := a.talk(talk, hush, v.say(c, p.ID.String()), f.say)
	err = c.WatchPeer(ctx, p.ID.String(), f.query(after), v.update)
	close(v.entered)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil // as asked
	}
	if err != nil {
		return err
	}
	return said()
}

// query says which room is watched, and from where.
func (f watchFlags) query(after *int64) url.Values {
	q := url.Values{}
	for key, value := range map[string]string{"room": f.room, "relay": f.url, "name": f.name} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if f.wait > 0 {
		q.Set("wait", f.wait.String())
	}
	if after != nil {
		q.Set("after", strconv.FormatInt(*after, 10))
	} else {
		q.Set("last", strconv.Itoa(f.last))
	}
	return q
}

// talk says what is given, or typed, in the room. The function that it returns
// ends that, and gives the first reason why something that was given was not
// posted.
func (a *commands) talk(ctx context.Context, hush func(), say func(context.Context, string) error, given []string) (said func() error) {
	lines := make(chan string)
	typed := len(given) == 0
	switch {
	case !typed:
		go feed(ctx, lines, slices.Values(given))
	case a.Flags.NoInput:
		close(lines)
	default:
		go feed(ctx, lines, a.typed)
	}
	var first error
	var work sync.WaitGroup
	work.Go(func() {
		for {
			select {
			case text, ok := <-lines:
				if !ok {
					return
				}
				if err := say(ctx, text); err != nil && ctx.Err() == nil {
					if !typed && first == nil {
						first = err
						continue
					}
					a.printProblem(err)
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return func() error {
		if typed {
			hush()
		}
		work.Wait()
		return first
	}
}

// feed sends texts to lines until ctx ends.
func feed(ctx context.Context, lines chan<- string, texts iter.Seq[string]) {
	defer close(lines)
	for text := range texts {
		select {
		case lines <- text:
		case <-ctx.Done():
			return
		}
	}
}

// typed yields the lines that are typed. Reading cannot be interrupted, so this may stay until
// stdin or the process ends.
func (a *commands) typed(yield func(string) bool) {
	in := bufio.NewScanner(a.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if strings.TrimSpace(in.Text()) != "" && !yield(in.Text()) {
			return
		}
	}
}

// printProblem tells a person why something was not done, and goes on.
func (a *commands) printProblem(err error) {
	var p *problem.Error
	if errors.As(err, &p) {
		a.Note("! %s   [%s]", p.What, p.Code)
		return
	}
	a.Note("! %v", err)
}

// A viewer shows what a host answers.
type viewer struct {
	app     *commands
	printer *timeline.Printer
	peer    string      // name of the device
	entered chan string // gets the id of the watch; closed when the watch has ended
	offline bool
}

// say returns what posts a message in the room, once the watch has begun.
func (v *viewer) say(c *client.Client, peer string) func(context.Context, string) error {
	id := ""
	return func(ctx context.Context, text string) error {
		if id == "" {
			select {
			case id = <-v.entered:
				if id == "" { // it has ended
					return &problem.Error{Code: "WATCH-OVER", What: "the message was not posted: the room does not run any more", Fix: "ask its owner for another room"}
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return c.SayThere(ctx, peer, api.PeerSay{Watch: id, Text: text})
	}
}

// update shows one line of the watch.
func (v *viewer) update(u api.PeerUpdate) error {
	switch {
	case u.Watch != "":
		v.entered <- u.Watch // it holds one
	case u.Room != "":
		v.app.Note("watching room %s", u.Room)
	case u.Event != nil:
		e, err := room.UnmarshalEvent(u.Event)
		if err != nil {
			return fmt.Errorf("reading an event: %w", err)
		}
		return v.event(e)
	case u.State == "away":
		v.app.Note("the room's host has ended, the room is %s; waiting", u.Phase)
	case u.State == "over" && v.app.Format == app.FormatJSONL:
		v.app.Note("%s: %s", u.Phase, u.Reason)
	case u.Silent:
		v.app.Note("%s does not answer; waiting", v.peer)
	case u.Offline != nil:
		if *u.Offline && !v.offline {
			v.app.Note("%s is not connected to the relay; waiting for it", v.peer)
		}
		v.offline = *u.Offline
	}
	return nil
}

func (v *viewer) event(e room.Event) error {
	text := v.printer.Event(e)
	if v.app.Format == app.FormatJSONL {
		b, err := room.MarshalEvent(app.Secretless(e))
		if err != nil {
			return fmt.Errorf("writing an event: %w", err)
		}
		text = string(b) + "\n"
	}
	if _, err := fmt.Fprint(v.app.Stdout, text); err != nil {
		return fmt.Errorf("writing events: %w", err)
	}
	return nil
}
