package controlcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/kinds"
)

// newPostCmd posts a message of a seat.
func newPostCmd(a *commands) *cobra.Command {
	var seat, payload, visibility string
	var p api.Post
	cmd := &cobra.Command{
		Use:   "post ROOM [TEXT]",
		Short: "Post a message of a seat apart from its turns, and print what has become of it",
		Long: "post posts a message of a seat in a room that runs, with the fields of the envelope.\n" +
			"docs/messages.md has the kinds, and which participants may send each. TEXT is - for what\n" +
			"is on stdin. A message that the room refuses becomes a dead letter.\n\n" +
			"--as is the seat. On this device you may act for each seat; with a token of a server for\n" +
			"the seat of the token. With the same --id again it posts nothing, and prints the same.",
		Example: "  moot post review \"Step 2 is yours.\" --as lead --to dba\n" +
			"  moot post review --as lead --to worker --kind intent_brief --payload plan.json --ack",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.CompleteRoom(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.fillPost(cmd, &p, args[1:], payload); err != nil {
				return err
			}
			p.Visibility = room.Visibility(visibility)
			return a.asSeat(cmd, args[0], seat, func(ctx context.Context, c *client.Client, id string) error {
				r, err := c.Post(ctx, id, seat, p)
				if err != nil {
					return err
				}
				return a.tellReceipt(r)
			})
		},
	}
	a.seatFlag(cmd, &seat)
	flags := cmd.Flags()
	flags.StringVar(&p.To, "to", "", "the participant whom it is for, or a role that one participant has; default: everybody")
	flags.StringVar(&p.Kind, "kind", "", "the kind of the message; default: utterance")
	flags.StringVar(&p.Summary, "summary", "", "the message in one sentence")
	flags.StringVar(&payload, "payload", "", "a file with the payload, a JSON object; - is stdin")
	flags.StringVar(&p.Priority, "priority", "", "low, normal, high or urgent")
	flags.BoolVar(&p.RequiresAck, "ack", false, "the receiver must acknowledge it")
	flags.StringVar(&p.Correlation, "of", "", "id of the message that it answers or belongs to")
	flags.StringVar(&visibility, "visibility", "", "user_visible, user_redacted or internal: at most that of the kind")
	flags.StringVar(&p.Notify, "notify", "", "idle: tell the seat once when the receiver has nothing left to do")
	flags.StringVar(&p.ID, "id", "", "id of the message; default: the room names it")
	_ = cmd.RegisterFlagCompletionFunc("to", a.CompleteParticipants())                       // the flags are there
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kindNames(), noFiles)) //
	_ = cmd.RegisterFlagCompletionFunc("priority", cobra.FixedCompletions([]string{"low", "normal", "high", "urgent"}, noFiles))
	_ = cmd.RegisterFlagCompletionFunc("visibility", cobra.FixedCompletions([]string{"user_visible", "user_redacted", "internal"}, noFiles))
	_ = cmd.RegisterFlagCompletionFunc("notify", cobra.FixedCompletions([]string{room.NotifyIdle}, noFiles))
	return cmd
}

const noFiles = cobra.ShellCompDirectiveNoFileComp

// kindNames are the kinds that participants post.
func kindNames() (names []string) {
	for _, r := range kinds.Rules() {
		if r.From != kinds.Nobody {
			names = append(names, r.Kind)
		}
	}
	return names
}

// fillPost reads the text and the payload of a message.
func (a *commands) fillPost(cmd *cobra.Command, p *api.Post, text []string, payload string) error {
	if len(text) == 1 && text[0] == "-" && payload == "-" {
		return app.Usagef(cmd, "the text and the payload cannot both be on stdin")
	}
	if len(text) == 1 {
		var err error
		if p.Text, err = a.text(cmd, text[0]); err != nil {
			return err
		}
	}
	if payload != "" {
		b, err := a.payload(payload)
		if err != nil {
			return err
		}
		p.Payload = policy.JSON(b)
	}
	if p.Text == "" && p.Summary == "" && payload == "" {
		return app.Usagef(cmd, "the message says nothing: give a TEXT, --summary or --payload")
	}
	return nil
}

// payload reads a JSON object from a file.
func (a *commands) payload(path string) ([]byte, error) {
	in := a.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, &problem.Error{Code: "CLI-USAGE", What: "the payload cannot be read", Where: path, Fix: "--payload names a file with a JSON object", Err: err}
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxText+1))
	if err != nil {
		return nil, fmt.Errorf("reading the payload: %w", err)
	}
	if len(b) > maxText || !json.Valid(b) {
		return nil, &problem.Error{Code: "CLI-USAGE", What: "the payload is no JSON, or longer than 1 MiB", Where: path, Fix: "--payload names a file with a JSON object"}
	}
	return b, nil
}

