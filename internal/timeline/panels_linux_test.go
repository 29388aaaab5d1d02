package timeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// A fakeInbox tells the changes that a test gives it, and keeps the answers.
type fakeInbox struct {
	changes chan inbox.Change
	fail    chan error // ends Follow

	mu      sync.Mutex
	answers []string
	err     error // of the next answers
}

func newFakeInbox() *fakeInbox {
	return &fakeInbox{changes: make(chan inbox.Change), fail: make(chan error)}
}

func (b *fakeInbox) Follow(ctx context.Context, f func(inbox.Change) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-b.fail:
			return err
		case c := <-b.changes:
			if err := f(c); err != nil {
				return err
			}
		}
	}
}

func (b *fakeInbox) Answer(_ context.Context, id string, a inbox.Answer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	given := fmt.Sprintf("%s %s %q %q %v", id, a.Answer, a.Text, a.Reason, a.Keep)
	if a.Values != nil {
		values, _ := json.Marshal(a.Values)
		given += " " + string(values)
	}
	b.answers = append(b.answers, given)
	return b.err
}

func (b *fakeInbox) given() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.answers)
}

// Items of two other rooms.
var (
	otherDraft = inbox.Item{
		ID: "r_2/6d83219320b6a8bf", Kind: inbox.Draft, Room: "r_2", Name: "billing", Agent: "ann", Turn: 7, Phase: "live", To: room.Broadcast,
		Text: "The invoice is wrong by one cent.\n\nShall I correct it?", Why: "manual", Since: time.Now().Add(-time.Minute),
	}
	otherRequest = inbox.Item{
		ID: "r_3/4.1", Kind: inbox.Permission, Room: "r_3", Agent: "coder", Turn: 4, Phase: "live", Since: time.Now(), Until: time.Now().Add(time.Hour / 2),
		Permission: &room.Permission{Kind: "execute", Command: "make deploy", Always: true},
	}
)

// showInbox runs a session with an inbox in a terminal of that size.
func showInbox(t *testing.T, cols, rows int, items ...inbox.Item) (*fixture, *fakeInbox) {
	t.Helper()
	b := newFakeInbox()
	x := show(t, cols, rows, func(s *Session) { s.Inbox = b })
	for _, i := range items {
		b.changes <- inbox.Change{Item: &i}
	}
	if len(items) > 0 {
		x.sees(fmt.Sprintf("inbox %d", len(items)))
	}
	return x, b
}

// answers waits until the inbox was given exactly these answers.
func (x *fixture) answers(b *fakeInbox, want ...string) {
	x.t.Helper()
	x.until(fmt.Sprintf("answered %q", want), func() bool { return len(b.given()) >= len(want) })
	if got := b.given(); !slices.Equal(got, want) {
		x.t.Errorf("answers %q, want %q", got, want)
	}
}

var (
	clockText = regexp.MustCompile(`[0-9]+(:[0-9]{2})+`)
	digit     = regexp.MustCompile(`[0-9]`)
)

// golden compares the screen with a file, but for times. docs/terminal.md shows these
// files. UPDATE_GOLDEN=1 rewrites the file.
func (x *fixture) golden(name string) {
	x.t.Helper()
	got := clockText.ReplaceAllStringFunc(x.screen.String(), func(s string) string { return digit.ReplaceAllString(s, "0") }) + "\n"
	file := filepath.Join("testdata", "screen-"+name+".txt")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			x.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		x.t.Fatal(err)
	}
	if got != string(want) {
		x.t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

// populate fills the roster of the room with a seat in each state.
func (r *fakeRoom) populate() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.view.Policy = "roundrobin"
	r.view.Seats = []room.SeatView{
		{ID: "code", Name: "Codebase", Kind: policy.Local, Badge: "local", Mode: room.FullAuto, ModeSet: true, Phase: "idle", Turns: 3, Tokens: 1200, Estimated: true},
		{ID: "dba", Name: "DBA", Kind: policy.Local, Badge: "local", Mode: room.Manual, Phase: "waiting for approval", Why: "manual", Turns: 1, Tokens: 594, Cost: 20_000, CostEstimated: true},
		{ID: "sec", Name: "Security", Kind: policy.Remote, Badge: "shared", Owner: "Globex", Mode: room.SemiAuto, Phase: "cooling", Cooling: 2, Turns: 2, Tokens: 800, Failed: 3, Failures: 1},
		{ID: "ide", Kind: policy.Local, Badge: "local", Presence: room.Away, Mode: room.Manual, Phase: "away", Why: "no session awaits its turn"},
		{ID: "ops", Kind: policy.Local, Badge: "local", Mode: room.Manual, Phase: "taken over", Why: "by me"},
		{ID: "me", Name: "Michael", Kind: policy.Human, Badge: "human", Phase: "idle"},
	}
}

