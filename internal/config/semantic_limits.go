package config

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/folkmoot/moot/room"
)

// checkLimits warns of limits that can never bind, because another one always
// does first.
func (d *document) checkLimits(w wireRoom) {
	l, def := w.Limits, room.Defaults(w.OneToOne)
	turns, total := l.MaxTurns, time.Duration(l.MaxDuration)
	if turns == 0 {
		turns = def.MaxTurns
	}
	if total == 0 {
		total = def.MaxDuration
	}
	never := func(key, why string) {
		d.warnAt([]string{"limits", key}, "ROOM-LIMIT", "can never be reached: "+why, "")
	}
	if l.MaxFailures > turns {
		never("maxFailures", fmt.Sprintf("the room ends after %d turns", turns))
	}
	if l.SameText > l.sameTextOf(def) {
		never("sameText", fmt.Sprintf("only the last %d messages are compared", l.sameTextOf(def)))
	}
	for key, t := range map[string]duration{
		"turnTimeout": l.TurnTimeout, "toolTurnTimeout": l.ToolTurnTimeout,
		"remoteTimeout": l.RemoteTimeout, "bidTimeout": l.BidTimeout, "declineRetry": l.DeclineRetry,
	} {
		if time.Duration(t) > total {
			never(key, fmt.Sprintf("the room ends after %s", short(total)))
		}
	}
	if l.MaxCost > 0 && !priced(w) && !d.isBroken("participants") {
		never("maxCost", "no participant has a price")
	}
	for i, s := range w.Participants {
		if s == nil {
			continue
		}
		if time.Duration(s.Timeout) > total {
			d.warnAt(at(i, "timeout"), "ROOM-LIMIT", "can never be reached: the room ends after "+short(total), "")
		}
		if l.MaxTokens > 0 && s.MaxTokens > l.MaxTokens {
			d.warnAt(at(i, "max_tokens"), "ROOM-LIMIT", fmt.Sprintf("can never be reached: the room ends after %d tokens", l.MaxTokens), "")
		}
	}
}

func (w wireLimits) sameTextOf(def room.Limits) int {
	if w.SameTextOf > 0 {
		return w.SameTextOf
	}
	return def.SameTextOf
}

func priced(w wireRoom) bool {
	for _, s := range w.Participants {
		if s != nil && (s.Price.Input > 0 || s.Price.Output > 0) {
			return true
		}
	}
	return false
}

// short writes a duration without its zero parts.
func short(t time.Duration) string {
	s := t.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if len(s) > len(zero) && s[len(s)-len(zero):] == zero {
			s = s[:len(s)-2]
		}
	}
	return s
}

// checkSettings validates the policy's settings against its own schema. In it
// the format "participant" marks a value that must be a participant's id.
func (d *document) checkSettings(w wireRoom, o Options) {
	if o.SettingsSchema == nil || d.isBroken("policy", "settings") {
		return
	}
	text, err := o.SettingsSchema(w.Policy.Use)
	if err != nil {
		d.reportAt([]string{"policy", "use"}, "ROOM-POLICY", err.Error(), "")
		return
	}
	if len(text) == 0 || string(text) == "null" {
		return
	}
	if d.isBroken("participants") {
		w.Participants = nil
	}
	c, err := compileSettings(text, w)
	if err != nil {
		d.reportAt([]string{"policy", "use"}, "ROOM-POLICY", err.Error(), "")
		return
	}
	settings := any(map[string]any{})
	if len(w.Policy.Settings) > 0 {
		if err := json.Unmarshal(w.Policy.Settings, &settings); err != nil {
			return // it was made by json.Marshal
		}
	}
	checker{d: d, c: c, code: "ROOM-SETTINGS", base: []string{"policy", "settings"}}.check(settings)
}
