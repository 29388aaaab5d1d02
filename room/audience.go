package room

// Readers says who may read a message. It is the only rule of visibility:
// windows, summaries, policy inputs, views, watchers and exports all ask it.
type Readers struct {
	all      bool
	from, to string
}

// Audience returns who may read m among the participants. People with
// control read everything.
func Audience(m Message) Readers {
	return Readers{
		all:  m.Visibility != Internal,
		from: m.From,
		to:   m.To,
	}
}

// Everybody reports whether every participant may read the message.
func (r Readers) Everybody() bool { return r.all }

// Includes reports whether the participant with id may read it.
func (r Readers) Includes(id string) bool {
	return r.all || id == r.from || id == r.to || r.to == Broadcast
}

// For returns what the participant with id sees of m: the whole message, of a
// user_redacted one that is not its own only the summary, or nothing.
func (m Message) For(id string) (Message, bool) {
	r := Audience(m)
	if !r.Includes(id) {
		return Message{}, false
	}
	if m.Visibility == UserRedacted && id != m.From && id != m.To {
		m.Text, m.Payload = m.Summary, nil
	}
	return m, true
}

// At returns what a reader with that level sees of m: the whole message, a
// message of which only the summary is left, or nothing.
func (m Message) At(level Visibility) (Message, bool) {
	switch {
	case level == Internal || m.Visibility == "" || m.Visibility == UserVisible:
		return m, true
	case level == UserRedacted && m.Visibility == UserRedacted:
		return m, true
	case m.Visibility == UserRedacted:
		m.Text, m.Payload = m.Summary, nil
		return m, true
	}
	return Message{}, false
}

// Seen returns what a reader with that level sees of e, and whether anything.
// Below [Internal] the host's own affairs are left out: the room's secret,
// how its agents are started, and who watches.
func (e Event) Seen(level Visibility) (Event, bool) {
	if level == Internal {
		return e, true
	}
	switch b := e.Body.(type) {
	case Opened:
		b.Spec.Secret, b.Spec.Dir, b.Spec.Observers = "", "", nil
		e.Body = b
	case Joined:
		b.Participant.Endpoint = nil
		e.Body = b
	case MessagePosted:
		m, ok := b.Message.At(level)
		if !ok {
			return Event{}, false
		}
		b.Message = m
		e.Body = b
	case TurnEdited:
		b.Text = "" // until it is posted, a draft is between its writer and who reviews it
		e.Body = b
	case SummaryMade:
		b.Text = ""
		e.Body = b
	case TurnDrafted:
		b.Message = b.Message.blank()
		e.Body = b
	}
	return e, true
}

// Redacted returns e without the texts that people or agents wrote: what a
// log keeps of an event that was redacted.
func (e Event) Redacted() Event {
	switch b := e.Body.(type) {
	case MessagePosted:
		b.Message = b.Message.blank()
		e.Body = b
	case TurnDrafted:
		b.Message = b.Message.blank()
		e.Body = b
	case TurnEdited:
		b.Text = ""
		e.Body = b
	case TurnRejected:
		b.Reason = ""
		e.Body = b
	case TurnPassed:
		b.Reason = ""
		e.Body = b
	case SummaryMade:
		b.Text = ""
		e.Body = b
	}
	return e
}

func (m Message) blank() Message {
	m.Text, m.Summary, m.Payload = "", "", nil
	return m
}