// joins tells the session the participants of the room.
func (x *fixture) joins() {
	x.room.populate()
	x.room.emit(room.Opened{Spec: room.Spec{Room: "r_1", Name: "review", Objective: "Decide about migration 0042.", Policy: room.PolicyRef{Name: "roundrobin", Version: "1.0.0"}}})
	for _, v := range x.room.View().Seats {
		x.room.emit(room.Joined{Participant: room.Participant{ID: v.ID, Name: v.Name, Kind: v.Kind, Owner: v.Owner, Session: v.Presence != ""}})
	}
	x.room.emit(room.TurnGranted{Turn: 1, Participant: "dba", Reason: "Codebase addressed DBA", Tokens: 400})
	x.room.emit(room.TurnDrafted{Turn: 1, Draft: "h1", Why: "manual", Message: room.Message{From: "dba", To: room.Broadcast, Text: "As written: about 40 seconds, at peak."}})
	x.sees("DRAFT of DBA", "inbox")
}

// TestRoster: a key shows the roster next to the timeline, or in its place where the
// screen is narrow. Text that is typed stays.
func TestRoster(t *testing.T) {
	x := show(t, 110, 24)
	x.joins()
	x.sees("│ ► DBA", "waiting for approval", "Tab highlight")
	x.golden("roster-110x24")
	x.press("half a sen\x10")
	x.until("hid the roster", func() bool { return !strings.Contains(x.screen.String(), "ROSTER") })
	x.press("tence\x10")
	x.sees("ROSTER  policy roundrobin", "say> half a sentence")

	x.resize(80, 22)
	x.sees("inbox 1 ──\n")
	x.press("\x10")
	x.sees("ROSTER  policy roundrobin", "Esc closes", "say> half a sentence")
	x.press("\x1b")
	x.sees("As written: about 40 seconds", "say> half a sentence")
	x.press("\x15/roster\r")
	x.sees("ROSTER  policy roundrobin")
	x.golden("roster-80x22")
	x.press("\x1bOQ") // F2
	x.sees("As written: about 40 seconds")
	x.press("/roster\r/pause for lunch\r")
	x.does(room.Pause{Reason: "for lunch"})
	x.sees("Esc closes")
	x.resize(120, 24)
	x.sees("│ ROSTER  policy roundrobin")
	if n := strings.Count(x.screen.String(), "ROSTER"); n != 1 {
		t.Errorf("the roster is shown %d times:\n%s", n, x.screen)
	}
	x.press("/dance\r")
	x.sees(`there is no command "dance"`, "DRAFT #1 DBA") // the answer is in the timeline
}

// TestRosterShort: a roster that is longer than the screen has one line for each seat,
// and is scrolled.
func TestRosterShort(t *testing.T) {
	x := show(t, 60, 9)
	x.joins()
	x.press("\x10")
	x.sees("  Codebase", "► DBA", "cooling, 2 turns left")
	if got := x.screen.String(); strings.Contains(got, "Globex") || strings.Contains(got, "You") {
		t.Errorf("the roster is not short:\n%s", got)
	}
	x.press("\x1b[6~")
	x.sees("  You")
	x.press("\x1b[H")
	x.sees("  Codebase", "more ↓")
}

