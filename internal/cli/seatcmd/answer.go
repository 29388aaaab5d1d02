package seatcmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
)

// maxText bounds an answer in bytes; the room has a lower limit of its own.
const maxText = 1 << 20

// A reference names the request that is answered.
type reference struct {
	request string
	epoch   uint64
}

func (r *reference) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.request, "request", "", "id of the request, as await has printed it; default: the newest one that await was given")
	cmd.Flags().Uint64Var(&r.epoch, "epoch", 0, "epoch of the request; default: that of the request")
}

// newAnswerCmd answers a turn.
func newAnswerCmd(a *commands) *cobra.Command {
	var seat string
	var r reference
	cmd := &cobra.Command{
		Use:   "answer ROOM --as SEAT [TEXT | -]",
		Short: "Answer the turn of a seat that your agent session has",
		Long: "answer gives the room your answer, which ends your turn. Without TEXT, or with -, it\n" +
			"reads the text from standard input. A request is answered once: a second answer is\n" +
			"the error SEAT-ANSWERED, and changes nothing. The command ends when the answer is\n" +
			"stored. If it cannot reach the room, repeat it with the same --request.",
		Example:           "  moot answer review --as ann \"0042 locks the table. Do it in two steps.\"\n  moot answer review --as ann --request req_1f - < answer.md",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.CompleteRoom(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readText(a.Stdin, append(args, "-")[1])
			if err != nil {
				return err
			}
			if strings.TrimSpace(text) == "" {
				return app.Usagef(cmd, "the answer is empty; `moot pass` says nothing")
			}
			return a.reply(cmd.Context(), args[0], seat, "answer", api.SeatAnswer{Request: r.request, Epoch: r.epoch, Text: text})
		},
	}
	seatFlag(cmd, &seat)
	r.flags(cmd)
	return cmd
}

// newPassCmd gives a turn back.
func newPassCmd(a *commands) *cobra.Command {
	var seat string
	var r reference
	cmd := &cobra.Command{
		Use:               "pass ROOM --as SEAT [REASON]",
		Short:             "Say nothing in the turn of a seat that your agent session has",
		Long:              "pass ends your turn without a message.",
		Example:           "  moot pass review --as ann\n  moot pass review --as ann \"the database is not my topic\"",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.CompleteRoom(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.reply(cmd.Context(), args[0], seat, "pass", api.SeatPass{Request: r.request, Epoch: r.epoch, Reason: append(args, "")[1]})
		},
	}
	seatFlag(cmd, &seat)
	r.flags(cmd)
	return cmd
}

// reply sends an answer or a pass, and prints how the room has recorded it.
func (a *commands) reply(ctx context.Context, arg, seat, verb string, body any) error {
	h, err := a.hold(ctx, arg, seat)
	if err != nil {
		return err
	}
	defer h.Close()
	var done api.SeatAnswered
	if err := h.post(ctx, verb, body, &done); err != nil {
		return err
	}
	return a.Emit(done, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s. Await the next turn: %s\n", outcome(done), a.CommandLine("await", h.Room, "--as", seat))
		return err
	})
}

// outcome says how the room has recorded an answer.
func outcome(done api.SeatAnswered) string {
	said := map[string]string{"posted": "Posted", "drafted": "A person reviews the answer before it is posted", "passed": "Passed"}[done.Outcome]
	return fmt.Sprintf("%s (turn %d)", said, done.Number)
}

// readText returns arg, or for "-" what r has.
func readText(r io.Reader, arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	b, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return "", fmt.Errorf("reading the answer: %w", err)
	}
	if len(b) > maxText {
		return "", &problem.Error{Code: "SEAT-SIZE", What: "the answer is longer than 1 MiB", Fix: "shorten it; the turn is still open"}
	}
	return strings.TrimSpace(string(b)), nil
}

// Lines between which a block to paste stands.
const (
	blockBegin = "-------- paste from here --------"
	blockEnd   = "-------- to here --------"
)

// paste prints the prompt of a turn as a block to paste into an app, and sends the
// answer that the person pastes back.
func (a *commands) paste(ctx context.Context, h *holder, turn api.Turn) error {
	how := "Your whole answer is posted to the room. To pass, answer with the single word PASS."
	if _, err := fmt.Fprintf(a.Stdout, "%s\n\n%s\n%s\n\n%s\n%s\n\n", heading(turn), blockBegin, strings.TrimRight(term.Strip(turn.Text), "\n"), how, blockEnd); err != nil {
		return err
	}
	a.Note("Paste the answer here, then a line with a single dot:")
	text, err := readPasted(a.Stdin)
	if err != nil {
		return err
	}
	if text == "" {
		return &problem.Error{Code: "SEAT-EMPTY", What: "no answer was pasted", Fix: "run the command again: the turn is still open"}
	}
	var done api.SeatAnswered
	if err := h.post(ctx, "answer", api.SeatAnswer{Request: turn.Request, Epoch: turn.Epoch, Text: text}, &done); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Stdout, outcome(done)+".")
	return err
}

// readPasted reads lines up to a single dot or the end.
func readPasted(r io.Reader) (string, error) {
	var text strings.Builder
	lines := bufio.NewReader(io.LimitReader(r, maxText))
	for {
		line, err := lines.ReadString('\n')
		if strings.TrimRight(line, "\r\n") == "." {
			break
		}
		text.WriteString(line)
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", fmt.Errorf("reading the answer: %w", err)
		}
	}
	return strings.TrimSpace(text.String()), nil
}
