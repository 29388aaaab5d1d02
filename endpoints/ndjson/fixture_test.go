package ndjson_test

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
// takes it in full. unanswered is the time-out of a bid that is never answered.
const (
	hangGuard  = time.Minute
	unanswered = 100 * time.Millisecond
)

func TestMain(m *testing.M) {
	if s := os.Getenv(fixtureVar); s != "" {
		(&fixture{Reader: bufio.NewReaderSize(os.Stdin, 64<<10), scenario: endpointtest.Scenario(s)}).run()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// A fixture is an agent that does not use the package under test.
type fixture struct {
	*bufio.Reader
	scenario endpointtest.Scenario
	turns    int
	pids     string // of a stubborn agent and its child
}

type asked struct {
	Type          string
	RequestID     string `json:"request_id"`
	RemoteMessage string `json:"remote_message"`
	Constraints   struct {
		MaxOutputChars int `json:"max_output_chars"`
	}
	Inbox []struct {
		ID  string `json:"message_id"`
		Ack bool   `json:"requires_ack"`
	}
}

type obj = map[string]any

func (f *fixture) run() {
	switch f.scenario {
	case endpointtest.Deaf:
		select {}
	case endpointtest.Stubborn:
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), fixtureVar+"=orphan")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		f.pids = fmt.Sprint(os.Getpid(), child.Process.Pid)
	case "orphan":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		select {}
	}
	for {
		line, err := f.ReadBytes('\n')
		if err == io.EOF {
			if f.scenario == endpointtest.Stubborn {
				select {}
			}
			return
		}
		var q asked
		if err := json.Unmarshal(line, &q); err != nil {
			fmt.Fprintln(os.Stderr, "bad request:", err)
			os.Exit(9)
		}
		f.turns++
		f.answer(q)
	}
}

func emit(o obj) {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(b, '\n'))
}

func sideMessage(to, text string) { emit(obj{"type": "desktop.message", "to": to, "text": text}) }

func (q asked) reply(extra obj) obj {
	text := []rune(endpointtest.Answer(q.RemoteMessage))
	o := obj{
		"type": "desktop.local_prompt.response", "request_id": q.RequestID, "status": "ok", "reason": "",
		"draft_message": string(text[:min(len(text), q.Constraints.MaxOutputChars)]), "metrics": obj{"latency_ms": 1},
	}
	for k, v := range extra {
		o[k] = v
	}
	return o
}

func (f *fixture) answer(q asked) {
	first := f.turns == 1
	switch f.scenario {
	case endpointtest.Empty:
		emit(q.reply(obj{"draft_message": " \n"}))
	case endpointtest.Passes:
		emit(q.reply(obj{"outcome": "passed", "draft_message": "", "reason": "nothing to add"}))
	case endpointtest.Refuses:
		emit(q.reply(obj{"outcome": "refused", "draft_message": "", "reason": "not mine"}))
	case endpointtest.Errors:
		emit(q.reply(obj{"status": "error", "draft_message": "", "reason": "out of order"}))
	case endpointtest.Stated:
		emit(q.reply(obj{"usage": obj{"input_tokens": 120, "output_tokens": 30}, "confidence": 0.75}))
	case endpointtest.Bids:
		if q.Type == "desktop.bid.request" {
			emit(obj{"type": "desktop.bid.response", "request_id": q.RequestID, "bid": 0.25, "reason": "curious"})
			return
		}
		emit(q.reply(nil))
	case endpointtest.SideMessage:
		sideMessage("dba", "psst")
		emit(q.reply(nil))
	case endpointtest.Messages:
		f.handleMail(q)
	case endpointtest.HandsOff:
		emit(q.reply(obj{"handoff": obj{"to": "dba", "reason": "hers"}}))
	case endpointtest.Calls:
		f.decide(q, f.ask(obj{"type": "desktop.call", "call_id": "c1", "agent_name": "dba", "task": "check"}))
	case endpointtest.Stubborn:
		sideMessage("pids", f.pids)
		sideMessage("", "working")
	case endpointtest.Hang:
		sideMessage("", "working")
	case endpointtest.Late:
		if first {
			emit(obj{"type": "desktop.message", "text": "working", "message_id": "m1"})
			f.ReadBytes('\n') // the room takes the message once the turn is over
		}
		emit(q.reply(nil))
	case endpointtest.Duplicate:
		emit(q.reply(nil))
		emit(q.reply(obj{"draft_message": "and again"}))
	case endpointtest.Foreign:
		emit(q.reply(obj{"request_id": "req_of_nobody"}))
		emit(q.reply(nil))
	case endpointtest.WrongTools:
		emit(q.reply(obj{"tool_rounds": 2}))
	default:
		if first {
			f.spoil(q)
			return
		}
		f.answerWell(q)
	}
}

