package config

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// reservedIDs have another meaning in logs and addresses.
var reservedIDs = []string{room.ActorRoom, room.ActorPolicy, room.ActorHost, room.Broadcast}

// checkSemantics finds problems of the whole file. It skips parts that violate
// the schema.
func (d *document) checkSemantics(w wireRoom, r *Room, o Options) {
	if d.overflowed {
		return
	}
	d.checkIDs(w)
	for i, seat := range w.Participants {
		if seat != nil {
			d.checkParticipant(i, seat, o)
		}
	}
	for i, a := range w.Agents {
		if a != nil {
			d.checkAgentForCalls(firstAgent+i, a, o)
		}
	}
	d.checkPolicy(w, r, o)
	d.checkRoster(w)
	d.checkBeginning(w, r, o)
	d.checkCooldowns(w)
	d.checkHandOffs(w)
	d.checkManagers(w)
	d.checkLimits(w)
	d.checkUsage(w)
}

// checkIDs reports reserved IDs, duplicates, and IDs that are easily confused.
func (d *document) checkIDs(w wireRoom) {
	folded, forms := map[string]int{}, map[string]int{}
	all, ids := w.byIndex(), map[int]string{}
	for _, i := range slices.Sorted(maps.Keys(all)) {
		seat := all[i]
		if seat == nil || seat.ID == "" {
			continue
		}
		ids[i] = seat.ID
		path, fold, form := participantPath(i, "id"), strings.ToLower(seat.ID), confusableForm(seat.ID)
		j, dup := folded[fold]
		k, alike := forms[form]
		switch {
		case slices.Contains(reservedIDs, fold):
			d.reportUnlessBroken(path, "ROOM-RESERVED-ID", strconv.Quote(seat.ID)+" is reserved", "reserved are "+strings.Join(reservedIDs, ", "))
		case dup && ids[j] == seat.ID:
			d.reportUnlessBroken(path, "ROOM-DUPLICATE-ID", fmt.Sprintf("%q is taken by %s at %s", seat.ID, d.formatPath(participantPath(j)), d.positionOf(j)), "")
		case dup:
			d.reportUnlessBroken(path, "ROOM-DUPLICATE-ID", fmt.Sprintf("%q differs from %q (%s) in case only", seat.ID, ids[j], d.positionOf(j)), "people and agents would confuse them")
		case alike:
			d.warnUnlessBroken(path, "ROOM-DUPLICATE-ID", fmt.Sprintf("%q looks like %q (%s)", seat.ID, ids[k], d.positionOf(k)), "")
		}
		if !dup {
			folded[fold] = i
		}
		if !alike {
			forms[form] = i
		}
	}
}

// byIndex returns the participants and agents by their index; see firstAgent.
func (w wireRoom) byIndex() map[int]*wireParticipant {
	all := map[int]*wireParticipant{}
	for i, seat := range w.Participants {
		all[i] = seat
	}
	for i, a := range w.Agents {
		all[firstAgent+i] = a
	}
	return all
}

// checkAgentForCalls checks an agent without a seat: one that this device starts.
func (d *document) checkAgentForCalls(i int, a *wireParticipant, o Options) {
	switch {
	case a.Kind == policy.Human:
		d.reportUnlessBroken(participantPath(i, "kind"), "ROOM-AGENT", "a person cannot be called", "move it to participants:")
		return
	case a.kind() == policy.Remote, a.Endpoint != nil && a.Endpoint.Kind == KindSession:
		d.reportUnlessBroken(participantPath(i), "ROOM-AGENT", "only an agent that this device starts can be called", "move it to participants:")
		return
	case a.Mode == "":
		o.Headless = false // its answers need no person
	}
	d.checkParticipant(i, a, o)
}

func (d *document) positionOf(i int) string {
	n, _ := d.find(participantPath(i, "id"))
	return d.problem(n, nil, "", "", "").Position.String()
}

// confusableForm is equal for IDs that are easily confused (see Unicode
// Technical Standard 39, skeletons).
func confusableForm(id string) string {
	return strings.NewReplacer("0", "o", "1", "l", "i", "l", "5", "s", "_", "-", "rn", "m").Replace(strings.ToLower(id))
}

// checkParticipant checks one participant.
func (d *document) checkParticipant(i int, s *wireParticipant, o Options) {
	human, driven := s.Kind == policy.Human, s.Endpoint != nil || d.isBroken(participantPath(i, "endpoint")...)
	switch {
	case human && driven:
		d.reportUnlessBroken(participantPath(i, "endpoint"), "ROOM-ENDPOINT", "a person has no endpoint", "people take part in the terminal or on the page; remove endpoint, or kind: human")
	case human:
		d.checkPerson(i, s)
	case !driven:
		d.reportUnlessBroken(participantPath(i), "ROOM-ENDPOINT", "an agent needs an endpoint", "add endpoint: {kind: ndjson, command: [...]}, or kind: human for a person")
	default:
		if s.remembers() && s.Endpoint != nil && s.Endpoint.Kind == KindOpenAI {
			d.reportUnlessBroken(participantPath(i, "remembers"), "ROOM-VALUE", "a model server keeps nothing between turns", "remove remembers")
		}
		d.checkMode(i, s, o)
		d.checkAllow(i, s)
		d.checkEndpoint(i, s.Endpoint, o)
	}
}

