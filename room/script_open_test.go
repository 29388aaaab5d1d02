package room_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// openAct reads "a b/manual me/human maxTurns=3".
func openAct(t *testing.T, line string) room.Open {
	o := room.Open{Spec: room.Spec{Room: "r1", Objective: "talk", Secret: "s"}}
	var opts []string
	for _, w := range strings.Fields(line) {
		switch {
		case strings.HasPrefix(w, "explore="):
			o.Spec.Explore, _ = strconv.ParseFloat(w[8:], 64)
		case w == "no-objective":
			o.Spec.Objective = ""
		case w == "one-to-one":
			o.Spec.OneToOne = true
		case w == "continue":
			o.Spec.OnRestart = room.RestartContinue
		case w == "bids":
			o.Spec.Policy.Needs.Bids = true
		case w == "observed":
			o.Spec.Observers = []room.Observer{{Device: "dev"}}
		case w == "hints":
			o.Spec.Policy.Hints = true
		case strings.HasPrefix(w, "tokens="):
			o.Spec.Context.Tokens, _ = strconv.Atoi(w[7:])
		case strings.HasPrefix(w, "summary="):
			o.Spec.Context.SummaryTokens, _ = strconv.Atoi(w[8:])
		case strings.Contains(w, "="):
			opts = append(opts, w)
		default:
			o.Participants = append(o.Participants, seat(t, w))
		}
	}
	o.Spec.Limits = limits(t, strings.Join(opts, " "))
	return o
}

// seat reads "id/human", "id/manual/cooldown=2".
func seat(t *testing.T, w string) room.Participant {
	parts := strings.Split(w, "/")
	p := room.Participant{ID: parts[0], Kind: policy.Local, Mode: room.FullAuto}
	for _, o := range parts[1:] {
		k, v, _ := strings.Cut(o, ":")
		switch k {
		case "human", "remote":
			p.Kind = k
		case "manual", "semi_auto":
			p.Mode = room.Mode(k)
		case "remembers":
			p.Remembers = true
		case "session":
			p.Session, p.Remembers, p.NoBids = true, true, true
		case "starts":
			p.Starts = true
		case "startTimeout":
			p.Starts = true
			p.StartTimeout, _ = time.ParseDuration(v)
		case "handoffTo":
			p.HandoffTo = strings.Split(v, ",")
		case "role":
			p.Role = strings.ReplaceAll(v, ".", ":")
		case "moderator":
			p.Moderator = true
		case "cooldown":
			p.Cooldown, _ = strconv.Atoi(v)
		case "maxTokens":
			p.MaxTokens, _ = strconv.ParseInt(v, 10, 64)
		case "budget": // "budget:room.tokens:100"
			k, n, _ := strings.Cut(v, ":")
			window, what, _ := strings.Cut(k, ".")
			b := map[string]*room.Amounts{"hour": &p.Budget.Hour, "day": &p.Budget.Day, "room": &p.Budget.Room}[window]
			figure := map[string]*int64{"tokens": &b.Tokens, "cost": &b.Cost, "turns": &b.Turns, "calls": &b.Calls, "toolCalls": &b.ToolCalls}[what]
			*figure, _ = strconv.ParseInt(n, 10, 64)
		case "price":
			p.Price.Input, _ = strconv.ParseInt(v, 10, 64)
		case "cachedPrice":
			p.Price.CachedInput, _ = strconv.ParseInt(v, 10, 64)
		case "no-bids":
			p.NoBids = true
		case "words":
			p.Review.Words = strings.Split(v, ",")
		default:
			t.Fatalf("unknown option %q of a seat", o)
		}
	}
	return p
}

// handOff reads "dba locks are hers".
func handOff(line string) *endpoint.Handoff {
	to, why, _ := strings.Cut(line, " ")
	return &endpoint.Handoff{To: to, Reason: why}
}

func printHandOff(out *strings.Builder, h *policy.Handoff) {
	if h != nil {
		fmt.Fprintf(out, "  hand-off from %s to %s: %s\n", h.From, h.To, h.Reason)
	}
}

// usage reads "in=120 out=30 cached=90 reasoning=10 cost=1200".
func usage(t *testing.T, line string) (u room.Usage) {
	for _, w := range strings.Fields(line) {
		k, v, _ := strings.Cut(w, "=")
		n, err := strconv.ParseInt(v, 10, 64)
		figure := map[string]*int64{"in": &u.Input, "out": &u.Output, "cached": &u.CachedInput, "reasoning": &u.Reasoning, "cost": &u.Cost}[k]
		if figure == nil || err != nil {
			t.Fatalf("unknown figure %q of a usage", w)
		}
		*figure = n
		u.Known, u.CostKnown = u.Known || k == "in", u.CostKnown || k == "cost"
	}
	return u
}

// elsewhere reads "tokens=90 estimated".
func elsewhere(t *testing.T, agent, line string, at time.Time) room.BudgetCharge {
	c := room.BudgetCharge{ID: "elsewhere", Agent: agent, At: at, Amounts: room.Amounts{Turns: 1}}
	for _, w := range strings.Fields(line) {
		k, v, _ := strings.Cut(w, "=")
		n, _ := strconv.ParseInt(v, 10, 64)
		switch k {
		case "tokens":
			c.Tokens = n
		case "cost":
			c.Cost = n
		case "calls":
			c.Calls = n
		case "toolCalls":
			c.ToolCalls = n
		case "estimated":
			c.Estimated = true
		default:
			t.Fatalf("unknown figure %q of a charge", w)
		}
	}
	return c
}