// TestInbox: the items of all rooms are listed, chosen with the arrows, and answered with
// the keys of the timeline.
func TestInbox(t *testing.T) {
	x, b := showInbox(t, 80, 14, otherRequest, otherDraft)
	x.press("\x16")
	x.sees("INBOX  2 wait for you", "► draft", "billing", "DRAFT #7 ann · room billing · waits for approval (manual)", "│ Shall I correct it?",
		"Ctrl-O approve  Ctrl-X edit  Ctrl-R reject  ↑↓ choose  Esc closes")
	x.golden("inbox-80x14")
	x.press("\x0f")
	x.answers(b, `r_2/6d83219320b6a8bf approve "" "" false`)
	x.press("\x1b[B")
	x.sees("► permission", "│ command: make deploy", "Ctrl-Y allow  Ctrl-G deny  /always")
	x.press("\x19\x07")
	x.press("/always\r")
	x.press("/deny not today\r")
	x.press("\x12")
	x.sees("reject, because>")
	x.press("no\r")
	x.answers(b, `r_2/6d83219320b6a8bf approve "" "" false`, `r_3/4.1 approve "" "" false`, `r_3/4.1 deny "" "" false`, `r_3/4.1 always "" "" false`,
		`r_3/4.1 deny "" "not today" false`, `r_3/4.1 reject "" "no" false`)
	x.press("\x18")
	x.sees("! a permission request cannot be answered with edit [INBOX-ANSWER]; fix: allow,\nalways or deny it")
	x.press("\x1b[A\x18")
	x.sees("edit draft> The invoice is wrong by one cent.⏎⏎Shall")
	x.press("\x15It is right.\r")
	x.until("edited", func() bool { return len(b.given()) == 7 })
	if got := b.given()[6]; got != `r_2/6d83219320b6a8bf edit "It is right." "" true` {
		t.Errorf("answer %s", got)
	}
	b.changes <- inbox.Change{Ended: &inbox.Ended{ID: otherDraft.ID, Answer: &room.Answer{What: "edited", By: "me", Via: "socket"}}}
	edited := otherDraft
	edited.ID, edited.Text, edited.Edited = "r_2/0011223344556677", "It is right.", true
	b.changes <- inbox.Change{Item: &edited}
	x.sees("edited by me (socket)", "edited\n  │ It is right.", "3 of 3") // the person's own edit is chosen
	x.press("\x1b")
	x.sees("Ctrl-V inbox")
	x.press("\x16")
	x.sees("INBOX  2 wait for you\n")
	if acts := x.room.done(); acts != nil {
		t.Errorf("the room that is shown got %v", acts)
	}
}

