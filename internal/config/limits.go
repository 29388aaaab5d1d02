package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// A limitKey is a key of limits: with the field that holds it: a pointer to an
// int, an int64 or a duration. Money is in the currency's unit as written, and in
// millionths in the field.
type limitKey struct {
	name  string
	field any
	money bool
}

// limitKeys returns the keys of limits: in the order of the schema.
func limitKeys(l *room.Limits) []limitKey {
	return []limitKey{
		{"maxTurns", &l.MaxTurns, false},
		{"maxDuration", &l.MaxDuration, false},
		{"maxFailures", &l.MaxFailures, false},
		{"maxTokens", &l.MaxTokens, false},
		{"maxCost", &l.MaxCost, true},
		{"maxDeclines", &l.MaxDeclines, false},
		{"maxHops", &l.MaxHops, false},
		{"maxCalls", &l.MaxCalls, false},
		{"maxOutputChars", &l.MaxOutput, false},
		{"turnTimeout", &l.TurnTimeout, false},
		{"toolTurnTimeout", &l.ToolTurnTimeout, false},
		{"remoteTimeout", &l.RemoteTimeout, false},
		{"bidTimeout", &l.BidTimeout, false},
		{"startTimeout", &l.StartTimeout, false},
		{"declineRetry", &l.DeclineRetry, false},
		{"maxToolRounds", &l.MaxToolRounds, false},
		{"maxViolations", &l.MaxViolations, false},
		{"sameText", &l.SameText, false},
		{"sameTextOf", &l.SameTextOf, false},
		{"maxInternal", &l.MaxInternal, false},
		{"maxPingPong", &l.MaxPingPong, false},
		{"maxRing", &l.MaxRing, false},
		{"pairRate", &l.PairRate, false},
		{"pairBurst", &l.PairBurst, false},
		{"ackTimeout", &l.AckTimeout, false},
		{"maxAckAttempts", &l.MaxAckAttempts, false},
		{"permissionTimeout", &l.PermissionTimeout, false},
		{"draftTimeout", &l.DraftTimeout, false},
	}
}

// SetLimit sets the limit that assignment names, NAME=VALUE with the names and
// values of room.yaml.
func SetLimit(l *room.Limits, assignment string) error {
	name, value, _ := strings.Cut(assignment, "=")
	var names []string
	for _, k := range limitKeys(l) {
		if k.name != name {
			names = append(names, k.name)
			continue
		}
		if want := k.set(strings.TrimSpace(value)); want != "" {
			return limitError(fmt.Sprintf("%q is no value of %s", value, name), fmt.Sprintf("write %s, such as %s", want, k.example()))
		}
		return nil
	}
	return limitError(fmt.Sprintf("there is no limit %q", name), cmp.Or(Suggest(name, names), "the limits are "+strings.Join(names, ", ")))
}

func limitError(what, fix string) error {
	return &problem.Error{Code: "CLI-LIMIT", What: term.Line(what), Fix: fix}
}

// Bounds of limits, as in room.schema.json.
const (
	maxCount  = 1_000_000_000
	maxAmount = 1_000_000
)

// set sets the field. It returns what is wanted instead of an invalid value.
func (k limitKey) set(value string) (want string) {
	if d, ok := k.field.(*time.Duration); ok {
		v, err := time.ParseDuration(value)
		if err != nil || v < time.Millisecond || v > maxDuration {
			return "a duration of 1ms to 366 days"
		}
		*d = v
		return ""
	}
	if k.money {
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(v) || v > maxAmount || millionths(v) < 1 {
			return fmt.Sprintf("an amount of at most %d in the currency of the prices", maxAmount)
		}
		*k.field.(*int64) = millionths(v)
		return ""
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 || n > maxCount {
		return fmt.Sprintf("a whole number of 1 to %d", maxCount)
	}
	switch f := k.field.(type) {
	case *int:
		*f = int(n)
	case *int64:
		*f = n
	}
	return ""
}

func (k limitKey) example() string {
	switch _, duration := k.field.(*time.Duration); {
	case duration:
		return k.name + "=15m"
	case k.money:
		return k.name + "=2.50"
	}
	return k.name + "=60"
}

// value returns the field as room.yaml has it.
func (k limitKey) value() string {
	switch f := k.field.(type) {
	case *time.Duration:
		return formatDuration(*f)
	case *int:
		return strconv.Itoa(*f)
	case *int64:
		if k.money {
			return human.Money(*f)
		}
		return strconv.FormatInt(*f, 10)
	}
	return ""
}

// ChangedLimits returns, as NAME=VALUE, the limits of now that differ from those
// of before.
func ChangedLimits(before, now room.Limits) (assignments []string) {
	old := limitKeys(&before)
	for i, k := range limitKeys(&now) {
		if v := k.value(); v != old[i].value() {
			assignments = append(assignments, k.name+"="+v)
		}
	}
	return assignments
}

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
		"remoteTimeout": l.RemoteTimeout, "bidTimeout": l.BidTimeout, "startTimeout": l.StartTimeout, "declineRetry": l.DeclineRetry,
		"permissionTimeout": l.PermissionTimeout, "draftTimeout": l.DraftTimeout,
	} {
		if time.Duration(t) > total {
			never(key, "the room ends after "+human.Duration(total))
		}
	}
	if l.MaxCost > 0 && !slices.ContainsFunc(w.Participants, (*wireParticipant).costs) && !d.isBroken("participants") {
		never("maxCost", "no participant has a price, and no agent states its cost")
	}
	for i, s := range w.Participants {
		if s == nil {
			continue
		}
		if time.Duration(s.Timeout) > total {
			d.warnUnlessBroken(participantPath(i, "timeout"), "ROOM-LIMIT", "can never be reached: the room ends after "+human.Duration(total), "")
		}
		d.checkBudget(i, s)
		if l.MaxTokens > 0 && s.MaxTokens > l.MaxTokens {
			d.warnUnlessBroken(participantPath(i, "maxTokens"), "ROOM-LIMIT", fmt.Sprintf("can never be reached: the room ends after %d tokens", l.MaxTokens), "")
		}
	}
}

