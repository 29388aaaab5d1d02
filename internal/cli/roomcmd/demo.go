package roomcmd

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/timeline"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// demoScripts are what the agents of the demo say, by their ids.
//
//go:embed demo/*.txt
var demoScripts embed.FS

// Delays of the demo: a person needs time to read, a script does not.
const (
	demoDelay         = 1200 * time.Millisecond // before each answer
	demoRetry         = 5 * time.Second         // after a declined round
	demoRetryHeadless = 200 * time.Millisecond
)

// demoPerson is the person of the demo, whom the demo itself plays. The user is
// the host.
const demoPerson = "Ana"

// Messages of the demo's person: the first one, and the one after a declined
// round.
const (
	demoOpening = "@Codebase, please walk us through migration 0042. It is planned for Friday."
	demoThen    = "@Codebase, can you fold both points into one plan?"
)

// newDemoCmd runs a room that needs nothing: no key, no network, no file.
func newDemoCmd(a *commands) *cobra.Command {
	var headless, web bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a room of three agents and a person, without any set-up",
		Long: "demo runs a real room: three specialists, each a process of its own that speaks\n" +
			"the stdio frames of agents, review a migration with a person. One of them is\n" +
			"another owner's: a share and a relay, two more processes, stand in for that owner,\n" +
			"and what is said to it is end to end encrypted. Policy mention runs in its\n" +
			"sandbox and gives the floor to the agent that is asked, and to nobody otherwise.\n" +
			"The lines of the agents are scripted; all else is as in any room. The room stays\n" +
			"in the data folder: show it with `moot show`, export it, replay it.\n\n" +
			"In a terminal, demo opens the page of the room in the browser too. The room runs in\n" +
			"the terminal all the same: --web=false opens no page.",
		Example: "  moot demo\n  moot demo --web=false\n  moot demo --headless -o jsonl",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if headless && web {
				return app.Usagef(cmd, "--headless runs without a person, so no page is opened")
			}
			if !cmd.Flags().Changed("web") {
				web = !headless && a.Terminal() != nil
			}
			return a.demo(cmd.Context(), headless, web)
		},
	}
	app.Formats(cmd, app.FormatTable, app.FormatJSONL, app.FormatJSON)
	cmd.Flags().BoolVar(&headless, "headless", false, "do not wait for a person: end when the room has settled")
	cmd.Flags().BoolVar(&web, "web", false, "open the page of the room in the browser (default in a terminal)")
	return cmd
}

func (a *commands) demo(ctx context.Context, headless, web bool) error {
	delay, retry := demoDelay, demoRetry
	if headless || !a.Interactive() && !web {
		delay, retry = 0, demoRetryHeadless
	}
	mention, err := a.Catalog().Find(ctx, ".", "mention")
	if err != nil {
		return err
	}
	h, err := a.Wiring().OpenHost()
	if err != nil {
		return err
	}
	defer h.Close()
	local := a.ServeRooms(h, app.Serving{Page: web, Demo: true})
	defer local.Stop()
	n, err := a.startNeighbour(ctx, h, delay)
	if err != nil {
		return err
	}
	defer n.leave()
	spec := room.Spec{
		Name: "migration-review", Policy: mention.Ref(nil, false),
		Objective:   "Decide whether migration 0042 can be deployed on Friday, and what has to change first.",
		Constraints: []string{"Do not change the database during the review."},
		Limits:      room.Limits{MaxTurns: 20, DeclineRetry: retry},
	}
	r, err := h.Create(ctx, moot.Source{Spec: &spec, Participants: demoSeats(delay, n)}, moot.Options{
		Headless: headless, Foreground: true, As: demoPerson, First: []room.Act{room.Say{Text: demoOpening}},
	})
	if err != nil {
		return err
	}
	local.Open(r.ID())
	s := foreground{commands: a, host: h, room: r, headless: headless, badge: "DEMO", watch: playPerson}
	if headless {
		s.again = []string{"--headless"}
	}
	return s.run(ctx)
}

// playPerson answers the first declined round with a message that mentions an
// agent, so that the policy can choose one.
func playPerson(ctx context.Context, r timeline.Room, e room.Event) {
	if _, ok := e.Body.(room.RoundDeclined); !ok {
		return
	}
	// The same message id again changes nothing, so it is said once. A room
	// that has ended meanwhile refuses it, which is fine too.
	_, _ = r.Do(ctx, room.Command{Actor: demoPerson, Do: room.Say{Text: demoThen, MessageID: "demo-2"}})
}

// demoCommand starts an agent of the demo.
func demoCommand(id string, delay time.Duration) []string {
	command := []string{"${" + moot.SelfVariable + "}", "demo-agent", id}
	if delay > 0 {
		command = append(command, "--pace", delay.String())
	}
	return command
}

func demoSeats(delay time.Duration, n *neighbour) []room.Participant {
	agent := func(id, role string, domains ...string) room.Participant {
		at, err := json.Marshal(map[string]any{"kind": "ndjson", "command": demoCommand(id, delay)})
		if err != nil {
			panic("demo: " + err.Error()) // strings only
		}
		return room.Participant{ID: id, Kind: policy.Local, Role: role, Domains: domains, Mode: room.FullAuto, Endpoint: at}
	}
	return []room.Participant{
		agent("Codebase", "knows the application and its migrations", "ORM", "code review"),
		agent("DBA", "keeps the database", "vacuum", "query plan"),
		n.seat("knows what must not leak", "encryption", "audit"),
		{ID: demoPerson, Kind: policy.Human, Role: "releases on Friday"},
	}
}

// newDemoAgentCmd is one agent of the demo: a process that speaks the frames
// of package ndjson, as anybody's agent would.
func newDemoAgentCmd(a *commands) *cobra.Command {
	var delay time.Duration
	cmd := &cobra.Command{
		Use:    "demo-agent NAME",
		Short:  "One agent of the demo, on stdin and stdout",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := "demo/" + args[0] + ".txt"
			script, err := demoScripts.ReadFile(file)
			if err != nil {
				return &problem.Error{Code: "CLI-USAGE", What: fmt.Sprintf("the demo has no agent %q", args[0]), Fix: "`moot demo` starts its agents itself", Err: err}
			}
			return a.Wiring().ServeScript(cmd.Context(), a.Stdin, a.Stdout, file, script, delay)
		},
	}
	cmd.Flags().DurationVar(&delay, "pace", 0, "how long each answer takes")
	return cmd
}