// ask writes a frame and returns why the room refuses it, or "".
func (f *fixture) ask(frame obj) string {
	emit(frame)
	line, _ := f.ReadBytes('\n')
	var a struct {
		Reason string
		Acks   []struct{ Reason string }
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return err.Error()
	}
	for _, one := range a.Acks {
		a.Reason += one.Reason
	}
	return a.Reason
}

// handleMail acknowledges the mail, claims a task and posts its result.
func (f *fixture) handleMail(q asked) {
	refused := ""
	for _, m := range q.Inbox {
		if m.Ack {
			refused += f.ask(obj{"type": "desktop.ack", "message_ids": []string{m.ID}})
		}
	}
	refused += f.ask(obj{"type": "desktop.claim", "task": "t1"})
	refused += f.ask(obj{
		"type": "desktop.message", "message_id": "result", "to": "you", "kind": "result_bundle", "summary": "40 s",
		"payload": obj{"task": "t1"}, "correlation_id": "brief", "requires_ack": true,
	})
	f.decide(q, refused)
}

// decide answers, or passes if the room has refused something.
func (f *fixture) decide(q asked, refused string) {
	if refused != "" {
		emit(q.reply(obj{"outcome": "passed", "draft_message": "", "reason": refused}))
		return
	}
	emit(q.reply(nil))
}

func (f *fixture) answerWell(q asked) {
	b, _ := json.Marshal(q.reply(nil))
	switch f.scenario {
	case endpointtest.Noisy:
		fmt.Print("starting up\n\x1b[31mwarning\x1b[0m\n\n{not json\n\x00\x00\n[1,2]\n")
		fmt.Printf("\ufeff\x1b[2K\x00%s\x00\r\n", b)
		return
	case endpointtest.Complaining:
		fmt.Fprint(os.Stderr, strings.Repeat("warning\n", 100_000))
	}
	os.Stdout.Write(append(b, '\n'))
}

// spoil gives a bad first answer.
func (f *fixture) spoil(q asked) {
	whole, _ := json.Marshal(q.reply(nil))
	switch f.scenario {
	case endpointtest.Flooding:
		fmt.Print(strings.Repeat("blah\n", 11))
	case endpointtest.Torn:
		fmt.Printf("%s\n", whole[:len(whole)/2+20])
	case endpointtest.Oversize:
		emit(q.reply(obj{"draft_message": strings.Repeat("ü", q.Constraints.MaxOutputChars+1)}))
	case endpointtest.Overlong:
		emit(q.reply(obj{"draft_message": strings.Repeat("x", 200<<10)}))
	case endpointtest.Negative:
		emit(q.reply(obj{"usage": obj{"input_tokens": -1, "output_tokens": 0}}))
	case endpointtest.Exits:
		f.exit("")
	case endpointtest.ExitsHalf:
		f.exit(string(whole[:40]))
	case endpointtest.Restarts:
		sideMessage("", fmt.Sprintf("pid %d", os.Getpid()))
		f.exit("")
	case endpointtest.ExitsAfter, endpointtest.Mortal:
		f.answerWell(q)
		os.Exit(3)
	default:
		f.answerWell(q)
	}
}

// exit writes a last text and exits.
func (f *fixture) exit(last string) {
	fmt.Print(last)
	fmt.Fprintln(os.Stderr, "goodbye")
	os.Exit(3)
}
