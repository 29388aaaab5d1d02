package roomcmd

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// goOn returns the command that goes on with a room, or "" if there is none. It
// undoes the cause of the ending.
func (s *foreground) goOn(v room.View) string {
	args := append([]string{"run", "--room", v.Room}, s.again...)
	switch {
	case v.Phase == room.PhaseStopped && v.Ending.Cause != room.CausePerson:
		return s.CommandLine(append(args, s.raise(v)...)...)
	case v.Ending.Degraded:
		args = append(args, restore(v, room.Suspended)...)
		if v.Turn == 0 {
			args = append(args, "--say", "TEXT")
		}
		return s.CommandLine(args...)
	case v.Phase == room.PhaseCompleted && v.Ending.Cause == room.CauseSettled:
		return s.CommandLine(append(args, "--say", "TEXT")...)
	case v.Phase == room.PhaseCompleted, v.Phase == room.PhaseStopped:
		return s.forked(v)
	case v.Phase == room.PhaseError:
		return s.afterError(v, args)
	case v.Phase == room.PhasePaused && v.Ending.Cause == room.CausePolicy:
		return s.CommandLine(append(args, "--policy", otherPolicy(v.Policy))...)
	}
	return s.CommandLine(args...)
}

// raise returns the flags that lift the limit that stopped the room. The seats
// that had too many failures in a row go on too.
func (s *foreground) raise(v room.View) (flags []string) {
	if v.Ending.Name == "maxFailures" {
		flags = restore(v, room.Suspended)
	}
	for _, assignment := range config.ChangedLimits(v.Limits, v.Raised) {
		flags = append(flags, "--limit", assignment)
	}
	return flags
}

// afterError returns the command that goes on after an error: with the seats that
// are suspended, or without those with the muted ones if no seat could speak. A
// removed seat takes part again only in a copy.
func (s *foreground) afterError(v room.View, args []string) string {
	flags := restore(v, room.Suspended)
	if flags == nil && v.Ending.Name == "ROOM-NOBODY" {
		if flags = restore(v, room.Muted); flags == nil {
			return s.forked(v)
		}
	}
	return s.CommandLine(append(args, flags...)...)
}

// restore returns the flag that lets the seats with that standing take part again.
func restore(v room.View, standing room.Standing) []string {
	var seats []string
	for _, x := range v.Seats {
		if standingOf(x) == string(standing) {
			seats = append(seats, x.ID)
		}
	}
	if len(seats) == 0 {
		return nil
	}
	return []string{"--restore", strings.Join(seats, ",")}
}

// forked returns the commands that go on with a copy of a room that has ended
// for good, or "" if it had no turn.
func (s *foreground) forked(v room.View) string {
	if v.Turn == 0 {
		return ""
	}
	name := s.unusedName(v.Room)
	args := append([]string{"run", "--room", name}, s.again...)
	if v.Turn >= v.Limits.MaxTurns { // the last turn was under way
		args = append(args, "--limit", "maxTurns="+strconv.Itoa(2*v.Turn))
	}
	return s.CommandLine("transcript", "fork", v.Room, "--at", "t"+strconv.Itoa(v.Turn), "--as", name) + " && " +
		s.CommandLine(args...)
}

// unusedName returns the first of ROOM-2, ROOM-3 and so on that is no room's id.
// A log that cannot be read gives ROOM-2.
func (s *foreground) unusedName(id string) string {
	var rooms []log.Info
	if db, err := s.ReadLog(); err == nil {
		rooms, _ = db.Rooms(context.Background()) // the damaged ones are listed too
		db.Close()
	}
	for n := 2; ; n++ {
		name := id + "-" + strconv.Itoa(n)
		if !slices.ContainsFunc(rooms, func(r log.Info) bool { return r.Room == name }) {
			return name
		}
	}
}

// otherPolicy names a built-in policy in place of one that has failed.
func otherPolicy(failed string) string {
	if failed == "roundrobin" {
		return "mention"
	}
	return "roundrobin"
}
