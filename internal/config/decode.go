package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// decode checks the document against the schema and decodes the valid parts.
func (d *document) decode() wireRoom {
	var w wireRoom
	d.renameKeys()
	v := d.convert(d.root, nil)
	c, err := schema()
	if err != nil {
		panic(err) // the embedded schema is invalid; every test would fail
	}
	if !d.overflowed {
		checker{d: d}.report(c.check(v))
	}
	d.checkDurations(v, nil)
	for _, path := range d.broken {
		v = prune(v, path)
	}
	b, err := json.Marshal(v)
	if err == nil {
		err = decodeStrict(b, &w)
	}
	if err != nil && d.problems.Errors() == 0 {
		d.report(d.root, nil, "ROOM-VALUE", err.Error(), "")
	}
	return w
}

// durationKeys are the keys with durations, at any level.
var durationKeys = map[string]bool{
	"maxDuration": true, "turnTimeout": true, "toolTurnTimeout": true, "remoteTimeout": true,
	"bidTimeout": true, "startTimeout": true, "declineRetry": true, "timeout": true,
}

// maxDuration is the longest duration that is accepted.
const maxDuration = 366 * 24 * time.Hour

// checkDurations rejects durations that the pattern of the schema accepts: zero,
// and more than maxDuration.
func (d *document) checkDurations(v any, path []string) {
	m, _ := v.(map[string]any)
	for key, val := range m {
		p := appendStep(path, key)
		if s, ok := val.(string); ok && durationKeys[key] && !d.isBroken(p...) {
			if t, err := time.ParseDuration(s); err != nil || t <= 0 || t > maxDuration {
				n, _ := d.find(p)
				d.reject(n, p, "ROOM-VALUE", strconv.Quote(n.Value)+" is not between 1ms and 366 days", "")
			}
		}
	}
	if len(path) > 0 {
		return
	}
	d.checkDurations(m["limits"], []string{"limits"})
	for _, key := range []string{"participants", "agents"} {
		seats, _ := m[key].([]any)
		for i, s := range seats {
			d.checkDurations(s, []string{key, strconv.Itoa(i)})
		}
	}
}

// prune removes the value at a path that has a problem, so that the rest can be
// decoded. List items become nil, to keep the indexes of the others.
func prune(v any, path []string) any {
	if len(path) == 0 {
		return nil
	}
	switch t := v.(type) {
	case map[string]any:
		if child, ok := t[path[0]]; ok {
			if left := prune(child, path[1:]); left == nil {
				delete(t, path[0])
			} else {
				t[path[0]] = left
			}
		}
	case []any:
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(t) {
			t[i] = prune(t[i], path[1:])
		}
	}
	return v
}

// build makes a Room of the decoded document.
func (d *document) build(w wireRoom) *Room {
	r := &Room{
		Path: d.main.name, Dir: d.main.dir, Files: d.fileList(),
		Name: w.Name, Objective: strings.TrimSpace(w.Objective), Opening: strings.TrimSpace(w.Opening), Constraints: w.Constraints,
		OneToOne: w.OneToOne, OnRestart: cmp.Or(w.OnRestart, room.RestartPause), Limits: w.Limits.limits(), Context: w.Context.context(),
	}
	n, _ := d.find([]string{"policy"})
	r.Policy = Policy{
		Position: d.problem(n, nil, "", "", "").Position,
		Use:      w.Policy.Use, SHA256: w.Policy.SHA256, Settings: policy.JSON(w.Policy.Settings), Hints: w.Policy.Hints, Explore: w.Policy.Explore,
	}
	if IsPath(w.Policy.Use) {
		r.Policy.Path = absolutePath(d.main.dir, w.Policy.Use)
	}
	for i, seat := range w.Participants {
		if seat != nil {
			r.Participants = append(r.Participants, d.participant(i, seat))
		}
	}
	for i, a := range w.Agents {
		if a != nil {
			r.Agents = append(r.Agents, d.participant(firstAgent+i, a))
		}
	}
	return r
}

