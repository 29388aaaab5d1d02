package acp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/endpointtest"
)

// fixtureVar is the environment variable that makes this test binary an agent
// with the scenario in it.
const fixtureVar = "MOOT_FIXTURE"

// hangGuard is for what happens as soon as the machine is free: only a failed test
// takes it in full.
const hangGuard = time.Minute

func TestMain(m *testing.M) {
	switch s := os.Getenv(fixtureVar); s {
	case "":
		goleak.VerifyTestMain(m)
	case "orphan":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		select {}
	case "script":
		(&fixture{Reader: bufio.NewReaderSize(os.Stdin, 64<<10)}).play()
	default:
		(&fixture{Reader: bufio.NewReaderSize(os.Stdin, 64<<10), scenario: endpointtest.Scenario(s)}).run()
	}
}

// A fixture is an agent that does not use the package under test.
type fixture struct {
	*bufio.Reader
	scenario endpointtest.Scenario
	sessions int
	turns    int
	open     string // id of the latest prompt
	session  string // of that prompt
	text     string // of its newest message
	limit    int    // of the answer, in characters
	working  bool   // it has no response
}

type obj = map[string]any

// A received is a message of the client.
type received struct {
	ID     json.RawMessage
	Method string
	Params struct {
		SessionID string
		Prompt    []struct{ Text string }
	}
	Result struct {
		Outcome struct{ Outcome, OptionID string }
	}
}

func (f *fixture) run() {
	if f.scenario == endpointtest.Stubborn {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), fixtureVar+"=orphan")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	for {
		line, err := f.ReadBytes('\n')
		if err == io.EOF {
			if f.scenario == endpointtest.Stubborn {
				select {}
			}
			return
		}
		var m received
		if err := json.Unmarshal(line, &m); err != nil {
			fmt.Fprintln(os.Stderr, "bad message:", err)
			os.Exit(9)
		}
		f.handle(m)
	}
}

func (f *fixture) handle(m received) {
	switch m.Method {
	case "initialize":
		answer(m.ID, obj{"protocolVersion": 1, "agentCapabilities": obj{}, "agentInfo": obj{"name": "fixture", "version": "1.2.3"}})
	case "session/new":
		if f.scenario == "exit-in-new" && firstTime("new") {
			f.exit("")
		}
		if f.scenario == "no-session" {
			return
		}
		if f.scenario == "signed-out" {
			emit(obj{"id": m.ID, "error": obj{"code": -32000, "message": "Authentication required"}})
			return
		}
		if f.scenario == "says-signed-out" {
			emit(obj{"method": "_auth/status_update", "params": obj{"authStatus": obj{"kind": "none", "label": "Not logged in"}}})
		}
		f.sessions++
		answer(m.ID, obj{"sessionId": fmt.Sprint("s", f.sessions)})
		if f.scenario == endpointtest.Deaf {
			select {}
		}
	case "session/prompt":
		f.turns++
		f.open, f.session = string(m.ID), m.Params.SessionID
		prompt := m.Params.Prompt[len(m.Params.Prompt)-1].Text
		f.text, f.limit, f.working = endpointtest.Newest(prompt), 1_000_000, true
		if _, limit, ok := strings.Cut(prompt, "Answer in at most "); ok {
			fmt.Sscan(limit, &f.limit)
		}
		f.answer()
	case "session/cancel":
		f.cancelled()
	case "": // the response to a permission request
		f.permitted(m.Result.Outcome.Outcome, m.Result.Outcome.OptionID)
	default:
		emit(obj{"id": m.ID, "error": obj{"code": -32601, "message": "no such method: " + m.Method}})
	}
}

// firstTime reports whether it is called for the first time in this folder. It
// lets an agent behave otherwise in its next process.
func firstTime(what string) bool {
	file, err := os.OpenFile(what, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	file.Close()
	return true
}

func emit(o obj) {
	o["jsonrpc"] = "2.0"
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(b, '\n'))
}

