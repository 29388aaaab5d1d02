package training

import (
	"fmt"
	"testing"

	"github.com/folkmoot/moot/internal/inference"
	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
)

// TestRoles: before any participant of a shared room of agents has spoken twice,
// roles make the choices at least five points better. With -figures it prints the
// accuracies.
func TestRoles(t *testing.T) {
	t.Parallel()
	set := shared(t, "whowhen")
	for _, part := range append(set.Split(), set) {
		without, with := firstTurns(t, part, `{"roles":false}`), firstTurns(t, part, `{}`)
		d := inference.Differences(without, with, accuracy, 1, 2000)[0]
		if *printFigures {
			fmt.Printf("| %s | %.0f | %.1f | %.1f | %+.1f [%.1f, %.1f] |\n", part.Name, total(with, 0), percent(without), percent(with), d.Value, d.Interval[0], d.Interval[1])
		}
		if part == set && (d.Value < 5 || d.Interval[0] <= 0) {
			t.Errorf("roles make it %.1f points better, interval %.1f", d.Value, d.Interval)
		}
	}
}

// firstTurns returns the decisions and the hits of each talk, up to the first
// participant that speaks again.
func firstTurns(t *testing.T, set *Set, settings string) (rows inference.Rows) {
	p := adaptive.New()
	if err := p.Configure(policy.JSON(settings)); err != nil {
		t.Fatal(err)
	}
	for _, talk := range set.Talks {
		row, spoken := []float64{0, 0}, map[string]bool{}
		var state policy.JSON
		for in, truth := range talk.asked() {
			last := in.Events[0].From
			if spoken[last] {
				break
			}
			spoken[last] = true
			in.State = state
			d := p.Decide(in)
			state = d.State
			row[0]++
			row[1] += agreement(&d, truth)
		}
		rows = append(rows, row)
	}
	return rows
}

func accuracy(sums, out []float64) { out[0] = 100 * sums[1] / sums[0] }

func total(rows inference.Rows, column int) (sum float64) {
	for _, row := range rows {
		sum += row[column]
	}
	return sum
}

func percent(rows inference.Rows) float64 { return 100 * total(rows, 1) / total(rows, 0) }
