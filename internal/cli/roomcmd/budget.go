package roomcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/budget"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/audit"
)

// newBudgetCmd lists and resets what agents have used.
func newBudgetCmd(a *commands) *cobra.Command {
	var reset []string
	var yes bool
	cmd := &cobra.Command{
		Use:   "budget [AGENT...]",
		Short: "List what agents with a budget have used, or reset it",
		Long: "budget lists what the agents with a budget of an hour or a day have used in all rooms of\n" +
			"the data folder, in the last 60 minutes and the last 24 hours. An agent is a profile, or\n" +
			"ID#DIGEST of a participant without one. The limits are those of the newest room in which\n" +
			"it had a turn.\n\n" +
			"--reset starts the count of an agent again at 0, in all rooms. It asks first, unless --yes\n" +
			"is given. Rooms that run notice it before the next turn.",
		Example: "  moot budget\n  moot budget --reset claude",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(reset) == 0 {
				return a.budgets(cmd.Context(), args)
			}
			if len(args) > 0 {
				return app.Usagef(cmd, "name agents to list or agents to reset, not both")
			}
			if !yes && !a.Interactive() {
				return app.Usagef(cmd, "there is no terminal to ask in; give --yes to reset %s", strings.Join(reset, ", "))
			}
			return a.resetBudgets(cmd.Context(), reset, yes)
		},
	}
	cmd.Flags().StringArrayVar(&reset, "reset", nil, "start the count of this agent again at 0; may be repeated")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// A windowUse is what an agent has used in one window.
type windowUse struct {
	Agent     string       `json:"agent"`
	Window    string       `json:"window"` // hour or day
	Used      room.Amounts `json:"used"`   // the cost in millionths
	Limit     room.Amounts `json:"limit"`  // of Room; 0 is no limit
	Estimated bool         `json:"estimated,omitempty"`
	Since     time.Time    `json:"since,omitzero"` // of the oldest turn that counts
	Level     string       `json:"level"`          // free, near or used
	Until     time.Time    `json:"until,omitzero"` // when it may have a turn again, if Level is used
	Room      string       `json:"room"`           // of its newest turn
}

// budgets lists agents, all of them if none is named.
func (a *commands) budgets(ctx context.Context, names []string) error {
	db, err := a.Wiring().OpenLog(true)
	if errors.Is(err, log.ErrNotFound) {
		return a.emitBudgets([]windowUse{})
	}
	if err != nil {
		return err
	}
	defer db.Close()
	agents, err := db.Agents(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(agents, name) {
			return unknownBudget(name)
		}
	}
	uses := []windowUse{}
	for _, name := range agents {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		both, err := agentUse(ctx, db, name, time.Now())
		if err != nil {
			return err
		}
		uses = append(uses, both...)
	}
	return a.emitBudgets(uses)
}

func unknownBudget(name string) error {
	return &problem.Error{Code: "BUDGET-AGENT", What: fmt.Sprintf("no agent %q has used a budget", name), Fix: "`moot budget` lists the agents"}
}

// A budgetLog is the part of the log that says what agents have used.
type budgetLog interface {
	app.RoomLog
	log.Ledger
}

// agentUse returns what an agent has used in the windows that end at now.
func agentUse(ctx context.Context, db budgetLog, agent string, now time.Time) ([]windowUse, error) {
	charges, err := db.Charges(ctx, agent, now.Add(-budget.Longest))
	if err != nil {
		return nil, err
	}
	limits, of := limitsOf(ctx, db, agent, charges)
	uses := make([]windowUse, 0, 2)
	for _, w := range []budget.Window{{Name: budget.Hour, Length: time.Hour, Limits: limits.Hour}, {Name: budget.Day, Length: budget.Longest, Limits: limits.Day}} {
		m := w.Measure(charges, now, room.Amounts{})
		use := windowUse{Agent: agent, Window: w.Name, Limit: w.Limits, Level: m.Level, Until: m.Until, Room: of}
		for _, c := range w.Within(charges, now) {
			use.Used = use.Used.Plus(c.Amounts)
			use.Estimated = use.Estimated || c.Estimated
			if use.Since.IsZero() {
				use.Since = c.At
			}
		}
		uses = append(uses, use)
	}
	return uses, nil
}

