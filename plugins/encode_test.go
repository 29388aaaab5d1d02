package plugins

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"pgregory.net/rapid"
)

// TestEncoded holds the quick encoder to the contract's own, byte for byte.
func TestEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		if got, want := appendInput(nil, &in), in.AppendJSON(nil); !bytes.Equal(got, want) {
			t.Fatalf("%s\nwant\n%s", got, want)
		}
	})
}

// FuzzEncoded is the same of texts: escapes at every place of a word.
func FuzzEncoded(f *testing.F) {
	for _, s := range []string{
		"", "plain", "\x00\b\f\n\r\t\x1f \x7f", `"\`, "12345678\"", "1234567\\9", "\xff", "a\xe2\x82", "häßlich 漢字 \U0001F600\xf0", "\ufffd\u2028",
		strings.Repeat("long ", 40) + "\x80" + strings.Repeat("€", 9),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		in := policy.Input{Room: s, Constraints: []string{s, "", s}, Events: []policy.Event{{Text: s}}}
		if got, want := appendInput(nil, &in), in.AppendJSON(nil); !bytes.Equal(got, want) {
			t.Fatalf("%s\nwant\n%s", got, want)
		}
	})
}

func anyInput(t *rapid.T) policy.Input {
	text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	texts := rapid.SliceOfN(text, 0, 3)
	number, small, fraction := rapid.Int64(), rapid.IntRange(-2, 200), rapid.Float64()
	raw := rapid.SampledFrom([]policy.JSON{nil, policy.JSON("null"), policy.JSON(`[{"a":1}]`)})
	in := policy.Input{
		ABI: small.Draw(t, "abi"), Init: rapid.Bool().Draw(t, "init"), Room: text.Draw(t, "room"), Decision: number.Draw(t, "decision"),
		Turn: small.Draw(t, "turn"), NowMS: number.Draw(t, "now"), Seed: text.Draw(t, "seed"), Objective: text.Draw(t, "objective"),
		Constraints: texts.Draw(t, "constraints"), Config: raw.Draw(t, "config"), State: raw.Draw(t, "state"),
		Limits: policy.Limits{
			MaxTurns: small.Draw(t, "max"), TurnsLeft: small.Draw(t, "left"), TokensLeft: number.Draw(t, "tokens"), MSLeft: number.Draw(t, "ms"),
		},
		Truncated: rapid.Bool().Draw(t, "truncated"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "agents") {
		a := policy.Agent{
			ID: text.Draw(t, "id"), Name: text.Draw(t, "name"), Kind: text.Draw(t, "kind"), Role: text.Draw(t, "role"),
			Domains: texts.Draw(t, "domains"), Eligible: rapid.Bool().Draw(t, "eligible"), Ineligible: text.Draw(t, "why"),
			Turns: small.Draw(t, "turns"), LastTurn: small.Draw(t, "last"), Failures: small.Draw(t, "failures"),
			Tokens: number.Draw(t, "spent"), AvgMS: number.Draw(t, "avg"), Unread: small.Draw(t, "unread"), Urgent: small.Draw(t, "urgent"),
			Followed: policy.Followed{Last: small.Draw(t, "followed"), LastTwo: small.Draw(t, "two")},
		}
		if f := fraction.Draw(t, "sure"); f > 0 {
			a.Confidence = &f
		}
		if f := fraction.Draw(t, "bid"); f > 0 {
			a.Bid = &policy.Bid{Score: f, Reason: text.Draw(t, "because")}
		}
		in.Agents = append(in.Agents, a)
	}
	for range rapid.IntRange(0, 3).Draw(t, "events") {
		in.Events = append(in.Events, policy.Event{
			Seq: number.Draw(t, "seq"), Turn: small.Draw(t, "at"), From: text.Draw(t, "from"), To: texts.Draw(t, "to"), Kind: text.Draw(t, "sort"),
			Text: text.Draw(t, "text"), Truncated: rapid.Bool().Draw(t, "cut"), Mentions: texts.Draw(t, "mentions"),
			Addressed: texts.Draw(t, "addressed"), Bytes: small.Draw(t, "bytes"),
		})
	}
	return in
}

// What JSON cannot say is left out by both.
func TestEncodedNonFinite(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		in := policy.Input{Agents: []policy.Agent{{Confidence: &f, Bid: &policy.Bid{Score: f}}}}
		if got, want := appendInput(nil, &in), in.AppendJSON(nil); !bytes.Equal(got, want) {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	in, err := policy.DecodeInput(oneKiB().input)
	if err != nil {
		b.Fatal(err)
	}
	var buffer []byte
	b.Run("quick", func(b *testing.B) {
		for b.Loop() {
			buffer = appendInput(buffer[:0], &in)
		}
	})
	b.Run("simple", func(b *testing.B) {
		for b.Loop() {
			buffer = in.AppendJSON(nil)
		}
	})
}