// checkPerson warns of keys that have no effect for people.
func (d *document) checkPerson(i int, s *wireParticipant) {
	for key, set := range map[string]bool{
		"mode": s.Mode != "", "review": s.Review != nil, "remembers": s.Remembers != nil, "timeout": s.Timeout != 0, "startTimeout": s.StartTimeout != 0,
		"price": s.Price != wirePrice{}, "maxTokens": s.MaxTokens != 0, "budget": s.Budget != wireBudget{}, "allowToolUse": s.Tools, "profile": s.Profile != "", "instructions": s.Instructions != wireText{}, "allow": s.Allow != nil, "tools": s.MayUse != nil, "delegate": s.MayDelegate != nil, "calls": s.Calls != "", "handoffTo": s.HandoffTo != nil, "maxSubAgentDepth": s.MaxSubAgentDepth != 0,
	} {
		if set {
			d.warnUnlessBroken(participantPath(i, key), "ROOM-HUMAN", "has no effect for a person", "")
		}
	}
}

// checkMode reports participants whose drafts nobody could approve, and checks
// the review rules.
func (d *document) checkMode(i int, s *wireParticipant, o Options) {
	mode, path := room.Mode(s.Mode), participantPath(i)
	if s.Mode != "" {
		path = participantPath(i, "mode")
	}
	switch {
	case d.isBroken(participantPath(i, "mode")...):
	case o.Headless && (mode == "" || mode == room.Manual):
		d.reportUnlessBroken(path, "ROOM-MANUAL", "the participant is manual, and no person can approve its drafts", "set mode: full_auto, or run with a terminal")
	case o.Headless && mode == room.SemiAuto:
		d.warnUnlessBroken(path, "ROOM-MANUAL", "a draft that needs review waits until the room ends, because no person can approve it", "set mode: full_auto, or run with a terminal")
	}
	if s.Review != nil && mode != room.SemiAuto && !d.isBroken(participantPath(i, "mode")...) {
		d.warnUnlessBroken(participantPath(i, "review"), "ROOM-REVIEW", "review rules have an effect in mode semi_auto only", "")
	}
	if s.Review == nil {
		return
	}
	for k, p := range s.Review.Patterns {
		if _, err := regexp.Compile(p); err != nil {
			d.reportUnlessBroken(participantPath(i, "review", "patterns", strconv.Itoa(k)), "ROOM-REVIEW", "not a regular expression: "+err.Error(), "the syntax is that of RE2; \\ escapes a character")
		}
	}
}

// checkAllow checks the rules for permissions of an agent. Only the owner of an agent
// may write them.
func (d *document) checkAllow(i int, s *wireParticipant) {
	if s.Allow != nil && s.kind() == policy.Remote {
		d.reportUnlessBroken(participantPath(i, "allow"), "ROOM-ALLOW", "the agent is of another owner, who alone may allow its actions", "remove allow; its owner writes it under profiles: of the settings")
	}
	for key, list := range map[string][]string{"tools": s.MayUse, "delegate": s.MayDelegate} {
		if list != nil && s.kind() == policy.Remote {
			d.reportUnlessBroken(participantPath(i, key), "ROOM-ALLOW", "the agent is of another owner, who alone decides about its tools", "remove "+key)
		}
	}
	if s.kind() == policy.Remote {
		return
	}
	for k, r := range s.Allow {
		if err := r.Check(); err != nil {
			d.reportUnlessBroken(participantPath(i, "allow", strconv.Itoa(k)), "ROOM-ALLOW", err.Error(), "write {kind: read} or {kind: execute, argv: [go, test, \"*\"]}")
		}
	}
}

// checkPolicy checks that the policy exists, and its settings.
func (d *document) checkPolicy(w wireRoom, r *Room, o Options) {
	path := []string{"policy", "use"}
	use := r.Policy.Use
	switch {
	case use == "" || d.isBroken(path...):
		return
	case r.Policy.Path != "":
		if _, err := os.Stat(r.Policy.Path); err != nil {
			d.reportUnlessBroken(path, "ROOM-POLICY", "no policy at "+d.relativePath(r.Policy.Path)+": "+reasonWithoutPath(err), d.suggestFile(r.Policy.Path))
			return
		}
	case o.Policies != nil:
		name, ok := PolicyName(use, o.Policies)
		if !ok {
			hint := cmp.Or(Suggest(use, o.Policies), "available: "+strings.Join(o.Policies, ", ")+"; a path starts with ./")
			d.reportUnlessBroken(path, "ROOM-POLICY", fmt.Sprintf("no policy %q", use), hint)
			return
		}
		r.Policy.Use, w.Policy.Use = name, name
	}
	d.checkSettings(w, o)
}
