package foreign

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/transcripts"
)

// fuzz feeds a reader. It must return conversations that the neutral format
// accepts, with a report that adds up, or a *problem.Error with a place.
func fuzz(f *testing.F, format Format, seeds ...[]byte) {
	for file, of := range fixtures {
		if of != format {
			continue
		}
		content, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, content)
	}
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, o := range []Options{{Format: format, Strict: true}, {Format: format}, {}} {
			_, all, err := readWith(t, content, "fuzz", o)
			for _, c := range all {
				sound(t, c)
			}
			if p, ok := errors.AsType[*problem.Error](err); err != nil && (!ok || p.Where == "" || p.Fix == "" || p.Code == "") {
				t.Errorf("not a problem with a place and a fix: %v", err)
			}
		}
	})
}

// silentSpans have a message, a declined round and a passed turn.
const silentSpans = `{"resourceSpans":[{"scopeSpans":[{"spans":[
{"traceId":"1","spanId":"2","endTimeUnixNano":"1","attributes":[{"key":"gen_ai.agent.id","value":{"stringValue":"a"}},{"key":"moot.participant.kind","value":{"stringValue":"agent"}},{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"parts\":[{\"content\":\"hi\"}]}]"}}]},
{"traceId":"1","spanId":"3","endTimeUnixNano":"2","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"moot.policy.decide"}},{"key":"moot.decision","value":{"stringValue":"decline"}},{"key":"moot.clock_s","value":{"stringValue":"1"}},{"key":"moot.silent","value":{"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":"b"}]}}}]},
{"traceId":"1","spanId":"4","endTimeUnixNano":"3","attributes":[{"key":"gen_ai.agent.id","value":{"stringValue":"b"}},{"key":"moot.participant.kind","value":{"stringValue":"human"}},{"key":"moot.decision","value":{"stringValue":"pass"}}]}]}]}]}`

func FuzzAutoGen(f *testing.F)      { fuzz(f, AutoGen) }
func FuzzAutoGenState(f *testing.F) { fuzz(f, AutoGenState) }
func FuzzMagenticOne(f *testing.F)  { fuzz(f, MagenticOne) }
func FuzzClaudeCode(f *testing.F)   { fuzz(f, ClaudeCode) }
func FuzzCodex(f *testing.F)        { fuzz(f, Codex) }
func FuzzOTel(f *testing.F) {
	fuzz(f, OTel, []byte(silentSpans), []byte(strings.ReplaceAll(silentSpans, transcripts.AttrKind, "kind")))
}
func FuzzIRC(f *testing.F)      { fuzz(f, IRC) }
func FuzzOpenAI(f *testing.F)   { fuzz(f, OpenAI) }
func FuzzA2A(f *testing.F)      { fuzz(f, A2A) }
func FuzzWebVTT(f *testing.F)   { fuzz(f, WebVTT) }
func FuzzSRT(f *testing.F)      { fuzz(f, SRT) }
func FuzzOpenCode(f *testing.F) { fuzz(f, OpenCode) }

func FuzzHermes(f *testing.F) { fuzz(f, Hermes) }
func FuzzGemini(f *testing.F) { fuzz(f, Gemini) }
func FuzzQwen(f *testing.F)   { fuzz(f, Qwen) }

func FuzzDiscord(f *testing.F)   { fuzz(f, Discord) }
func FuzzMatrix(f *testing.F)    { fuzz(f, Matrix) }
func FuzzInspect(f *testing.F)   { fuzz(f, Inspect) }
func FuzzLangSmith(f *testing.F) { fuzz(f, LangSmith) }

func FuzzSlack(f *testing.F) {
	fuzz(f, Slack, zipped(f, "users.json", slackUsers, "shop/2026-02-02.json", `[{"type":"message","user":"U1","text":"<@U2> x","ts":"1.5"}]`))
}

// FuzzSlackDay feeds the files inside a Slack export.
func FuzzSlackDay(f *testing.F) {
	f.Add([]byte(`[{"type":"message","user":"U1","text":"<@U2|x> &amp;","ts":"1.5","thread_ts":"1.0"}]`), []byte(slackUsers), []byte(slackChannels))
	f.Fuzz(func(t *testing.T, day, users, channels []byte) {
		_, all, err := read(t, zipped(t, "users.json", string(users), "channels.json", string(channels), "shop/2026-02-02.json", string(day)), "f", "")
		for _, c := range all {
			sound(t, c)
		}
		if p, ok := errors.AsType[*problem.Error](err); err != nil && (!ok || p.Where == "") {
			t.Errorf("not a problem with a place: %v", err)
		}
	})
}