func answer(id any, result any) { emit(obj{"id": id, "result": result}) }

func (f *fixture) update(o obj) {
	emit(obj{"method": "session/update", "params": obj{"sessionId": f.session, "update": o}})
}

func (f *fixture) say(text string) {
	f.update(obj{"sessionUpdate": "agent_message_chunk", "content": obj{"type": "text", "text": text}})
}

func (f *fixture) think(text string) {
	f.update(obj{"sessionUpdate": "agent_thought_chunk", "content": obj{"type": "text", "text": text}})
}

// end ends the turn.
func (f *fixture) end(stop string) { f.endWith(obj{"stopReason": stop}) }

func (f *fixture) endWith(result obj) {
	answer(json.RawMessage(f.open), result)
	f.working = false
}

func (f *fixture) answerWell() {
	text := []rune(endpointtest.Answer(f.text))
	f.say(string(text[:min(len(text), f.limit)]))
	f.end("end_turn")
}

func (f *fixture) cancelled() {
	switch f.scenario {
	case endpointtest.Hang, endpointtest.Stubborn, "cancel-ignored":
		return
	}
	switch {
	case !f.working:
	case f.scenario == endpointtest.Late:
		f.answerWell()
	default:
		f.end("cancelled")
	}
}

func (f *fixture) answer() {
	first := f.turns == 1
	switch f.scenario {
	case endpointtest.Refuses:
		f.say("not mine")
		f.end("refusal")
	case endpointtest.Errors:
		emit(obj{"id": json.RawMessage(f.open), "error": obj{"code": -32603, "message": "out of order"}})
	case endpointtest.Stubborn, endpointtest.Hang:
		f.think("working")
	case endpointtest.Late:
		if first {
			f.think("working")
			return
		}
		f.answerWell()
	case endpointtest.Duplicate:
		f.answerWell()
		f.end("end_turn")
	case endpointtest.Foreign:
		answer(4711, obj{"stopReason": "end_turn"})
		f.answerWell()
	case endpointtest.Noisy:
		b, _ := json.Marshal(obj{"jsonrpc": "2.0", "method": "session/update", "params": obj{
			"sessionId": f.session, "update": obj{"sessionUpdate": "agent_message_chunk", "content": obj{"type": "text", "text": endpointtest.Answer(f.text)}},
		}})
		fmt.Print("starting up\n\x1b[31mwarning\x1b[0m\n\n{not json\n\x00\x00\n[1,2]\n")
		fmt.Printf("\ufeff\x1b[2K\x00%s\x00\r\n", b)
		f.end("end_turn")
	case endpointtest.Complaining:
		fmt.Fprint(os.Stderr, strings.Repeat("warning\n", 100_000))
		f.answerWell()
	default:
		if !first || !f.spoil() {
			f.answerWell()
		}
	}
}

// spoil gives a bad first answer. It reports false if the scenario has none.
func (f *fixture) spoil() bool {
	switch f.scenario {
	case endpointtest.Flooding:
		fmt.Print(strings.Repeat("blah\n", 11))
		f.end("end_turn")
	case endpointtest.Torn:
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sess\n")
		f.answerWell()
	case endpointtest.Oversize:
		f.say(strings.Repeat("ü", 1001))
		f.end("end_turn")
	case endpointtest.Overlong:
		f.say(strings.Repeat("x", 200<<10))
		f.end("end_turn")
	case endpointtest.Exits:
		f.exit("")
	case endpointtest.ExitsHalf:
		f.exit(`{"jsonrpc":"2.0","method":"session/up`)
	case endpointtest.ExitsAfter, endpointtest.Mortal:
		f.answerWell()
		os.Exit(3)
	default:
		return f.attack()
	}
	return true
}

// exit writes a last text and exits.
func (f *fixture) exit(last string) {
	fmt.Print(last)
	fmt.Fprintln(os.Stderr, "goodbye")
	os.Exit(3)
}
