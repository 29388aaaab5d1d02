package sim

import (
	"strconv"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/invariant"
)

// setUp makes the rooms, the people and the spectators of a run, and starts the process.
func (s *simulation) setUp() {
	for i := range 1 + s.src.below(2) {
		s.addRoom("r" + strconv.Itoa(i+1))
	}
	s.clients = []*client{
		{id: room.ActorHost, controls: true}, {id: "me", controls: true}, {id: "eve", controls: true}, {id: "guest1"},
	}
	s.startProcess()
}

// addRoom describes a room and its spectators.
func (s *simulation) addRoom(id string) {
	f := &facts{style: s.src.below(styles), check: checks{Checker: invariant.New()}}
	f.spec = room.Spec{
		Room: id, Secret: s.src.id(), OnRestart: one(s.src, "", room.RestartContinue), Objective: one(s.src, "", "make it work"),
		OneToOne: s.src.percent(20), Policy: room.PolicyRef{Use: "sim", Name: "sim", Digest: "d" + strconv.Itoa(f.style)}, Context: room.Context{Tokens: 200 + s.src.below(2000), SummaryTokens: 100},
	}
	if s.src.percent(25) {
		f.spec.Policy.Needs.Bids = true
	}
	if s.src.percent(15) && !s.plain() {
		f.spec.Explore = 0.3
	}
	f.spec.Limits = s.limits(f.spec.OneToOne)
	f.seats = s.seats(f.spec.OneToOne)
	if s.src.percent(50) {
		f.spec.Agents = []room.Participant{
			{ID: "spare", Kind: policy.Local, Mode: room.FullAuto, Calls: room.CallsAllow},
			{ID: "other", Kind: policy.Local, Mode: room.FullAuto, Calls: room.CallsAllow},
		}
	}
	s.facts = append(s.facts, f)
	for _, p := range f.seats {
		if p.Kind != policy.Human {
			if a := f.agent(p.ID); p.Session && s.src.percent(30) && !s.plain() {
				a.far = "device-" + p.ID
			}
		}
	}
	for i, level := range []room.Visibility{room.Internal, room.UserRedacted, room.UserVisible} {
		s.readers = append(s.readers, &spectator{s: s, name: id + "-reader" + strconv.Itoa(i+1), of: f, level: level})
	}
}

func (s *simulation) limits(oneToOne bool) room.Limits {
	l := room.Defaults(oneToOne)
	l.MaxTurns = 3 + s.src.below(40)
	l.MaxFailures = 1 + s.src.below(4)
	l.MaxOutput = 200
	l.AckTimeout = one(s.src, 20*time.Second, time.Minute)
	l.PermissionTimeout = one(s.src, 20*time.Second, time.Minute)
	l.SameText = 3
	l.MaxViolations = 1 + s.src.below(10)
	if s.plain() { // the model does not know internal and held messages, nor all forms of addresses
		l.MaxInternal, l.PairBurst, l.MaxRing = 1000, 1000, 1000
	} else if s.src.percent(40) {
		l.PairRate, l.PairBurst = 2, 1
	}
	if s.src.percent(30) {
		l.MaxTokens = int64(2000 + s.src.below(20_000))
	}
	if s.src.percent(30) {
		l.DraftTimeout = one(s.src, 10*time.Second, time.Minute)
	}
	return l
}

// seats returns the participants of a room: agents of each kind, and two people.
func (s *simulation) seats(oneToOne bool) []room.Participant {
	names := []string{"ann", "bob", "cid", "dan"}
	n := 2
	if !oneToOne {
		n += s.src.below(3)
	}
	var all []room.Participant
	for _, id := range names[:n] {
		p := room.Participant{
			ID: id, Name: id, Kind: policy.Local, Mode: one(s.src, room.FullAuto, room.FullAuto, room.SemiAuto, room.Manual), Remembers: s.src.percent(50),
			Starts: s.src.percent(30), Cooldown: s.src.below(2) * s.src.below(2), Calls: one(s.src, "", room.CallsAllow, room.CallsAsk), Moderator: s.src.percent(10),
			Role: one(s.src, "", "manager", "worker"), MaxSubAgentDepth: s.src.below(3),
		}
		if s.src.percent(20) {
			p.Budget.Room.Tokens = int64(500 + s.src.below(3000))
		}
		if s.src.percent(15) && !s.plain() { // the model does not know the hour
			p.Budget.Hour = one(s.src, room.Amounts{Tokens: int64(300 + s.src.below(2000))}, room.Amounts{Turns: int64(1 + s.src.below(4))})
			p.Budget.Day.Turns = int64(3 + s.src.below(20))
		}
		switch {
		case oneToOne:
		case s.src.percent(20):
			p.Session, p.Starts = true, false
		case s.src.percent(20):
			p.Kind, p.Owner, p.Device, p.Starts, p.Calls = policy.Remote, "olga", "device-"+id, false, ""
		}
		if s.plain() { // the model does not know the defaults
			p.Timeout, p.StartTimeout = time.Minute, 2*time.Minute
		}
		all = append(all, p)
	}
	return append(all, room.Participant{ID: "me", Kind: policy.Human}, room.Participant{ID: "eve", Kind: policy.Human})
}
