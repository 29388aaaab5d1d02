package endpointtest

import "strings"

// A Scenario is the behaviour of an agent. Unless the scenario states otherwise,
// the agent answers every prompt with [Answer] of its newest message.
type Scenario string

// Scenarios. An agent whose protocol has no messages shows "working" as live text.
const (
	Echo        Scenario = "echo"
	Empty       Scenario = "empty"       // answers with an empty text
	Passes      Scenario = "passes"      // answers that it has nothing to add, with the reason "nothing to add"
	Refuses     Scenario = "refuses"     // answers that it will not, with the reason "not mine"
	Errors      Scenario = "errors"      // reports an error with the reason "out of order"
	Stated      Scenario = "stated"      // states usage 120 and 30, and confidence 0.75
	Bids        Scenario = "bids"        // bids 0.25
	SideMessage Scenario = "asides"      // raises the side message "psst" to dba before its answer
	Messages    Scenario = "messages"    // acknowledges what of its mail asks for it, claims the task t1 and posts a result_bundle "result" to you; if that is refused it passes with the reason
	HandsOff    Scenario = "hand-off"    // hands off to dba, because "hers"
	Calls       Scenario = "calls"       // calls dba with the task "check"; if that is refused it passes with the reason
	Hang        Scenario = "hang"        // raises the side message "working" and never answers
	Late        Scenario = "late"        // in its first turn raises "working" and answers once the room has taken that, or the turn is cancelled
	Duplicate   Scenario = "duplicate"   // answers twice
	Foreign     Scenario = "foreign"     // answers an unknown request before its own
	Noisy       Scenario = "noisy"       // writes a few lines that are no frames before its answer, and all kinds of line ends
	Flooding    Scenario = "flooding"    // writes too many lines that are no frames in place of its first answer
	Torn        Scenario = "torn"        // its first answer is an incomplete frame
	Oversize    Scenario = "oversize"    // its first answer has one character more than allowed
	Overlong    Scenario = "overlong"    // its first answer is over the limit of a line
	Negative    Scenario = "negative"    // its first answer states negative usage
	Exits       Scenario = "exits"       // writes "goodbye" to standard error and exits with status 3 in place of its first answer
	ExitsHalf   Scenario = "exits-half"  // like Exits, in the middle of a frame
	ExitsAfter  Scenario = "exits-after" // exits right after its first answer
	Restarts    Scenario = "restarts"    // like Exits, and the endpoint may restart it once
	Deaf        Scenario = "deaf"        // never reads its input
	Complaining Scenario = "complaining" // floods standard error before each answer
	Stubborn    Scenario = "stubborn"    // raises "working", never answers, and ignores SIGTERM, as does its child process
	WrongTools  Scenario = "wrong-tools" // claims tool rounds, which are not allowed
	Mortal      Scenario = "mortal"      // like ExitsAfter, and may be restarted any number of times
)

// Answer returns the answer of an agent to a text.
func Answer(text string) string { return "echo: " + text }

// Newest returns the newest message in the text of a prompt, for agents that get
// only that.
func Newest(text string) string {
	_, text, _ = strings.Cut(text, "\nNEW SINCE YOU LAST SPOKE\n")
	text, _, _ = strings.Cut(text, "\nYOUR TURN\n")
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if quoted, ok := strings.CutPrefix(line, "| "); ok {
			lines = append(lines, quoted)
		} else if strings.Contains(line, " begin ") {
			lines = nil
		}
	}
	return strings.Join(lines, "\n")
}
