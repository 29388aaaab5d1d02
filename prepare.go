package moot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
)

// A description is a new room as it will be opened.
type description struct {
	spec         Spec
	participants []Participant
	opening      string // first message; "" for none
	dir          string // policies are found from here
	digest       string // of the policy's module, as room.yaml wants it
}

// prepare describes a new room in full: what room.yaml says with the options
// applied, and the policy, whose module is kept in the log and begins to load.
func (h *Host) prepare(ctx context.Context, r Source, o Options) (*description, error) {
	d, err := h.describe(r, o)
	if err != nil {
		return nil, err
	}
	if err := o.apply(&d.spec, d.participants); err != nil {
		return nil, err
	}
	d.opening = cmp.Or(o.Say, d.opening)
	if o.Policy != "" {
		d.dir, d.digest = cmp.Or(r.Dir, "."), ""
	}
	if d.spec.Policy.Digest == "" { // otherwise a built-in policy that the caller has looked up
		if d.spec.Policy, err = h.keepPolicy(ctx, d.dir, d.spec.Policy, d.digest); err != nil {
			return nil, err
		}
	}
	h.preload(d.spec.Policy)
	d.participants = slices.Clone(d.participants)
	for i, p := range d.participants {
		d.participants[i].Starts, d.participants[i].NoBids = config.HasStart(p.Endpoint), !config.MayBid(p.Endpoint)
		d.participants[i].Session = config.IsSession(p.Endpoint)
	}
	d.spec.Agents = slices.Clone(d.spec.Agents)
	for i, p := range d.spec.Agents {
		d.spec.Agents[i].Starts, d.spec.Agents[i].NoBids = config.HasStart(p.Endpoint), true
	}
	return d, nil
}

// describe reads room.yaml.
func (h *Host) describe(r Source, o Options) (*description, error) {
	if r.Spec != nil {
		d := &description{spec: *r.Spec, participants: r.Participants, dir: cmp.Or(r.Dir, ".")}
		d.spec.Room, d.spec.Secret = cmp.Or(r.ID, d.spec.Room, coordinator.NewRoomID()), cmp.Or(d.spec.Secret, newSecret())
		return d, nil
	}
	var described *config.Room
	var problems config.Problems
	headless := o.Headless && o.Mode != room.FullAuto
	if r.File != "" {
		described, problems = config.Load(r.File, h.wiring.RoomOptions(filepath.Dir(r.File), headless))
	} else {
		described, problems = config.LoadText([]byte(r.YAML), r.Dir, h.wiring.RoomOptions(r.Dir, headless))
	}
	if described == nil {
		return nil, problems.Err()
	}
	if o.Warn != nil && len(problems) > 0 {
		o.Warn(problems)
	}
	d := &description{opening: described.Opening, dir: described.Dir, digest: described.Policy.SHA256}
	d.spec, d.participants = described.Spec(cmp.Or(r.ID, coordinator.NewRoomID()), newSecret())
	return d, nil
}

// apply replaces what the description says.
func (o Options) apply(spec *Spec, participants []Participant) error {
	switch {
	case o.Mode == "":
	case o.Mode != room.Manual && o.Mode != room.SemiAuto && o.Mode != room.FullAuto:
		return badOption("--mode", string(o.Mode), "it is manual, semi_auto or full_auto")
	case o.Mode == room.Manual && o.Headless:
		return &problem.Error{Code: "ROOM-MANUAL", What: "manual seats need a person who approves, and --headless has none", Fix: "use --mode full_auto, or leave --headless out"}
	}
	for i := range participants {
		if o.Mode != "" && participants[i].Kind != policy.Human {
			participants[i].Mode = o.Mode
		}
	}
	if o.Policy != "" {
		spec.Policy = room.PolicyRef{Use: o.Policy, Hints: spec.Policy.Hints}
	}
	if o.MaxTurns < 0 {
		return badOption("--max-turns", fmt.Sprint(o.MaxTurns), "it is a number above 0")
	}
	spec.Limits = o.limits(spec.Limits)
	return checkPerson(participants, o.As)
}

// limits returns l with the limits that the options replace.
func (o Options) limits(l room.Limits) room.Limits {
	if o.MaxTurns > 0 {
		o.Limits.MaxTurns = o.MaxTurns
	}
	to, from := reflect.ValueOf(&l).Elem(), reflect.ValueOf(o.Limits)
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return l
}

func badOption(flag, value, fix string) error {
	return &problem.Error{Code: "CLI-USAGE", What: fmt.Sprintf("%s %q is not allowed", flag, value), Fix: fix}
}

