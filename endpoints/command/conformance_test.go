package command_test

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/command"
	"github.com/folkmoot/moot/endpoints/endpointtest"
)

// fixtureVar is the environment variable that makes this test binary a program
// that behaves as the scenario in it.
const fixtureVar = "MOOT_FIXTURE"

func TestMain(m *testing.M) {
	if s := os.Getenv(fixtureVar); s != "" {
		fixture(endpointtest.Scenario(s))
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// fixture reads a prompt and answers it.
func fixture(s endpointtest.Scenario) {
	switch s {
	case endpointtest.Deaf:
		time.Sleep(time.Hour)
	case endpointtest.Stubborn:
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	}
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	answer := endpointtest.Answer(endpointtest.Newest(string(in)))
	answer = answer[:min(len(answer), 1000)] // the limit of most prompts
	switch s {
	case endpointtest.Errors:
		fmt.Fprintln(os.Stderr, "out of order")
		os.Exit(1)
	case endpointtest.Hang, endpointtest.Stubborn:
		fmt.Println("working")
		time.Sleep(time.Hour)
	case endpointtest.Noisy:
		answer = "\ufeff\x1b[2K\x00\x1b]0;title\x07" + answer[:3] + "\x1b[1m" + answer[3:] + "\x1b[0m\x00\r\n"
	case endpointtest.Complaining:
		fmt.Fprint(os.Stderr, strings.Repeat("warning\n", 100_000))
	}
	fmt.Println(answer)
}

// fixed returns an endpoint whose program is this test binary.
func fixed(t *testing.T, s endpointtest.Scenario) *command.Endpoint {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return command.New(command.Config{
		Command: []string{self}, Dir: t.TempDir(), Env: []string{fixtureVar + "=" + string(s)}, AllowEnv: []string{"GOCOVERDIR"}, Grace: 150 * time.Millisecond,
	})
}

// TestConformance runs the suite of all endpoints. A program without a protocol
// cannot raise signals, bid or break a protocol, so those cases are skipped.
func TestConformance(t *testing.T) {
	endpointtest.Run(t, open)
}

// TestDocumentedAbilities compares docs/agents.md with the suite.
func TestDocumentedAbilities(t *testing.T) {
	endpointtest.Documented(t, "../../docs/agents.md", "command", open)
}

func open(t *testing.T, s endpointtest.Scenario) endpointtest.Endpoint {
	switch s {
	case endpointtest.Hang:
		if path.Base(t.Name()) == "hangs" { // an ended process is not the end of the seat
			return nil
		}
		return fixed(t, s)
	case endpointtest.Echo, endpointtest.Errors, endpointtest.Stubborn, endpointtest.Noisy, endpointtest.Complaining, endpointtest.Deaf, endpointtest.Mortal:
		return fixed(t, s)
	}
	return nil
}
