package training

import (
	"fmt"
	"testing"

	"github.com/folkmoot/moot/internal/inference"
	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
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
	t.Helper()
	p := adaptive.New()
	if err := p.Configure(policy.JSON(settings)); err != nil {
		t.Fatal(err)
	}
	c := drive.Config{Policies: []drive.Policy{{Name: "adaptive", Ref: ref, Proposer: dealt{p}}}}
	for _, talk := range set.Talks {
		h, err := history.Open(history.Transcript{Conversation: &history.Conversation{ID: "0", Participants: talk.Participants, Turns: talk.Turns}})
		if err != nil {
			t.Fatal(err)
		}
		row, spoken, again := []float64{0, 0}, map[int]bool{}, false
		err = drive.WhatIf(t.Context(), c, h, 0, func(at *history.Point, all []drive.Evaluation) {
			if again = again || spoken[at.Last]; !again {
				spoken[at.Last] = true
				row[0]++
				row[1] += all[0].Hit
			}
		})
		if err != nil {
			t.Fatal(err)
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