// spent returns counts of tokens and a cost, with ~ for estimates.
func spent(tokens, cached, reasoning, cost int64, estimated, costEstimated bool) string {
	mark := map[bool]string{true: "~"}
	return fmt.Sprintf("%s%d tokens, %d cached, %d reasoning, cost %s%d", mark[estimated], tokens, cached, reasoning, mark[costEstimated], cost)
}

func limits(t *testing.T, line string) room.Limits {
	var l room.Limits
	for _, w := range strings.Fields(line) {
		k, v, _ := strings.Cut(w, "=")
		n, _ := strconv.Atoi(v)
		switch k {
		case "maxTurns":
			l.MaxTurns = n
		case "maxFailures":
			l.MaxFailures = n
		case "maxTokens":
			l.MaxTokens = int64(n)
		case "maxCost":
			l.MaxCost = int64(n)
		case "maxDeclines":
			l.MaxDeclines = n
		case "maxOutput":
			l.MaxOutput = n
		case "maxViolations":
			l.MaxViolations = n
		case "ackTimeout":
			l.AckTimeout, _ = time.ParseDuration(v)
		case "draftTimeout":
			l.DraftTimeout, _ = time.ParseDuration(v)
		case "maxDuration":
			l.MaxDuration, _ = time.ParseDuration(v)
		default:
			t.Fatalf("unknown limit %q", w)
		}
	}
	return l
}

// describe returns the important fields of a body.
func describe(b room.Body) string {
	switch b := b.(type) {
	case room.Joined:
		return b.Participant.ID
	case room.Claimed:
		return b.Owner
	case room.TurnGranted:
		drawn := ""
		if x := b.Exploration; x != nil {
			drawn = fmt.Sprintf(" choice=%s explored=%t propensity=%.4f kept=%q", x.Choice, x.Explored, x.Propensity, x.Kept)
		}
		return fmt.Sprintf("turn=%d to=%s %q timeout=%v%s", b.Turn, b.Participant, b.Reason, b.Timeout, drawn)
	case room.RoundDeclined:
		return fmt.Sprintf("%q retry=%v", b.Reason, b.Retry)
	case room.MessagePosted:
		m := b.Message
		opening := ""
		if b.Opening {
			opening = " opening"
		}
		return fmt.Sprintf("turn=%d from=%s to=%s %q auto=%t by=%q%s", b.Turn, m.From, m.To, m.Text, b.Auto, m.By, opening)
	case room.PlanChanged:
		return describePlan(b)
	case room.MessageDead:
		return fmt.Sprintf("%s from %s to %s %q: %s %q", b.Message.Kind, b.Message.From, b.Message.To, b.Message.Text, b.Code, b.Reason)
	case room.TurnDrafted:
		return fmt.Sprintf("turn=%d draft=%s why=%q %q", b.Turn, b.Draft, b.Why, b.Message.Text)
	case room.PermissionAsked:
		return fmt.Sprintf("turn=%d %s %s: %s %q always=%t", b.Turn, b.Participant, b.ID, b.Permission.Kind, b.Permission.Title, b.Permission.Always)
	case room.PermissionAnswered:
		return fmt.Sprintf("turn=%d %s %s: allowed=%t always=%t by %s %q", b.Turn, b.Participant, b.ID, b.Allowed, b.Always, b.By, b.Reason)
	case room.TurnInterrupted:
		charged := ""
		if b.Tokens > 0 {
			charged = fmt.Sprintf(" Tokens:%d", b.Tokens)
		}
		return fmt.Sprintf("{Turn:%d Reason:%s%s}", b.Turn, b.Reason, charged)
	case room.BudgetChanged:
		until := ""
		if !b.Until.IsZero() {
			until = " until " + b.Until.UTC().Format(time.TimeOnly)
		}
		return fmt.Sprintf("%s %s %s: %s%s", b.Participant, b.Window, b.Level, b.Text(), until)
	case room.HandoffAsked:
		if b.Refused != "" {
			return fmt.Sprintf("turn=%d %s to %s %q refused: %s", b.Turn, b.From, b.To, b.Reason, b.Refused)
		}
		return fmt.Sprintf("turn=%d %s to %s %q", b.Turn, b.From, b.To, b.Reason)
	case room.TurnPassed:
		return fmt.Sprintf("turn=%d %q", b.Turn, b.Reason)
	case room.TurnFailed:
		return fmt.Sprintf("turn=%d %s: %s", b.Turn, b.Code, b.Error)
	case room.Opened, room.Resumed:
		return ""
	case room.PolicyChanged:
		return b.Policy.Name
	case room.LimitsChanged:
		return ""
	case room.Completed:
		degraded := ""
		if b.Degraded {
			degraded = "degraded "
		}
		return fmt.Sprintf("%s %s%q", b.Cause, degraded, b.Reason)
	case room.SeatChanged:
		failed := ""
		if b.Failed {
			failed = " failed"
		}
		return fmt.Sprintf("%s %s%s %q", b.Participant, b.Standing, failed, b.Reason)
	case room.Paused:
		return fmt.Sprintf("%s %s %q", b.Cause, b.Code, b.Reason)
	}
	return fmt.Sprintf("%+v", b)
}
