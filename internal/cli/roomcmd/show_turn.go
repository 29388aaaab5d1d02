package roomcmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A sight is what an agent was handed at a turn.
type sight struct {
	Room        string      `json:"room"`
	Turn        int         `json:"turn"`
	Participant string      `json:"participant"`
	Reason      string      `json:"reason,omitempty"`
	Window      room.Window `json:"window"`
	Tokens      int64       `json:"tokens"`
	Recorded    string      `json:"recorded_digest"`
	Rebuilt     string      `json:"rebuilt_digest"`
	Redacted    int         `json:"redacted,omitempty"` // events of the room that were redacted since
	Prompt      string      `json:"prompt"`
}

// showTurn rebuilds a prompt from the log. One that is not what was recorded
// is an error, unless something was redacted since.
func (a *commands) showTurn(ctx context.Context, id string, turn int) error {
	db, err := a.Wiring().OpenLog(true)
	if err != nil {
		return err
	}
	defer db.Close()
	p, granted, err := coordinator.GrantedPrompt(ctx, db, id, turn)
	if err != nil {
		return app.UnknownRoom(id, err)
	}
	redacted := 0
	err = app.EachEvent(ctx, db, id, func(e room.Event) error {
		if _, ok := e.Body.(room.Redacted); ok {
			redacted++
		}
		return nil
	})
	if err != nil {
		return err
	}
	s := sight{
		Room: id, Turn: turn, Participant: granted.Participant, Reason: granted.Reason, Window: granted.Window, Tokens: granted.Tokens,
		Recorded: granted.Prompt, Rebuilt: endpoint.Digest(p), Redacted: redacted, Prompt: endpoint.Render(p),
	}
	if err := a.Emit(s, func(w io.Writer) error { return a.printSight(w, s) }); err != nil {
		return err
	}
	if s.Recorded != s.Rebuilt && s.Redacted == 0 {
		return &problem.Error{
			Code: "ROOM-PROMPT", What: fmt.Sprintf("turn %d: the prompt made again from the log is not the one that was recorded", turn),
			Where: "room " + id, Fix: "use the release of moot that ran the room; `moot transcript verify " + id + "` says what is intact",
		}
	}
	return nil
}

func (a *commands) printSight(w io.Writer, s sight) error {
	verdict := a.Paint(a.Stdout, app.StyleGood, "as recorded")
	switch {
	case s.Recorded != s.Rebuilt && s.Redacted > 0:
		verdict = a.Paint(a.Stdout, app.StyleWarn, fmt.Sprintf("not as recorded (%s): %s since", s.Recorded, app.Count(s.Redacted, "redaction")))
	case s.Recorded != s.Rebuilt:
		verdict = a.Paint(a.Stdout, app.StyleError, "not as recorded: "+s.Recorded)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "turn %d of %s, %s\n", s.Turn, term.Line(s.Room), term.Line(s.Participant))
	if s.Reason != "" {
		fmt.Fprintf(&b, "why      %s\n", term.Line(s.Reason))
	}
	known := "it remembers what is up to event " + fmt.Sprint(s.Window.After)
	if s.Window.Full {
		known = "it remembers nothing"
	}
	fmt.Fprintf(&b, "window   up to event %d; %s; about %d tokens\n", s.Window.Through, known, s.Tokens)
	fmt.Fprintf(&b, "  whole      %s\n  one line   %s\n  left out   %s\n", spans(s.Window.Verbatim), spans(s.Window.Lines), omissions(s.Window.Omitted))
	fmt.Fprintf(&b, "prompt   SHA-256 %s, %s\n\n%s", s.Rebuilt, verdict, term.Strip(s.Prompt))
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

func spans(list []room.Span) string {
	if len(list) == 0 {
		return "none"
	}
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = fmt.Sprintf("events %d to %d", s.From, s.To)
	}
	return strings.Join(parts, ", ")
}

func omissions(list []room.Omission) string {
	if len(list) == 0 {
		return "none"
	}
	parts := make([]string, len(list))
	for i, o := range list {
		by := make([]string, len(o.By))
		for j, c := range o.By {
			by[j] = fmt.Sprintf("%s %d", term.Line(c.From), c.Messages)
		}
		parts[i] = fmt.Sprintf("%s in events %d to %d (%s)", app.Count(o.Messages, "message"), o.From, o.To, strings.Join(by, ", "))
	}
	return strings.Join(parts, ", ")
}
