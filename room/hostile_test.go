package room_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A bench is a room that gets commands directly.
type bench struct {
	*testing.T
	script
}

func opened(t *testing.T, line string) *bench {
	b := &bench{T: t}
	b.play("open "+line, "claim")
	return b
}

func discard() *strings.Builder { return new(strings.Builder) }

func (b *bench) play(lines ...string) {
	b.Helper()
	for _, l := range lines {
		b.do(b.T, discard(), l)
	}
}

// act executes a command. It checks that the events can be stored, and that the
// fold of the stored events equals the state.
func (b *bench) act(actor string, do room.Act) error {
	b.Helper()
	evs, err := b.state.Decide(room.Command{Actor: actor, Do: do}, room.Now{Wall: time.Unix(1_800_000_000, 0), Clock: b.clock})
	for _, e := range evs {
		if _, err := room.MarshalEvent(e); err != nil {
			b.Fatalf("the log cannot hold %s: %v", e.Body.Type(), err)
		}
		if why := b.state.Follows(e); why != "" && e.Seq > 1 {
			b.Errorf("%s does not follow: %s", e.Body.Type(), why)
		}
		b.state.Apply(e)
		b.log = append(b.log, e)
	}
	if folded := clone(b.T, b.log); !reflect.DeepEqual(folded, b.state) {
		b.Fatal("the fold of the log is not the live state")
	}
	return err
}

func (b *bench) replied(do room.Replied) {
	b.Helper()
	do.Turn, do.Request, do.Outcome = b.turn(), b.request(), endpoint.Said
	if err := b.act("a", do); err != nil {
		b.Error(err)
	}
}

const bad = "\xff\xfe no UTF-8 \xc0"

var huge = strings.Repeat("x", 5<<20)

// A number outside 0 to 1 counts as not stated, and can be stored.
func TestHostileShares(t *testing.T) {
	nan, over := math.NaN(), 5.0
	for name, v := range map[string]*float64{"NaN": &nan, "over": &over} {
		t.Run("confidence "+name, func(t *testing.T) {
			b := opened(t, "a/semi_auto b")
			b.play("speak a go")
			b.replied(room.Replied{Reply: endpoint.Reply{Text: "sure", Confidence: v}})
			if b.state.Turn == nil || b.state.Turn.Draft == nil || b.state.Turn.Draft.Why != "confidence unknown" {
				t.Error("a confidence that is none was believed")
			}
		})
		t.Run("bid "+name, func(t *testing.T) {
			b := opened(t, "a b bids")
			if err := b.act("a", room.BidMade{Decision: 1, Participant: "a", Bid: policy.Bid{Score: *v, Reason: bad}}); err != nil {
				t.Error(err)
			}
			if got := b.log[len(b.log)-1].Body.(room.BidPosted); got.Failed == "" {
				t.Errorf("a bid of %v was taken", *v)
			}
		})
		t.Run("decision "+name, func(t *testing.T) {
			b := opened(t, "a b")
			d := policy.Speak("a", "go")
			d.Confidence = v
			if err := b.act(room.ActorPolicy, room.Decided{Decision: d, Record: policy.Record{Decision: 1, Through: b.state.Seq}}); err != nil {
				t.Error(err)
			}
			if b.state.Phase != room.PhasePaused || b.state.Ending.Name != "run.bad_output" {
				t.Errorf("the room is %s: %+v", b.state.Phase, b.state.Ending)
			}
		})
	}
}

