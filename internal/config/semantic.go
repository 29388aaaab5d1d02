package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// reserved are ids that mean something else in logs and addresses.
var reserved = []string{room.ActorRoom, room.ActorPolicy, room.ActorHost, room.Broadcast}

// checkMeaning finds what only the whole file shows. It says nothing about
// what the schema has refused already.
func (d *document) checkMeaning(w wireRoom, r *Room, o Options) {
	if d.overflowed {
		return
	}
	d.checkIDs(w)
	for i, seat := range w.Participants {
		if seat != nil {
			d.checkSeat(i, seat, o)
		}
	}
	d.checkPolicy(w, r, o)
	d.checkRoster(w)
	d.checkCooldowns(w)
	d.checkLimits(w)
}

// at returns the path of something of participant i.
func at(i int, more ...string) []string {
	return append([]string{"participants", strconv.Itoa(i)}, more...)
}

// reportAt and warnAt add a problem at a path, unless that path has one.
func (d *document) reportAt(path []string, code, what, hint string) {
	if !d.isBroken(path...) {
		n, _ := d.find(path)
		d.report(n, path, code, what, hint)
	}
}

func (d *document) warnAt(path []string, code, what, hint string) {
	if !d.isBroken(path...) {
		n, _ := d.find(path)
		d.warn(n, path, code, what, hint)
	}
}

// checkIDs wants ids that people and programs can tell apart.
func (d *document) checkIDs(w wireRoom) {
	folded, looks := map[string]int{}, map[string]int{}
	for i, seat := range w.Participants {
		if seat == nil || seat.ID == "" {
			continue
		}
		path, fold, look := at(i, "id"), strings.ToLower(seat.ID), skeleton(seat.ID)
		j, dup := folded[fold]
		k, alike := looks[look]
		switch {
		case slices.Contains(reserved, fold):
			d.reportAt(path, "ROOM-RESERVED-ID", strconv.Quote(seat.ID)+" is reserved", "reserved are "+strings.Join(reserved, ", "))
		case dup && w.Participants[j].ID == seat.ID:
			d.reportAt(path, "ROOM-DUPLICATE-ID", fmt.Sprintf("%q is taken by participants[%d] at %s", seat.ID, j, d.place(j)), "")
		case dup:
			d.reportAt(path, "ROOM-DUPLICATE-ID", fmt.Sprintf("%q differs from %q (%s) in case only", seat.ID, w.Participants[j].ID, d.place(j)), "people and agents would mix them up")
		case alike:
			d.warnAt(path, "ROOM-DUPLICATE-ID", fmt.Sprintf("%q looks like %q (%s)", seat.ID, w.Participants[k].ID, d.place(k)), "")
		}
		if !dup {
			folded[fold] = i
		}
		if !alike {
			looks[look] = i
		}
	}
}

func (d *document) place(i int) string {
	n, _ := d.find(at(i, "id"))
	return d.problem(n, nil, "", "", "").Position.String()
}

// skeleton is the same for ids that look the same.
func skeleton(id string) string {
	return strings.NewReplacer("0", "o", "1", "l", "i", "l", "5", "s", "_", "-", "rn", "m").Replace(strings.ToLower(id))
}

// checkSeat checks one seat by itself.
func (d *document) checkSeat(i int, s *wireSeat, o Options) {
	human, driven := s.Kind == policy.Human, s.Endpoint != nil || d.isBroken(at(i, "endpoint")...)
	switch {
	case human && driven:
		d.reportAt(at(i, "endpoint"), "ROOM-ENDPOINT", "a person has no endpoint", "people attend: in the terminal or on the page; remove endpoint, or kind: human")
	case human:
		d.checkPerson(i, s)
	case !driven:
		d.reportAt(at(i), "ROOM-ENDPOINT", "an agent needs an endpoint", "add endpoint: {kind: ndjson, command: [...]}, or kind: human for a person")
	default:
		d.checkMode(i, s, o)
		d.checkEndpoint(i, s.Endpoint, o)
	}
}

// checkPerson warns of what has no meaning for people.
func (d *document) checkPerson(i int, s *wireSeat) {
	for key, set := range map[string]bool{
		"mode": s.Mode != "", "review": s.Review != nil, "remembers": s.Remembers, "timeout": s.Timeout != 0,
		"price": s.Price != wirePrice{}, "max_tokens": s.MaxTokens != 0, "allow_tool_use": s.Tools, "profile": s.Profile != "",
	} {
		if set {
			d.warnAt(at(i, key), "ROOM-HUMAN", "means nothing for a person", "")
		}
	}
}

// checkMode refuses a room that would wait for ever for an approval.
func (d *document) checkMode(i int, s *wireSeat, o Options) {
	mode, path := room.Mode(s.Mode), at(i)
	if s.Mode != "" {
		path = at(i, "mode")
	}
	switch {
	case d.isBroken(at(i, "mode")...):
	case o.Headless && (mode == "" || mode == room.Manual):
		d.reportAt(path, "ROOM-MANUAL", "the seat is manual and nobody is there to approve", "set mode: full_auto, or run with a terminal")
	case o.Headless && mode == room.SemiAuto:
		d.warnAt(path, "ROOM-MANUAL", "a draft that a rule holds back waits until the room's time is over: nobody is there to approve", "set mode: full_auto, or run with a terminal")
	}
	if s.Review != nil && mode != room.SemiAuto && !d.isBroken(at(i, "mode")...) {
		d.warnAt(at(i, "review"), "ROOM-REVIEW", "review rules count in mode semi_auto only", "")
	}
	if s.Review == nil {
		return
	}
	for k, p := range s.Review.Patterns {
		if _, err := regexp.Compile(p); err != nil {
			d.reportAt(at(i, "review", "patterns", strconv.Itoa(k)), "ROOM-REVIEW", "not a regular expression: "+err.Error(), "RE2's syntax; \\ escapes")
		}
	}
}

// checkPolicy looks for the policy and at its settings.
func (d *document) checkPolicy(w wireRoom, r *Room, o Options) {
	path := []string{"policy", "use"}
	use := r.Policy.Use
	switch {
	case use == "" || d.isBroken(path...):
		return
	case r.Policy.Path != "":
		if _, err := os.Stat(r.Policy.Path); err != nil {
			d.reportAt(path, "ROOM-POLICY", "no policy at "+d.rel(r.Policy.Path)+": "+reason(err), d.nearFile(r.Policy.Path))
			return
		}
	case o.Policies != nil && !slices.Contains(o.Policies, use):
		hint := suggest(use, o.Policies)
		if hint == "" {
			hint = "there are " + strings.Join(o.Policies, ", ") + "; a path starts with ./"
		}
		d.reportAt(path, "ROOM-POLICY", fmt.Sprintf("no policy %q", use), hint)
		return
	}
	d.checkSettings(w, o)
}

// rel shortens a path for messages.
func (d *document) rel(path string) string {
	if r, err := filepath.Rel(d.main.dir, path); err == nil {
		return r
	}
	return path
}

// nearFile suggests a file beside one that does not exist.
func (d *document) nearFile(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "there is no folder " + d.rel(filepath.Dir(path))
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return suggest(filepath.Base(path), names)
}