// TestInboxOwn: items of the room that is shown are answered in that room, and while the
// inbox is shown no key answers another item than the chosen one.
func TestInboxOwn(t *testing.T) {
	x, b := showInbox(t, 100, 30, otherDraft)
	x.drafts("h1", "shall I?")
	x.press("\x1bOR") // F3
	x.sees("INBOX  2 wait for you", "► draft", "this room", "DRAFT #1 code · room review · waits for approval (manual)")
	x.press("\t\r")   // nothing is highlighted
	x.press("text\r") // a message
	x.does(room.Say{Text: "text"})
	x.press("\x1b[A\x1b[A\x1b[B\x1b[B\x1b[B\x0f")
	x.answers(b, `r_2/6d83219320b6a8bf approve "" "" false`)
	x.press("\x1b[A\x0f")
	want := []room.Act{room.Say{Text: "text"}, room.Approve{Draft: "h1"}}
	x.does(want...)
	x.room.emit(room.TurnApproved{Turn: 1, Draft: "h1"})
	x.sees("approved", "INBOX  1 waits for you, 1 ended")
	x.press("\x0f")
	x.sees("! nothing was answered: approved")
	x.room.mu.Lock()
	x.room.view.Draft = nil
	x.room.mu.Unlock()
	x.room.emit(room.MessagePosted{Turn: 1, Message: room.Message{From: "code", To: room.Broadcast, Text: "shall I?"}})
	x.room.emit(room.TurnGranted{Turn: 2, Participant: "code"})
	x.room.asks("2.1", room.Permission{Kind: "read", Paths: []string{"plan.md"}})
	x.room.asks("2.2", room.Permission{Kind: "edit", Paths: []string{"plan.md"}})
	x.sees("INBOX  3 wait for you, 1 ended", "permission  code #2")
	x.press("\x07") // the chosen item has ended
	x.press("\x1b[B\x1b[B\x1b[B\x07")
	want = append(want, room.Permit{ID: "2.2"})
	x.does(want...)
	x.press("/deny 2.1 no\r")
	want = append(want, room.Permit{ID: "2.1", Reason: "no"})
	x.does(want...)
	x.room.emit(room.PermissionAnswered{Turn: 2, ID: "2.2", By: "me"})
	x.room.emit(room.PermissionAnswered{Turn: 2, ID: "2.1", By: room.ActorRoom, Reason: "no person has answered in time"})
	x.sees("denied by you", "refused: no person has answered")
	x.press("\x1b")
	x.sees("── permission 2.1 refused", "inbox 1 ")
}

// TestInboxSecond: the person is told who was first, in the inbox and after it was left.
func TestInboxSecond(t *testing.T) {
	x, b := showInbox(t, 80, 24, otherDraft, otherRequest)
	b.mu.Lock()
	b.err = &problem.Error{Code: "ROOM-ANSWERED", What: "the draft was approved by eve (http)", Fix: "nothing more has to be done"}
	b.mu.Unlock()
	x.press("\x16\x0f")
	x.sees("! the draft was approved by eve (http) [ROOM-ANSWERED]; fix: nothing more has to")
	b.changes <- inbox.Change{Ended: &inbox.Ended{ID: otherDraft.ID, Answer: &room.Answer{What: "approved", By: "eve", Via: "http"}}}
	x.sees("► draft       ann #7    approved by eve (http)")
	x.press("\x1b[B")
	x.sees("1 waits for you, 1 ended", "► permission")
	b.changes <- inbox.Change{Ended: &inbox.Ended{ID: otherRequest.ID}}
	x.sees("► permission  coder #4  does not wait any more")
	x.press("\x1b")
	x.until("had no count", func() bool { return !strings.Contains(x.screen.String(), "inbox") })
	x.press("\x16")
	x.sees("INBOX  nothing waits for you")
	x.press("\x0f")
	x.press("\x1b")
	x.sees("Ctrl-S pause")
}

// TestInboxLost: the items of other rooms are gone while the inbox cannot be read.
func TestInboxLost(t *testing.T) {
	x, b := showInbox(t, 80, 24, otherDraft)
	x.press("\x16")
	x.sees("► draft")
	b.fail <- errors.New("the server does not answer")
	x.sees("INBOX  nothing waits for you", "! other rooms are not known: the server does not answer")
	if strings.Contains(x.screen.String(), " of ") {
		t.Errorf("an empty list has a choice:\n%s", x.screen)
	}
	b.changes <- inbox.Change{Item: &otherDraft}
	x.sees("► draft")
	if strings.Contains(x.screen.String(), "not known") {
		t.Errorf("the error is still shown:\n%s", x.screen)
	}
}