// participant builds participant i.
func (d *document) participant(i int, w *wireParticipant) Participant {
	n, _ := d.find(participantPath(i))
	p := Participant{
		Position: d.problem(n, nil, "", "", "").Position,
		Seat: room.Participant{
			ID: w.ID, Name: cmp.Or(w.Name, w.ID), Kind: w.kind(), Role: w.Role, Domains: w.Domains,
			Owner: w.Owner, Profile: w.Profile, Mode: room.Mode(w.Mode), Remembers: w.remembers(),
			Cooldown: w.Cooldown, MaxTokens: w.MaxTokens, Budget: w.Budget.budget(), Tools: w.Tools, Moderator: w.Moderator,
			Price:   room.Price{Input: millionths(w.Price.Input), CachedInput: millionths(w.Price.CachedInput), Output: millionths(w.Price.Output)},
			Timeout: time.Duration(w.Timeout), StartTimeout: time.Duration(w.StartTimeout), Allow: w.Allow, HandoffTo: w.HandoffTo,
			MayUse: w.MayUse, MayDelegate: w.MayDelegate,
			Calls: w.Calls, MaxSubAgentDepth: w.MaxSubAgentDepth,
		},
	}
	switch {
	case p.Seat.Mode != "" || p.Seat.Kind == policy.Human:
	case i >= firstAgent: // its answers are for its caller
		p.Seat.Mode = room.FullAuto
	default:
		p.Seat.Mode = room.Manual
	}
	if w.Review != nil {
		p.Seat.Review = room.Review(*w.Review)
	}
	if w.Endpoint != nil {
		e := w.Endpoint.resolve(d.sourceOf(i).dir)
		p.Endpoint, p.Seat.Endpoint, p.Seat.Session = &e, d.endpointAsWritten(i), e.Kind == KindSession
		p.Seat.Tools = p.Seat.Tools || p.Seat.Session // it has those that its own client allows
	}
	return p
}

// remembers is true by default for an agent with a session of its own.
func (w *wireParticipant) remembers() bool {
	if w.Remembers != nil {
		return *w.Remembers
	}
	return w.Endpoint != nil && (w.Endpoint.Kind == KindACP || w.Endpoint.Kind == KindSession)
}

// kind is derived: an agent of another owner is remote, even if it is scripted.
func (w *wireParticipant) kind() string {
	switch {
	case w.Kind == policy.Human:
		return policy.Human
	case w.Owner != "", w.Endpoint != nil && w.Endpoint.Kind == KindRelay:
		return policy.Remote
	}
	return policy.Local
}

// fileList lists the files that were read.
func (d *document) fileList() []File {
	files := make([]File, len(d.files))
	for i, s := range d.files {
		sum := sha256.Sum256(s.text)
		rel, err := filepath.Rel(d.main.dir, s.dir)
		files[i] = File{
			Path: s.name, SHA256: hex.EncodeToString(sum[:]),
			Outside: err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)),
		}
	}
	return files
}

func (w wireBudget) budget() room.Budget {
	return room.Budget{Hour: w.Hour.amounts(), Day: w.Day.amounts(), Room: w.Room.amounts()}
}

func (w wireAmounts) amounts() room.Amounts {
	return room.Amounts{Tokens: w.Tokens, Cost: millionths(w.Cost), Turns: w.Turns, Calls: w.Calls, ToolCalls: w.ToolCalls}
}

func (w wireLimits) limits() room.Limits {
	return room.Limits{
		MaxTurns: w.MaxTurns, MaxDuration: time.Duration(w.MaxDuration), MaxFailures: w.MaxFailures,
		MaxTokens: w.MaxTokens, MaxCost: millionths(w.MaxCost), MaxDeclines: w.MaxDeclines,
		MaxHops: w.MaxHops, MaxCalls: w.MaxCalls, MaxOutput: w.MaxOutputChars,
		TurnTimeout: time.Duration(w.TurnTimeout), ToolTurnTimeout: time.Duration(w.ToolTurnTimeout),
		RemoteTimeout: time.Duration(w.RemoteTimeout), BidTimeout: time.Duration(w.BidTimeout), StartTimeout: time.Duration(w.StartTimeout),
		DeclineRetry: time.Duration(w.DeclineRetry), MaxToolRounds: w.MaxToolRounds,
		MaxViolations: w.MaxViolations, SameText: w.SameText, SameTextOf: w.SameTextOf,
		MaxInternal: w.MaxInternal, MaxPingPong: w.MaxPingPong, MaxRing: w.MaxRing, PairRate: w.PairRate, PairBurst: w.PairBurst,
		AckTimeout: time.Duration(w.AckTimeout), MaxAckAttempts: w.MaxAckAttempts,
		PermissionTimeout: time.Duration(w.PermissionTimeout), DraftTimeout: time.Duration(w.DraftTimeout),
	}
}

func (w wireContext) context() room.Context {
	return room.Context{
		Tokens: w.Tokens, SummaryTokens: w.Summary.MaxTokens, LineChars: w.Summary.LineChars,
		HistoryTurns: w.MaxHistoryTurns, HistoryChars: w.MaxHistoryChars,
	}
}