// costs reports whether anything the participant does may have a cost.
func (w *wireParticipant) costs() bool {
	return w != nil && (w.Price.Input > 0 || w.Price.Output > 0 || w.Endpoint != nil && w.Endpoint.Kind != KindScripted && w.Endpoint.Kind != KindCommand)
}

// A namedBudget is a window of a budget that has limits.
type namedBudget struct {
	name string
	wireAmounts
}

func (w wireBudget) windows() (windows []namedBudget) {
	for _, b := range []namedBudget{{"hour", w.Hour}, {"day", w.Day}, {"room", w.Room}} {
		if b.wireAmounts != (wireAmounts{}) {
			windows = append(windows, b)
		}
	}
	return windows
}

// checkBudget warns of limits of a participant that are never reached.
func (d *document) checkBudget(i int, s *wireParticipant) {
	for _, b := range s.Budget.windows() {
		if b.Cost > 0 && !s.costs() {
			d.warnUnlessBroken(participantPath(i, "budget", b.name, "cost"), "ROOM-LIMIT", "can never be reached: "+s.ID+" has no price, and does not state its cost", "")
		}
	}
	hour, day := s.Budget.Hour, s.Budget.Day
	for key, above := range map[string]bool{
		"tokens": day.Tokens > 0 && hour.Tokens > day.Tokens, "cost": day.Cost > 0 && hour.Cost > day.Cost, "turns": day.Turns > 0 && hour.Turns > day.Turns,
		"calls": day.Calls > 0 && hour.Calls > day.Calls, "toolCalls": day.ToolCalls > 0 && hour.ToolCalls > day.ToolCalls,
	} {
		if above {
			d.warnUnlessBroken(participantPath(i, "budget", "hour", key), "ROOM-LIMIT", "can never be reached: the budget of the day is less", "")
		}
	}
}

// checkUsage warns of limits on tokens and cost that count estimates, because an agent
// states no usage.
func (d *document) checkUsage(w wireRoom) {
	rough := func(path []string, who string) {
		d.warnUnlessBroken(path, "ROOM-USAGE", who+" may state no usage; its tokens are then estimated from the text, so the limit binds roughly",
			"maxTurns and maxDuration bind exactly")
	}
	var unknown []string
	for i, s := range w.Participants {
		if s == nil || s.Endpoint == nil || s.Endpoint.statesUsage() {
			continue
		}
		unknown = append(unknown, s.ID)
		if s.MaxTokens > 0 {
			rough(participantPath(i, "maxTokens"), s.ID)
		}
		for _, b := range s.Budget.windows() {
			if b.Tokens > 0 || b.Cost > 0 {
				rough(participantPath(i, "budget", b.name), s.ID)
			}
		}
	}
	for key, set := range map[string]bool{"maxTokens": w.Limits.MaxTokens > 0, "maxCost": w.Limits.MaxCost > 0} {
		if set && len(unknown) > 0 {
			rough([]string{"limits", key}, strings.Join(unknown, ", "))
		}
	}
}

// formatDuration formats a duration as room.yaml has it, without zero parts.
func formatDuration(t time.Duration) string {
	s := t.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if len(s) > len(zero) && s[len(s)-len(zero):] == zero {
			s = s[:len(s)-2]
		}
	}
	return s
}