// limitsOf returns the budget of an agent in the room of its newest charge, and the
// room. A room that was removed has none.
func limitsOf(ctx context.Context, db budgetLog, agent string, charges []room.BudgetCharge) (room.Budget, string) {
	if len(charges) == 0 {
		return room.Budget{}, ""
	}
	of := charges[len(charges)-1].Room
	s, err := app.FoldRoom(ctx, db, of)
	if err != nil {
		return room.Budget{}, of
	}
	for _, x := range s.Seats {
		if coordinator.Agent(s.Spec, x.Participant) == agent {
			return x.Budget, of
		}
	}
	return room.Budget{}, of
}

func (a *commands) emitBudgets(uses []windowUse) error {
	return a.Emit(uses, func(w io.Writer) error {
		if len(uses) == 0 {
			a.Note("no agent with a budget of an hour or a day has had a turn in %s", a.Place())
			return nil
		}
		return app.Table(w, []string{"AGENT", "WINDOW", "TOKENS", "COST", "TURNS", "CALLS", "TOOL CALLS", "SINCE", "NEXT TURN"}, app.Rows(uses, budgetRow))
	})
}

func budgetRow(u windowUse) []string {
	of := func(used, limit string, limited bool) string {
		if limited {
			return used + " of " + limit
		}
		return used
	}
	number := func(used, limit int64) string { return of(fmt.Sprint(used), fmt.Sprint(limit), limit > 0) }
	clock := func(t time.Time, none string) string {
		if t.IsZero() {
			return none
		}
		return t.Local().Format("Jan 2 15:04:05")
	}
	next := "now"
	if u.Level == budget.Used {
		next = clock(u.Until, "never")
	}
	return []string{
		u.Agent, u.Window,
		of(human.Rough(fmt.Sprint(u.Used.Tokens), u.Estimated), fmt.Sprint(u.Limit.Tokens), u.Limit.Tokens > 0),
		of(human.Rough(human.Money(u.Used.Cost), u.Estimated && u.Used.Cost > 0), human.Money(u.Limit.Cost), u.Limit.Cost > 0),
		number(u.Used.Turns, u.Limit.Turns), number(u.Used.Calls, u.Limit.Calls), number(u.Used.ToolCalls, u.Limit.ToolCalls),
		clock(u.Since, "-"), next,
	}
}

// resetBudgets removes the charges of agents and notes it in the host log.
func (a *commands) resetBudgets(ctx context.Context, names []string, yes bool) error {
	db, err := a.Wiring().OpenLog(false)
	if err != nil {
		return err
	}
	defer db.Close()
	known, err := db.Agents(ctx)
	if err != nil {
		return err
	}
	host, err := a.Wiring().OpenAudit()
	if err != nil {
		return err
	}
	defer host.Close()
	answers := bufio.NewScanner(a.Stdin)
	var failed error
	for _, name := range names {
		if !slices.Contains(known, name) {
			failed = errors.Join(failed, unknownBudget(name))
			continue
		}
		if !yes && !a.agreedReset(answers, name) {
			a.Note("%s keeps its count", name)
			continue
		}
		n, err := db.Reset(ctx, name)
		if err == nil {
			err = host.Append(audit.Event{Time: time.Now(), Profile: name, Requester: room.ActorHost, Status: "reset", Reason: "its budget starts again at 0, without " + app.Count(n, "charge")})
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		a.Note("%s starts again at 0", name)
	}
	return failed
}

// agreedReset asks on the terminal.
func (a *commands) agreedReset(answers *bufio.Scanner, name string) bool {
	fmt.Fprintf(a.Stderr, "Start the count of %s again at 0, in all rooms? [y/N] ", name)
	return answers.Scan() && strings.HasPrefix(strings.ToLower(strings.TrimSpace(answers.Text())), "y")
}
