package room_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/folkmoot/moot/room"
)

// describePlan returns a change of the plan as its JSON.
func describePlan(b room.PlanChanged) string {
	out, err := json.Marshal(b)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// plan prints the plan as readers of the room see it, and the tasks that the policy is
// given.
func (s *script) plan(out *strings.Builder) {
	v := s.state.View(room.Internal)
	if v.Intent != nil {
		fmt.Fprintf(out, "  intent %d %q\n", v.Intent.Version, v.Intent.Objective)
	}
	for _, c := range v.Criteria {
		fmt.Fprintf(out, "  criterion %d %q met=%t waived=%t %q by=%s\n", c.Number, c.Text, c.Met, c.Waived, c.Evidence, c.By)
	}
	for _, t := range v.Tasks {
		fmt.Fprintf(out, "  task %s %q of %q %s after=%v asked=%q by=%s %q created=%v since=%v\n", t.ID, t.Title, t.Owner, t.State, t.After, t.Asked, t.By, t.Reason, t.Created, t.Since)
	}
	for _, p := range v.Proposals {
		fmt.Fprintf(out, "  proposal %s of %s: %d tasks\n", p.ID, p.From, len(p.Tasks))
	}
	for _, c := range v.Checks {
		fmt.Fprintf(out, "  check %s of %s answered by %q\n", c.ID, c.To, c.Reply)
	}
	for _, x := range v.Steering {
		fmt.Fprintf(out, "  request %d of %s for %q: %s %d to %q\n", x.Seq, x.From, x.For, x.Kind, x.Replied, x.To)
	}
	in, _ := s.state.Input(s.state.Policy, s.clock, nil)
	for _, a := range in.Agents {
		for _, t := range a.Tasks {
			fmt.Fprintf(out, "  policy: %s has %s %s after=%v\n", a.ID, t.ID, t.State, t.After)
		}
	}
	if v := s.state.View(room.UserRedacted); v.Intent != nil || v.Tasks != nil || v.Criteria != nil || v.Checks != nil || v.Proposals != nil || v.Steering != nil {
		fmt.Fprintln(out, "  a spectator sees the plan")
	}
}

// mailAct returns what a participant does with messages and tasks.
func mailAct(word, rest string) room.Act {
	switch word {
	case "claims":
		return room.ClaimTask{Task: rest}
	case "say-to":
		to, text, _ := strings.Cut(rest, " ")
		return room.Say{To: to, Text: text}
	}
	return room.Ack{Message: rest}
}
