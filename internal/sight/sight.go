// Package sight makes again, from the log of a room, what an agent was handed at a
// turn, and why it had the turn.
package sight

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/explore"
	"github.com/folkmoot/moot/room/log"
)

// A Sight is what an agent was handed at a turn.
type Sight struct {
	Room         string      `json:"room"`
	Turn         int         `json:"turn"`
	Participant  string      `json:"participant"`
	Reason       string      `json:"reason,omitempty"`
	Window       room.Window `json:"window"`
	Tokens       int64       `json:"tokens"`
	Recorded     string      `json:"recorded_digest,omitempty" doc:"Absent in rooms of versions that sent no text"`
	Rebuilt      string      `json:"rebuilt_digest"`
	Remote       bool        `json:"remote,omitempty" doc:"Another device words the prompt for its agent"`
	Redacted     int         `json:"redacted,omitempty" doc:"Events of the room that were redacted since"`
	Instructions string      `json:"instructions,omitempty" doc:"Of the agent's owner; no part of the prompt"`
	Usage        room.Usage  `json:"usage,omitzero" doc:"As the agent stated it at the end of the turn"`
	Prompt       string      `json:"prompt"`

	// Permissions are the events of what the agent has asked of its owner, and of the
	// answers.
	Permissions []json.RawMessage `json:"permissions,omitempty"`
	// Candidates are the agents as they stood when the policy decided.
	Candidates  []Candidate     `json:"candidates"`
	Confidence  *float64        `json:"confidence,omitempty"`
	Exploration *explore.Choice `json:"exploration,omitempty" doc:"How the turn was drawn, in a room that explores"`
	Record      *policy.Record  `json:"record,omitempty" doc:"Of the decision; absent when a person gave the turn"`

	Asked []room.Event `json:"-"` // Permissions
}

// A Candidate is a participant at a decision.
type Candidate struct {
	Participant string      `json:"participant"`
	Blocked     string      `json:"blocked,omitempty" doc:"Why it could not get the turn"`
	Score       *float64    `json:"score,omitempty" doc:"As the policy states it"`
	Bid         *policy.Bid `json:"bid,omitempty" doc:"The agent's own answer to the request for a bid"`
}

// Of returns what the agent that had that turn of a room was handed.
func Of(ctx context.Context, l coordinator.Log, id string, turn int) (Sight, error) {
	p, granted, before, err := coordinator.GrantedPrompt(ctx, l, id, turn)
	if err != nil {
		return Sight{}, err
	}
	s := Sight{
		Room: id, Turn: turn, Participant: granted.Participant, Reason: granted.Why(), Window: granted.Window, Tokens: granted.Tokens,
		Recorded: granted.Prompt, Rebuilt: endpoint.Digest(p.Text),
		Remote: p.You.Device != "", Instructions: p.Instructions, Prompt: p.Text, Candidates: candidates(before, granted),
		Confidence: granted.Confidence, Exploration: granted.Exploration, Record: granted.Record,
	}
	for e, err := range log.Scan(ctx, l, id, log.At(before.Seq)) {
		if err == nil {
			err = s.note(e.Event)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// candidates lists who could get a turn, and why the others could not.
func candidates(s *room.State, g room.TurnGranted) []Candidate {
	list := []Candidate{}
	for _, x := range s.Seats {
		if !x.Driven() {
			continue
		}
		c := Candidate{Participant: x.ID, Blocked: s.Ineligible(x)}
		for _, score := range g.Scores {
			if score.Agent == x.ID {
				c.Score = &score.Score
			}
		}
		for _, b := range s.Bids {
			if b.Participant == x.ID && b.Failed == "" {
				c.Bid = &b.Bid
			}
		}
		list = append(list, c)
	}
	return list
}

// note takes what an event after the decision says about the turn.
func (s *Sight) note(e room.Event) error {
	if _, ok := e.Body.(room.Redacted); ok {
		s.Redacted++
	}
	if of, u := usageOf(e.Body); of == s.Turn && u != (room.Usage{}) {
		s.Usage = u
	}
	if !asksIn(e.Body, s.Turn) {
		return nil
	}
	b, err := room.MarshalEvent(e)
	s.Asked, s.Permissions = append(s.Asked, e), append(s.Permissions, b)
	return err
}

// asksIn reports whether an event is a permission request of that turn, or an answer.
func asksIn(b room.Body, turn int) bool {
	switch b := b.(type) {
	case room.PermissionAsked:
		return b.Turn == turn
	case room.PermissionAnswered:
		return b.Turn == turn
	}
	return false
}

// usageOf returns the turn that an event ends or drafts, and its usage.
func usageOf(b room.Body) (turn int, u room.Usage) {
	switch b := b.(type) {
	case room.TurnDrafted:
		return b.Turn, b.Usage
	case room.TurnPassed:
		return b.Turn, b.Usage
	case room.TurnFailed:
		return b.Turn, b.Usage
	case room.MessagePosted:
		return b.Turn, b.Usage
	}
	return 0, u
}

// Check is an error if the prompt is not what was recorded before it left, unless
// something was redacted since.
func (s Sight) Check() error {
	if s.Recorded == "" || s.Recorded == s.Rebuilt || s.Redacted > 0 {
		return nil
	}
	return &problem.Error{
		Code: "ROOM-PROMPT", What: fmt.Sprintf("turn %d: the prompt made again from the log is not the one that was recorded", s.Turn),
		Where: "room " + s.Room, Fix: "use the release of moot that ran the room; `moot transcript verify " + s.Room + "` says what is intact",
	}
}
