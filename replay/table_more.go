package replay

import (
	"fmt"

	"github.com/folkmoot/moot/internal/term"
)

// riskLines are about policies that say how sure they are.
func (r *Report) riskLines() []line {
	any := false
	for i := range r.Policies {
		any = any || r.Policies[i].Risk != nil
	}
	if !any {
		return nil
	}
	cell := func(of func(*Risk) Figure) func(*Report, *Result) string {
		return func(_ *Report, p *Result) string {
			if p.Risk == nil {
				return "—"
			}
			return fmt.Sprintf("%s n=%s", percent(float64(of(p.Risk))), thousands(p.Risk.Decisions))
		}
	}
	var all []line
	for _, q := range []int{25, 50, 75, 100} {
		all = append(all, line{name: fmt.Sprintf("right, the surest %d %%", q), policy: func(_ *Report, p *Result) string {
			if p.Risk == nil {
				return "—"
			}
			return fmt.Sprintf("%s n=%s", percent(float64(p.Risk.At(q))), thousands((p.Risk.Decisions*q+99)/100))
		}})
	}
	return append(all, line{name: "calibration error", policy: cell(func(x *Risk) Figure { return x.ECE })})
}

// runLines are about rooms that a policy drove.
func runLines() []line {
	row := func(name string, of func(*Simulated) int) line {
		return line{
			name: name, recorded: func(r *Report) string { return thousands(of(r.Recorded.Run)) },
			policy: func(_ *Report, p *Result) string { return thousands(of(p.Run)) },
		}
	}
	return []line{
		row("turns", func(s *Simulated) int { return s.Turns }),
		row("  lines said", func(s *Simulated) int { return s.Said }),
		row("  passed, out of lines", func(s *Simulated) int { return s.Passed }),
		row("  failed", func(s *Simulated) int { return s.Failed }),
		row("lines nobody said", func(s *Simulated) int { return s.Unspoken }),
	}
}

// endingRows says how the rooms ended that policies drove.
func (r *Report) endingRows() [][]string {
	var all [][]string
	for i := range r.Policies {
		if p := &r.Policies[i]; p.Run != nil {
			for _, e := range p.Run.Endings {
				all = append(all, []string{term.Line(p.Policy), term.Line(e.Ending), count(e.Rooms, "room")})
			}
		}
	}
	return all
}
