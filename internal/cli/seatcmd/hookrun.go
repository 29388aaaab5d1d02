package seatcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/atomicfile"
)

// maxHanded is how often the hook hands one turn to an agent that stops without an
// answer. Then it passes for the agent.
const maxHanded = 3

func newHookRunCmd(a *commands) *cobra.Command {
	var seat, room string
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "run claude | codex | opencode",
		Short: "Await the next turn, as the stop hook of a client",
		Long: "run is what the client calls. It reads the client's event from standard input,\n" +
			"awaits the turn of the seat, and prints the answer to the client. It lets the\n" +
			"agent stop when the room has ended, when no process runs it, or when no turn has\n" +
			"come. A turn that the agent has not answered three times is passed.",
		Example: "  moot hook run claude --room review --as ann < event.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := clientNamed(cmd, args[0])
			if err != nil {
				return err
			}
			return a.runHook(cmd.Context(), c, room, seat, wait)
		},
	}
	seatFlag(cmd, &seat)
	roomFlag(cmd, &room)
	cmd.Flags().DurationVar(&wait, "wait", (hookTimeout-30)*time.Second, "how long to wait for the turn; less than the time that the client gives the hook")
	return cmd
}

// A hookAnswer is what the clients read from a stop hook.
type hookAnswer struct {
	Decision string `json:"decision,omitempty"` // block: the agent goes on with Reason
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"systemMessage,omitempty"` // for the person in front of the client
	Again    bool   `json:"again,omitempty"`         // no turn has come, and the plugin asks again
}

// runHook awaits the next turn and tells the client. It fails with a message to the
// person and never with an exit code, which some clients take for an instruction.
func (a *commands) runHook(ctx context.Context, c hookClient, room, seat string, wait time.Duration) error {
	if c.plugin { // it holds the input open as long as it runs
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go awaitEnd(a.Stdin, cancel)
	} else if _, err := readEvent(a.Stdin); err != nil {
		return json.NewEncoder(a.Stdout).Encode(hookAnswer{Message: "moot: the event of the client cannot be read: " + err.Error()})
	}
	out, err := a.hookTurn(ctx, c.plugin, room, seat, wait)
	if err != nil {
		out = hookAnswer{Message: "moot: the seat " + seat + " is not awaited any more: " + err.Error()}
	}
	return json.NewEncoder(a.Stdout).Encode(out)
}

func (a *commands) hookTurn(ctx context.Context, plugin bool, room, seat string, wait time.Duration) (hookAnswer, error) {
	h, err := a.hold(ctx, room, seat)
	if err != nil {
		return hookAnswer{}, err
	}
	defer h.Close()
	for until := time.Now().Add(wait); ; {
		turn, err := a.await(ctx, h, time.Until(until), false)
		switch {
		case err != nil:
			return hookAnswer{}, err
		case turn.Ended:
			return hookAnswer{Message: "moot: the room has ended: " + turn.Why}, nil
		case turn.Again && plugin:
			return hookAnswer{Again: true}, nil
		case turn.Again:
			return hookAnswer{Message: "moot: no turn has come; the seat " + seat + " is away soon. Ask the agent to go on, to await the next one."}, nil
		}
		n, err := a.handed(turn)
		if err != nil {
			return hookAnswer{}, err
		}
		if n <= maxHanded {
			return hookAnswer{Decision: "block", Reason: a.whole(turn)}, nil
		}
		pass := api.SeatPass{Request: turn.Request, Epoch: turn.Epoch, Reason: fmt.Sprintf("the session has stopped %d times without an answer", maxHanded)}
		if err := h.post(ctx, "pass", pass, nil); err != nil {
			return hookAnswer{}, err
		}
	}
}

// handed counts how often the hook hands a turn to the agent, in a file of the seat.
func (a *commands) handed(turn api.Turn) (int, error) {
	file := filepath.Join(a.Settings.Data, "hooks", turn.Room+"."+turn.Seat+".json")
	var last struct {
		Request string `json:"request"`
		Handed  int    `json:"handed"`
	}
	if b, err := os.ReadFile(file); err == nil && json.Unmarshal(b, &last) != nil || last.Request != turn.Request {
		last.Request, last.Handed = turn.Request, 0
	}
	last.Handed++
	b, err := json.Marshal(last)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(file, b)
	}
	return last.Handed, err
}