// checkPerson reports an id that is no person at this host.
func checkPerson(participants []Participant, id string) error {
	if id == "" || id == room.ActorHost {
		return nil
	}
	for _, p := range participants {
		if p.ID == id && isHere(p) {
			return nil
		}
	}
	return badOption("--as", id, "it names a participant with kind: human")
}

// person returns the seat of the person at this host, "" for the host.
func person(participants []Participant, as string) string {
	if as == room.ActorHost {
		return ""
	}
	if as != "" {
		return as
	}
	for _, p := range participants {
		if isHere(p) {
			return p.ID
		}
	}
	return ""
}

// isHere reports whether a seat is that of a person at this host, not of one
// who speaks through another device.
func isHere(p Participant) bool { return p.Kind == policy.Human && p.Device == "" }

// changes returns what the options change of a stored room before it runs.
func (h *Host) changes(ctx context.Context, s *room.State, o Options) ([]Act, error) {
	var acts []Act
	for _, id := range o.Restore {
		acts = append(acts, room.SetStanding{Participant: id, Standing: room.Active})
	}
	if l := o.limits(s.Limits); l != s.Limits {
		acts = append(acts, room.SetLimits{Limits: l})
	}
	if o.Policy == "" {
		if err := h.checkPolicy(ctx, s.Policy.Ref); err != nil {
			return nil, err
		}
	} else {
		ref := room.PolicyRef{Use: o.Policy, Hints: s.Policy.Ref.Hints}
		if config.SamePolicy(o.Policy, s.Policy.Ref.Use) {
			ref.Settings = s.Policy.Ref.Settings
		}
		ref, err := h.keepPolicy(ctx, ".", ref, "")
		if err != nil {
			return nil, err
		}
		acts = append(acts, room.SetPolicy{Policy: ref})
	}
	if o.Say != "" {
		acts = append(acts, room.Say{Text: o.Say})
	}
	return append(acts, o.First...), checkPerson(participantsOf(s), o.As)
}

// checkAttended reports a headless room that would wait for a person.
func checkAttended(s *room.State, o Options) error {
	if !o.Headless {
		return nil
	}
	for _, x := range s.Seats {
		if x.Driven() && x.Standing == room.Active && (x.Mode == room.Manual || x.Mode == "") {
			return &problem.Error{
				Code: "ROOM-MANUAL", What: fmt.Sprintf("%s is manual: a person must approve its messages, and --headless has none", x.ID),
				Where: "room " + s.Spec.Room, Fix: "leave --headless out",
			}
		}
	}
	return nil
}

// checkTrusted reports an imported room whose log, written elsewhere, names
// commands to start or instructs agents, until the caller trusts it.
func (h *Host) checkTrusted(ctx context.Context, s *room.State, o Options) error {
	imported, err := h.log.Imported(ctx, s.Spec.Room)
	if err != nil || !imported || o.TrustCommands {
		return err
	}
	var commands []string
	for _, x := range s.Seats {
		e, err := config.ExpandEndpoint(x.Endpoint, s.Spec.Dir, func(string) (string, bool) { return "", true })
		if err == nil && len(e.Command) > 0 {
			commands = append(commands, x.ID+": "+strings.Join(e.Command, " "))
		} else if err == nil && e.Agent != "" { // its command is built in
			commands = append(commands, x.ID+": agent "+e.Agent)
		}
		if err == nil && (e.Kind == config.KindOpenAI || e.Kind == config.KindA2A) {
			commands = append(commands, x.ID+": "+string(x.Endpoint)) // as written, which names the variables that a server would get
		}
		if x.Instructions != "" {
			commands = append(commands, x.ID+" with instructions")
		}
		for _, r := range x.Allow {
			commands = append(commands, x.ID+" with the rule "+r.String())
		}
	}
	if len(commands) == 0 {
		return nil
	}
	return &problem.Error{
		Code: "ROOM-IMPORTED", Where: "room " + s.Spec.Room,
		What: "the room was imported, and to go on would start what its log says: " + strings.Join(commands, "; "),
		Fix:  "if you trust these commands, add --trust-commands",
	}
}

func participantsOf(s *room.State) []Participant {
	out := make([]Participant, len(s.Seats))
	for i, x := range s.Seats {
		out[i] = x.Participant
	}
	return out
}

// fold returns a room's state, without taking the room's lock.
func (h *Host) fold(ctx context.Context, id string) (*room.State, error) {
	s, err := coordinator.State(ctx, h.log, id)
	if _, coded := errors.AsType[*problem.Error](err); errors.Is(err, log.ErrNotFound) && !coded {
		return nil, &problem.Error{Code: "ROOM-UNKNOWN", What: fmt.Sprintf("there is no room %q", id), Fix: "`moot ls` lists the rooms", Kind: log.ErrNotFound}
	}
	return s, err
}
