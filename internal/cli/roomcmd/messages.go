package roomcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/log"
)

// states are the states of a message, in their order.
var states = []string{
	string(delivery.Posted), string(delivery.Queued), string(delivery.Held), string(delivery.Delivered), string(delivery.Acked),
	string(delivery.Refused), string(delivery.Expired),
}

// newMessagesCmd lists the messages of a room.
func newMessagesCmd(a *commands) *cobra.Command {
	var f client.DeliveryFilter
	var state string
	cmd := &cobra.Command{
		Use:   "messages ROOM",
		Short: "List the messages of a room, with what has become of each",
		Long: "messages lists the messages of a room in the order of its log. Each has a state, the\n" +
			"time of the state, and its reason:\n\n" +
			"  posted     it is in the room, and its receiver is a person or everybody\n" +
			"  queued     the next prompt of its receiver holds it\n" +
			"  held       over the rate between two agents; it is handed over later\n" +
			"  delivered  it stood in a prompt that its receiver has answered\n" +
			"  acked      its receiver has acknowledged it\n" +
			"  refused    the room did not accept it\n" +
			"  expired    its receiver never acknowledged it\n\n" +
			"A message to several agents has a line for each. `moot messages dead ROOM` says why\n" +
			"messages were refused or have expired.\n\n" +
			"It reads the log; a room of another machine is read with --server. ROOM is the id of a\n" +
			"room, the beginning of its id, or its name.",
		Example:           "  moot messages r_01k5...\n  moot messages review --to dba -o json\n  moot messages review --state queued",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteRoom(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			if state != "" && !slices.Contains(states, state) {
				return app.Usagef(cmd, "no state %q: use %s", state, strings.Join(states, ", "))
			}
			f.State = delivery.State(state)
			id, err := a.FindRoom(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.messages(cmd.Context(), id, f)
		},
	}
	app.AllowServer(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.To, "to", "", "only messages to this participant, with those to everybody; "+room.Broadcast+": only the latter")
	flags.StringVar(&f.From, "from", "", "only messages of this participant")
	flags.StringVar(&f.Kind, "kind", "", "only messages of this kind, such as intent_brief")
	flags.StringVar(&state, "state", "", "only messages in this state")
	seats := a.CompleteParticipants()
	_ = cmd.RegisterFlagCompletionFunc("to", seats)   // the flags are there
	_ = cmd.RegisterFlagCompletionFunc("from", seats) //
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(states, cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(newDeadCmd(a))
	return cmd
}

// newDeadCmd lists the dead letters of a room.
func newDeadCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dead ROOM",
		Short: "List the dead letters of a room: messages that were refused or have expired",
		Long: "dead lists the messages that a room has refused, and those that their receivers never\n" +
			"acknowledged, each with the code and the reason. Nothing is done with a dead letter.\n" +
			"`moot help CODE` explains a code.",
		Example:           "  moot messages dead r_01k5...\n  moot messages dead review -o jsonl",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteRoom(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.FindRoom(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.dead(cmd.Context(), id)
		},
	}
	app.AllowServer(cmd)
	return cmd
}

// A mailbox is what a room says about its messages.
type mailbox struct {
	all   []api.Delivery   // in the order of the log
	dead  []api.DeadLetter // in the order of the log
	older int              // deliveries that are not listed any more
	more  bool             // the server lists no older ones at once
	names []string         // the participants
}

// messages lists the messages that f chooses.
func (a *commands) messages(ctx context.Context, id string, f client.DeliveryFilter) error {
	box, err := a.mailbox(ctx, id)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(box.all, func(d api.Delivery) bool { return !box.chooses(f, d) })
	if len(chosen) == 0 {
		if err := box.checkNames(f.To, f.From); err != nil {
			return err
		}
		a.Note("no such message in %s", id)
	}
	if box.more || box.older > 0 {
		a.Note("older messages are not listed; `%s` has all of them", a.CommandLine("transcript", "export", id))
	}
	if chosen == nil {
		chosen = []api.Delivery{}
	}
	return emitListing(a, chosen, deliveryTable, chosen)
}

// chooses reports whether f chooses d. A message to everybody is one to each participant
// but its sender.
func (b *mailbox) chooses(f client.DeliveryFilter, d api.Delivery) bool {
	everybody := d.To == room.Broadcast && d.State == delivery.Posted && d.From != f.To && slices.Contains(b.names, f.To)
	return (everybody || cmp.Or(f.To, d.To) == d.To) && cmp.Or(f.From, d.From) == d.From && cmp.Or(f.Kind, d.Kind) == d.Kind && cmp.Or(f.State, d.State) == d.State
}

// checkNames refuses names that no participant has.
func (b *mailbox) checkNames(names ...string) error {
	for _, n := range names {
		if n != "" && n != room.Broadcast && n != room.ActorHost && !slices.Contains(b.names, n) {
			return &problem.Error{Code: "ROOM-UNKNOWN", What: fmt.Sprintf("no participant %q", n), Fix: "name one of " + strings.Join(b.names, ", ")}
		}
	}
	return nil
}

// dead lists the dead letters.
func (a *commands) dead(ctx context.Context, id string) error {
	box, err := a.mailbox(ctx, id)
	if err != nil {
		return err
	}
	if len(box.dead) == 0 {
		box.dead = []api.DeadLetter{}
		a.Note("no dead letters in %s", id)
	}
	return emitListing(a, box.dead, deadTable, box.dead)
}

// mailbox reads the messages of a room from its log, or from the server that --server
// names.
func (a *commands) mailbox(ctx context.Context, id string) (*mailbox, error) {
	if a.Remote() {
		return a.remoteMailbox(ctx, id)
	}
	db, err := a.Wiring().OpenLog(true)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	s, err := app.FoldRoom(ctx, db, id)
	if err != nil {
		return nil, err
	}
	box := &mailbox{older: s.Mail.Deliveries.Dropped}
	for _, x := range s.Seats {
		box.names = append(box.names, x.ID)
	}
	bySeq := map[int64][]delivery.Delivery{}
	for _, d := range s.Mail.Deliveries.All {
		bySeq[d.Seq] = append(bySeq[d.Seq], d)
	}
	for e, err := range log.Scan(ctx, db, id, log.Pos{}) {
		if err != nil {
			return nil, err
		}
		if e.Event.Seq > s.Seq { // the room goes on meanwhile
			break
		}
		box.add(e.Event, bySeq[e.Event.Seq])
	}
	return box, nil
}

// add adds what an event tells about messages. ds are the deliveries of its message.
func (b *mailbox) add(e room.Event, ds []delivery.Delivery) {
	switch body := e.Body.(type) {
	case room.MessagePosted:
		for _, d := range ds {
			row := api.DeliveryOf(d)
			row.Preview = api.PreviewOf(body.Message)
			b.all = append(b.all, row)
		}
		if row, ok := b.talk(e, body.Message); ok && len(ds) == 0 {
			b.all = append(b.all, row)
		}
	case room.MessageDead:
		state := delivery.Refused
		if body.Target != 0 {
			state = delivery.Expired
		}
		b.letter(api.DeadLetterOf(room.DeadLetter{MessageDead: body, Seq: e.Seq, At: e.At, State: state}))
	}
}

// talk returns a message without a single receiver. A message to a participant whose
// delivery is not listed any more is none.
func (b *mailbox) talk(e room.Event, m room.Message) (api.Delivery, bool) {
	to := cmp.Or(m.To, room.Broadcast)
	if slices.Contains(b.names, to) || len(m.Receivers) > 0 {
		return api.Delivery{}, false
	}
	return api.Delivery{
		ID: m.ID, Seq: e.Seq, From: m.From, To: to, Kind: cmp.Or(m.Kind, room.KindUtterance), Priority: m.Priority,
		State: delivery.Posted, At: e.At.UTC(), PostedAt: e.At.UTC(), Turn: m.Turn, Preview: api.PreviewOf(m),
	}, true
}

// letter adds a dead letter. One that was never posted is a message of its own.
func (b *mailbox) letter(d api.DeadLetter) {
	b.dead = append(b.dead, d)
	if d.State == delivery.Refused {
		b.all = append(b.all, api.Delivery{
			ID: d.ID, Seq: d.Seq, From: d.From, To: d.To, Kind: d.Kind, State: d.State, Reason: d.Reason, At: d.At, PostedAt: d.At, Preview: d.Preview,
		})
	}
}

// remoteMailbox is mailbox at a server, which tells what the caller may see.
func (a *commands) remoteMailbox(ctx context.Context, id string) (*mailbox, error) {
	c, err := a.Client(id)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	shown, err := c.Show(ctx, id)
	if err != nil {
		return nil, err
	}
	box := &mailbox{}
	for _, x := range shown.View.Seats {
		box.names = append(box.names, x.ID)
	}
	for e, err := range c.Events(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		if b, ok := e.Body.(room.MessagePosted); ok {
			if row, ok := box.talk(e, b.Message); ok {
				box.all = append(box.all, row)
			}
		}
	}
	ds, err := c.Deliveries(ctx, id, client.DeliveryFilter{})
	if err != nil {
		return nil, err
	}
	dead, err := c.DeadLetters(ctx, id)
	if err != nil {
		return nil, err
	}
	box.all, box.older, box.more = append(box.all, ds.Deliveries...), ds.Dropped, ds.More
	for _, d := range dead.DeadLetters {
		box.letter(d)
	}
	slices.SortStableFunc(box.all, func(x, y api.Delivery) int { return cmp.Compare(x.Seq, y.Seq) })
	return box, nil
}

// clock is how a list shows a time.
func clock(t time.Time) string { return t.Local().Format("Jan 2 15:04:05") }

var deliveryTable = listing[api.Delivery]{
	head: []string{"#", "FROM", "TO", "KIND", "STATE", "SINCE", "MESSAGE"},
	row: func(d api.Delivery) []string {
		state := string(d.State)
		if d.RequiresAck && !settled(d.State) {
			state += ", no ack yet"
		}
		text := d.Preview
		if d.Reason != "" {
			text = strings.TrimSpace("(" + d.Reason + ") " + text)
		}
		return []string{fmt.Sprint(d.Seq), d.From, d.To, d.Kind, state, clock(d.At), text}
	},
}

// settled reports whether nothing more becomes of a message that asks for an
// acknowledgement.
func settled(s delivery.State) bool {
	return s == delivery.Acked || s == delivery.Refused || s == delivery.Expired
}

var deadTable = listing[api.DeadLetter]{
	head: []string{"#", "FROM", "TO", "KIND", "STATE", "AT", "CODE", "REASON"},
	row: func(d api.DeadLetter) []string {
		return []string{fmt.Sprint(d.Seq), d.From, d.To, d.Kind, string(d.State), clock(d.At), d.Code, d.Reason}
	},
}
