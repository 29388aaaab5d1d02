package training

import (
	"math/rand/v2"
	"slices"
)

// Deals is how often the runs are dealt out into parts. The figures are means over the
// deals, because one deal of a hundred runs moves them by some points.
const Deals = 10

// An outcome holds, by run and turn, the scores of a model that was learnt from the runs
// of the other parts. Turns of people score below all others.
type outcome [][]float64

// fold deals the runs into parts, those of one task into the same, and scores each part
// after learning from the others.
func fold(runs []*Run, parts, deal int) outcome {
	part := partsOf(runs, parts, deal)
	scores := make(outcome, len(runs))
	for p := range parts {
		var learned []*Run
		for i, r := range runs {
			if part[i] != p {
				learned = append(learned, r)
			}
		}
		m := Learn(learned)
		for i, r := range runs {
			if part[i] != p {
				continue
			}
			for k := range r.turns {
				s := never
				if r.turns[k].judged {
					s = m.Score(&r.turns[k].x)
				}
				scores[i] = append(scores[i], s)
			}
		}
	}
	return scores
}

// never is the score of a turn that is not flagged.
const never = -1e9

// partsOf returns the part of each run.
func partsOf(runs []*Run, parts, deal int) []int {
	tasks := tasksOf(runs)
	rng := rand.New(rand.NewPCG(uint64(deal), 1))
	rng.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	of := make(map[string]int, len(tasks))
	for i, t := range tasks {
		of[t] = i % parts
	}
	part := make([]int, len(runs))
	for i, r := range runs {
		part[i] = of[r.Task]
	}
	return part
}

// Tasks returns the number of different tasks of the runs.
func Tasks(runs []*Run) int { return len(tasksOf(runs)) }

func tasksOf(runs []*Run) []string {
	var tasks []string
	for _, r := range runs {
		tasks = append(tasks, r.Task)
	}
	slices.Sort(tasks)
	return slices.Compact(tasks)
}