// TestHostileTexts checks that a text of people or agents is stored so that the
// log returns it unchanged, and is refused or cut if no event can hold it.
func TestHostileTexts(t *testing.T) {
	b := opened(t, "a/manual b me/human")
	b.play("speak a go")
	b.replied(room.Replied{Reply: endpoint.Reply{Text: bad}})
	for _, do := range []room.Act{
		room.Edit{Draft: b.draft(""), Text: bad},
		room.Say{Text: bad},
		room.Pause{Reason: bad + huge},
		room.Resume{},
		room.SetStanding{Participant: "b", Standing: room.Muted, Reason: bad + huge},
	} {
		if err := b.act("me", do); err != nil {
			t.Errorf("%T: %v", do, err)
		}
	}
	for _, do := range []room.Act{room.Say{Text: huge}, room.Say{Text: "hi", Kind: bad}, room.Edit{Draft: b.draft(""), Text: huge}, room.Say{Text: "hi", Visibility: "secret"}} {
		if err := b.act("me", do); err == nil {
			t.Errorf("%T was taken", do)
		}
	}
	b.play("approve", "speak a go")
	if err := b.act("a", room.Failed{Turn: b.turn(), Request: b.request(), Code: "failed", Error: bad + huge}); err != nil {
		t.Error(err)
	}
	b.play("speak a go")
	if err := b.act("a", room.Replied{Turn: b.turn(), Request: b.request(), Reply: endpoint.Reply{Outcome: endpoint.Refused, Reason: bad + huge}}); err != nil {
		t.Error(err)
	}
}

func TestHostileIDs(t *testing.T) {
	b := opened(t, "a me/human")
	for _, id := range []string{huge, bad, "two\nlines", "r1.9"} {
		if err := b.act("me", room.Say{Text: "hello", MessageID: id}); err == nil {
			t.Errorf("message id %.20q was taken", id)
		}
	}
	if _, err := b.state.Decide(room.Command{ID: huge, Actor: "me", Do: room.Say{Text: "hello"}}, room.Now{}); err == nil {
		t.Error("a command id of 5 MiB was taken")
	}
}

// An impossible usage is replaced by the estimate, so that budgets neither
// overflow nor grow.
func TestHostileUsage(t *testing.T) {
	for _, u := range []room.Usage{
		{Known: true, Input: math.MaxInt64, Output: math.MaxInt64},
		{Known: true, Input: 1 << 62, Output: 1 << 62},
		{Known: true, Input: -5, Output: 3},
		{Known: true, Input: 1 << 40},
	} {
		b := opened(t, "a/price:15000000 b maxTokens=1000000000 maxCost=100000000000")
		b.play("speak a go")
		b.replied(room.Replied{Reply: endpoint.Reply{Text: "sure", Usage: u}})
		if tally := b.state.Tally; tally.Tokens != 11 || tally.Cost < 0 || b.state.Phase != room.PhaseLive {
			t.Errorf("usage %+v was charged as %d tokens, %d millionths", u, tally.Tokens, tally.Cost)
		}
	}
	b := opened(t, "a/price:9000000000000000000 b maxCost=100")
	b.play("speak a go")
	if b.state.Ending.Name != "maxCost" {
		t.Errorf("a price that runs over is not noticed: %+v", b.state.Ending)
	}
}

// A negative limit means the default and does not break the fold.
func TestHostileLimits(t *testing.T) {
	b := opened(t, "a b me/human")
	if err := b.act("me", room.SetLimits{Limits: room.Limits{MaxTurns: -1, SameTextOf: -5, MaxDuration: -1, MaxFailures: -1}}); err != nil {
		t.Error(err)
	}
	if !reflect.DeepEqual(b.state.Limits, room.Defaults(false)) {
		t.Errorf("limits %+v", b.state.Limits)
	}
	b.play("speak a go", "said hello")
	if b.state.Phase != room.PhaseLive {
		t.Errorf("ended as %+v", b.state.Ending)
	}
	d := policy.Decline("later")
	for _, ms := range []int64{math.MaxInt64, 1 << 62, 1 << 45} {
		d.RetryMS = ms
		b := opened(t, "a")
		if err := b.act(room.ActorPolicy, room.Decided{Decision: d, Record: policy.Record{Decision: 1, Through: b.state.Seq}}); err != nil {
			t.Error(err)
		}
		if b.state.RetryAt != time.Minute {
			t.Errorf("a retry after %d ms is due at %v", ms, b.state.RetryAt)
		}
	}
}