// newPullCmd lists what waits for a seat.
func newPullCmd(a *commands) *cobra.Command {
	var seat string
	var most int
	cmd := &cobra.Command{
		Use:   "pull ROOM",
		Short: "List the messages to a seat that are not settled, in a room that runs",
		Long: "pull lists the messages to a seat that it has not been handed, or has not acknowledged,\n" +
			"in the order of the log. It changes nothing: `moot ack` acknowledges a message.",
		Example:           "  moot pull review --as dba\n  moot pull review --as dba -o json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteRoom(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			if most < 1 || most > 100 {
				return app.Usagef(cmd, "--max is 1 to 100")
			}
			return a.asSeat(cmd, args[0], seat, func(ctx context.Context, c *client.Client, id string) error {
				in, err := c.Pull(ctx, id, seat, most)
				if err != nil {
					return err
				}
				return a.tellInbox(seat, in)
			})
		},
	}
	a.seatFlag(cmd, &seat)
	cmd.Flags().IntVar(&most, "max", 50, "most messages to list, up to 100")
	return cmd
}

// newAckCmd acknowledges a message.
func newAckCmd(a *commands) *cobra.Command {
	var seat string
	cmd := &cobra.Command{
		Use:   "ack ROOM MESSAGE",
		Short: "Acknowledge a message to a seat, in a room that runs",
		Long: "ack says that a seat has taken note of a message. MESSAGE is its id, as `moot pull` has\n" +
			"it. A second time changes nothing.",
		Example:           "  moot ack review m1 --as dba",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.CompleteRoom(completeMessages),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.asSeat(cmd, args[0], seat, func(ctx context.Context, c *client.Client, id string) error {
				r, err := c.Ack(ctx, id, seat, args[1])
				if err != nil {
					return err
				}
				return a.tellReceipt(r)
			})
		},
	}
	a.seatFlag(cmd, &seat)
	return cmd
}

// completeMessages completes the messages that wait to be acknowledged.
func completeMessages(s *room.State) (all []cobra.Completion) {
	for _, d := range s.Mail.Deliveries.All {
		if d.RequiresAck && !d.Settled() {
			all = append(all, cobra.CompletionWithDesc(d.Message, d.Kind+" to "+d.To))
		}
	}
	return all
}

// seatFlag adds the flag --as to a command of a seat, and lets it use servers.
func (a *commands) seatFlag(cmd *cobra.Command, seat *string) {
	app.AllowServer(cmd)
	cmd.Flags().StringVar(seat, "as", "", "the seat that you act for")
	_ = cmd.RegisterFlagCompletionFunc("as", a.CompleteParticipants()) // the flag is there
}

// asSeat runs f with a client of the process that runs the room that arg means.
func (a *commands) asSeat(cmd *cobra.Command, arg, seat string, f func(ctx context.Context, c *client.Client, id string) error) error {
	if seat == "" {
		return app.Usagef(cmd, "no seat is named: give --as SEAT")
	}
	ctx := cmd.Context()
	id, err := a.FindRoom(ctx, arg)
	if err != nil {
		return err
	}
	c, err := a.Client(id)
	if err != nil {
		return err
	}
	defer c.Close()
	return f(ctx, c, id)
}

// tellReceipt writes what has become of a message.
func (a *commands) tellReceipt(r api.Receipt) error {
	return a.Emit(r, func(w io.Writer) error {
		said := r.ID + " is " + string(r.State)
		if r.Reason != "" {
			said += ": " + r.Reason
		}
		if len(r.Deliveries) < 2 {
			_, err := fmt.Fprintln(w, said)
			return err
		}
		fmt.Fprintln(w, r.ID)
		return app.Table(w, []string{"TO", "STATE", "REASON"}, app.Rows(r.Deliveries, func(d api.Delivery) []string {
			return []string{d.To, string(d.State), d.Reason}
		}))
	})
}

// tellInbox writes the messages that wait for a seat, each with its text.
func (a *commands) tellInbox(seat string, in api.Inbox) error {
	if len(in.Messages) == 0 {
		a.Note("no message waits for %s", seat)
	}
	if more := in.Waiting - len(in.Messages); more > 0 {
		a.Note("%s more: --max lists more at once", app.Count(more, "message"))
	}
	if a.Format == app.FormatJSONL {
		return a.Emit(in.Messages, nil)
	}
	return a.Emit(in, func(w io.Writer) error {
		for _, m := range in.Messages {
			fmt.Fprint(w, letter(m))
		}
		return nil
	})
}

// letter returns a message of an inbox for people.
func letter(m api.Mailed) string {
	facts := []string{m.ID, m.From, m.Kind, string(m.State)}
	if m.Priority != "" && m.Priority != "normal" {
		facts = append(facts, m.Priority)
	}
	if m.RequiresAck {
		facts = append(facts, "asks for an acknowledgement")
	}
	if m.Reason != "" {
		facts = append(facts, m.Reason)
	}
	var b strings.Builder
	b.WriteString(term.Line(strings.Join(facts, " · ")) + "\n")
	texts := []string{m.Summary, m.Text, string(m.Payload)}
	if m.Redacted {
		texts = []string{"(redacted)"}
	}
	for _, text := range texts {
		for line := range strings.Lines(term.Strip(strings.TrimSpace(text))) {
			b.WriteString("  " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return b.String()
}
