// Package training trains package adaptive from past conversations of a team, and
// measures what it has learned.
//
// Training is deterministic: the same transcripts give the same bytes.
package training

import (
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
)

// mostDecisions is the number of decisions that a team's weights are trained on.
const mostDecisions = 8000

// Learn trains the law of a team on its past talks, which must not be near
// duplicates (see [Distinct]). It takes evenly spaced decisions.
func Learn(talks []*history.Conversation) (*adaptive.Team, error) {
	total, n := 0, 0
	for _, t := range talks {
		total += Decisions(t)
	}
	step, team := (total+mostDecisions-1)/mostDecisions, adaptive.NewTeam()
	var studies []adaptive.Study
	for _, t := range talks {
		p := adaptive.NewWith(team)
		err := walk(t, choices, func(in *policy.Input, at *history.Point) policy.JSON {
			s, state := p.Study(in, at.History.NameOf(at.Truth))
			if n%step == 0 && s.Truth >= 0 {
				studies = append(studies, s)
			}
			n++
			return state
		})
		if err != nil {
			return nil, err
		}
	}
	fit(team, studies)
	return team, nil
}

// Decisions returns the number of choices of a speaker in a talk. It is 0 for fewer than
// three participants.
func Decisions(talk *history.Conversation) (n int) {
	if len(talk.Participants) < 3 {
		return 0
	}
	for i := 1; i < len(talk.Turns); i++ {
		if talk.Turns[i].Speaker != talk.Turns[i-1].Speaker {
			n++
		}
	}
	return n
}

// Sorts of decision points: choices of a speaker, and recorded decisions of a participant.
const choices, decided = false, true

// walk visits the decision points of one sort with the inputs that replay gives a policy.
// visit returns the state of the policy.
func walk(talk *history.Conversation, sort bool, visit func(*policy.Input, *history.Point) policy.JSON) error {
	h, err := history.Open(history.Transcript{Name: talk.ID, Conversation: talk})
	if h == nil || err != nil {
		return err
	}
	var in policy.Input
	cursor := room.PolicyCursor{Ref: ref}
	return h.Walk(ref.Needs.MaxTextBytes+4, nil, func(p *history.Point) error { // of a cut text there is a rune more
		if sort != (p.Asked >= 0) {
			return nil
		}
		if err := p.Input(&in, cursor); err != nil {
			return err
		}
		cursor.State = visit(&in, p)
		cursor.Asked, cursor.Decision, cursor.Through = true, cursor.Decision+1, p.State.Seq
		return nil
	})
}

// ref makes the inputs those of the policy in a room.
var ref = room.PolicyRef{Use: "adaptive", Name: "adaptive", Needs: policies.Manifest("adaptive").Input}
