package config

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/folkmoot/moot/room"
)

// checkLimits warns of limits that are never reached, because another limit is
// always reached first.
func (d *document) checkLimits(w wireRoom) {
	l, def := w.Limits, room.Defaults(w.OneToOne)
	turns, total := cmp.Or(l.MaxTurns, def.MaxTurns), cmp.Or(time.Duration(l.MaxDuration), def.MaxDuration)
	compared := cmp.Or(l.SameTextOf, def.SameTextOf)
	never := func(key, why string) {
		d.warnUnlessBroken([]string{"limits", key}, "ROOM-LIMIT", "can never be reached: "+why, "")
	}
	if l.MaxFailures > turns {
		never("maxFailures", fmt.Sprintf("the room ends after %d turns", turns))
	}
	if l.SameText > compared {
		never("sameText", fmt.Sprintf("only the last %d messages are compared", compared))
	}
	for key, t := range map[string]duration{
		"turnTimeout": l.TurnTimeout, "toolTurnTimeout": l.ToolTurnTimeout,
		"remoteTimeout": l.RemoteTimeout, "bidTimeout": l.BidTimeout, "declineRetry": l.DeclineRetry,
	} {
		if time.Duration(t) > total {
			never(key, fmt.Sprintf("the room ends after %s", formatDuration(total)))
		}
	}
	priced := func(s *wireParticipant) bool { return s != nil && (s.Price.Input > 0 || s.Price.Output > 0) }
	if l.MaxCost > 0 && !slices.ContainsFunc(w.Participants, priced) && !d.isBroken("participants") {
		never("maxCost", "no participant has a price")
	}
	for i, s := range w.Participants {
		if s == nil {
			continue
		}
		if time.Duration(s.Timeout) > total {
			d.warnUnlessBroken(participantPath(i, "timeout"), "ROOM-LIMIT", "can never be reached: the room ends after "+formatDuration(total), "")
		}
		if l.MaxTokens > 0 && s.MaxTokens > l.MaxTokens {
			d.warnUnlessBroken(participantPath(i, "maxTokens"), "ROOM-LIMIT", fmt.Sprintf("can never be reached: the room ends after %d tokens", l.MaxTokens), "")
		}
	}
}

// formatDuration formats a duration without zero parts.
func formatDuration(t time.Duration) string {
	s := t.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if len(s) > len(zero) && s[len(s)-len(zero):] == zero {
			s = s[:len(s)-2]
		}
	}
	return s
}
