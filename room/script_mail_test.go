package room_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
)

// message reads "decision to=b id=m1 ack priority=urgent visibility=internal payload={} text".
func message(t *testing.T, line string) (m room.Message) {
	words := strings.Fields(line)
	m.Kind = words[0]
	for i, w := range words[1:] {
		k, v, _ := strings.Cut(w, "=")
		switch k {
		case "to":
			m.To = v
		case "id":
			m.ID = v
		case "ack":
			m.RequiresAck = true
		case "of":
			m.Correlation = v
		case "priority":
			m.Priority = v
		case "visibility":
			m.Visibility = room.Visibility(v)
		case "notify":
			m.Notify = v
		case "summary":
			m.Summary = v
		case "payload":
			if !json.Valid([]byte(v)) {
				t.Fatalf("payload %s", v)
			}
			m.Payload = []byte(v)
		default:
			m.Text = strings.Join(words[1+i:], " ")
			return m
		}
	}
	return m
}

// mail prints the deliveries, the cursors and the dead letters.
func (s *script) mail(out *strings.Builder) {
	for _, d := range s.state.Mail.Deliveries.All {
		fmt.Fprintf(out, "  #%d %s %s -> %s %s", d.Seq, d.Kind, d.From, d.To, d.State)
		if d.Attempts > 0 {
			fmt.Fprintf(out, " missed=%d", d.Attempts)
		}
		fmt.Fprintf(out, " %s\n", d.Reason)
	}
	for _, x := range s.state.Seats {
		if at := s.state.Mail.Deliveries.Cursor(x.ID); at > 0 {
			fmt.Fprintf(out, "  cursor of %s %d\n", x.ID, at)
		}
	}
	if n := s.state.Mail.DeadCount; n > 0 {
		fmt.Fprintf(out, "  %d dead\n", n)
	}
}
