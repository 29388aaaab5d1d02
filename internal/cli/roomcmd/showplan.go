package roomcmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/plan"
)

// printPlan writes the plan of a room: the intent with its criteria, the tasks with
// their states and owners, what is proposed, and what people asked. A room without a plan has none of it. columns
// is the width of the terminal.
func printPlan(w io.Writer, columns int, v room.View) error {
	if err := printIntent(w, v); err != nil {
		return err
	}
	if len(v.Tasks) > 0 {
		fmt.Fprint(w, "\n")
		if err := taskTable.write(w, columns, v.Tasks); err != nil {
			return err
		}
	}
	for _, p := range v.Proposals {
		ids := make([]string, len(p.Tasks))
		for i, t := range p.Tasks {
			ids[i] = t.ID
		}
		fmt.Fprintln(w, term.Line(p.From+" proposes changes of "+strings.Join(ids, ", ")+" in message "+p.ID))
	}
	for _, x := range v.Steering {
		fmt.Fprintln(w, term.Line(steering(x)))
	}
	return nil
}

// steering says what the manager has made of a person's request.
func steering(x room.Steering) string {
	text := fmt.Sprintf("%s asked in event %d", x.From, x.Seq)
	if x.For != "" {
		text += ", for " + x.For
	}
	if x.Reply == "" {
		return text + ": not answered yet"
	}
	return fmt.Sprintf("%s: %s to %s in event %d", text, x.Kind, x.To, x.Replied)
}

// printIntent writes what the manager has understood of the user's wish.
func printIntent(w io.Writer, v room.View) error {
	i := v.Intent
	if i == nil {
		return nil
	}
	rows := [][]string{{"intent", fmt.Sprintf("%s (version %d)", i.Objective, i.Version)}}
	for _, list := range []struct {
		name  string
		texts []string
	}{{"constraint", i.Constraints}, {"target", i.Targets}, {"approval", i.Approvals}} {
		for _, text := range list.texts {
			rows = append(rows, []string{list.name, text})
		}
	}
	for _, c := range v.Criteria {
		rows = append(rows, []string{"criterion", criterion(c)})
	}
	fmt.Fprint(w, "\n")
	return app.Table(w, rows[0], rows[1:])
}

// criterion says whether a criterion of acceptance is met, and what shows it.
func criterion(c plan.Criterion) string {
	text := fmt.Sprintf("%d. %s: ", c.Number, c.Text)
	switch {
	case c.Waived:
		text += "waived"
	case c.Met:
		text += "met"
	default:
		text += "open"
	}
	if c.By != "" {
		text += " by " + c.By
	}
	if c.Evidence != "" {
		text += ", " + c.Evidence
	}
	return text
}

var taskTable = listing[plan.Task]{
	head: []string{"TASK", "STATE", "OWNER", "AFTER", "TITLE"},
	row: func(t plan.Task) []string {
		title := t.Title
		if t.Reason != "" {
			title += " (" + t.Reason + ")"
		}
		return []string{t.ID, string(t.State), orDash(t.Owner), orDash(strings.Join(t.After, ", ")), title}
	},
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