// TestInboxSizes: at every size no line is longer than the screen, and the chosen item is
// shown.
func TestInboxSizes(t *testing.T) {
	long := otherRequest
	long.Permission = &room.Permission{Kind: "execute", Command: "make deploy", Detail: strings.Repeat("line\n", 60) + "the end"}
	long.ID, long.Name = "r_4/1.1", strings.Repeat("long 漢字 ", 20)
	x, _ := showInbox(t, 130, 30, otherDraft, otherRequest, long)
	x.press("\x16\x1b[B\x1b[B")
	x.sees("► permission", "command: make deploy", "3 of 3")
	for _, size := range [][2]int{{80, 24}, {44, 12}, {24, 9}, {24, 6}, {12, 4}, {3, 2}, {1, 1}, {80, 8}, {80, 24}} {
		x.resize(size[0], size[1])
		if size[0] >= 24 {
			x.sees("► permission", "say>")
		}
		if size[0] == 80 {
			x.sees("command: make deploy")
		}
		for _, line := range x.screen.Lines() {
			if columns(line) > size[0] {
				t.Errorf("%v: a line has %d columns: %q", size, columns(line), line)
			}
		}
	}
	x.sees("3 of 3", "more ↓") // the last size
	x.press(strings.Repeat("\x1b[6~", 5))
	x.sees("│ the end")
	x.press("\x1b[H")
	x.sees("command: make deploy")
}

// TestHostileInbox: no control sequence of another room reaches the terminal.
func TestHostileInbox(t *testing.T) {
	evil := "\x1b]0;owned\a\x1b[5n\x1b[?1049l\u009b2J\u202eevil\u200b\x00\r\n"
	item := inbox.Item{
		ID: "r_9" + evil + "/h", Kind: inbox.Draft, Room: "r_9" + evil, Name: evil, Agent: evil, To: evil, Why: evil, Text: evil + "draft-end", Phase: evil,
	}
	asks := inbox.Item{
		ID: "r_8" + evil + "/1.1", Kind: inbox.Permission, Room: "r_8", Agent: evil, Phase: "live",
		Permission: &room.Permission{Kind: "execute", Command: evil, Paths: []string{evil}, Detail: evil + "detail-end"},
	}
	x, b := showInbox(t, 130, 40, item, asks)
	x.press("\x16")
	x.sees("draft-end")
	x.press("\x1b[B")
	x.sees("detail-end")
	b.changes <- inbox.Change{Ended: &inbox.Ended{ID: asks.ID, Answer: &room.Answer{What: evil + "what-end", By: evil, Via: evil}}}
	x.sees("1 ended")
	b.fail <- errors.New(evil + "error-end")
	x.sees("error-end")
	x.press("\x1b")
	x.sees("Ctrl-S pause")
	x.press("\x1b\x1b")
	x.does(room.Stop{})
	x.until("ended", func() bool { return !x.screen.Alternate() })
	if unknown := x.screen.Unknown(); unknown != nil {
		t.Errorf("the terminal was sent %q", unknown)
	}
}

// TestLongRequest: a request that is longer than the screen is shown from its first line
// until it is answered.
func TestLongRequest(t *testing.T) {
	x := show(t, 80, 16)
	x.room.emit(room.TurnGranted{Turn: 1, Participant: "code"})
	x.room.asks("1.1", room.Permission{Kind: "execute", Command: "make", Detail: strings.Repeat("line\n", 40) + "the end"})
	x.sees("? code asks for permission 1.1", "command: make", "more ↓", "PgDn more")
	x.room.asks("1.2", room.Permission{Kind: "read"})
	x.sees("command: make", "1 new ↓")
	x.press("\x1b[6~\x1b[6~\x1b[6~")
	x.sees("│ the end")
	x.press("\x1b[H")
	x.sees("? code asks for permission 1.1")

	x = show(t, 80, 16)
	x.room.asks("1.1", room.Permission{Kind: "execute", Command: "make", Detail: strings.Repeat("line\n", 40) + "the end"})
	x.sees("command: make", "PgDn more")
	x.press("\x19")
	x.does(room.Permit{ID: "1.1", Allowed: true})
	x.room.emit(room.PermissionAnswered{Turn: 1, ID: "1.1", Allowed: true, By: "me"})
	x.sees("│ the end", "── permission 1.1 allowed by you")
}
