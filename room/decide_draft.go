package room

// decideDraft approves, edits or rejects the draft that waits. An approval
// names the hash of what it approves, so that it cannot approve another text.
func (s *State) decideDraft(c Command, now Now) ([]Body, error) {
	if !s.control(c.Actor) {
		return nil, denied(c.Actor, "review drafts")
	}
	if s.ended() {
		return nil, over(s)
	}
	if s.Turn == nil || s.Turn.Draft == nil {
		return nil, invalid("ROOM-DRAFT", "no draft is waiting", "")
	}
	switch do := c.Do.(type) {
	case Approve:
		return s.approve(do.Draft, now)
	case Edit:
		return s.edit(do, now)
	case Reject:
		if err := s.isDraft(do.Draft); err != nil {
			return nil, err
		}
		return s.withLimits(now, TurnRejected{Turn: s.Turn.Number, Draft: do.Draft, Reason: brief(do.Reason)}), nil
	}
	return nil, nil
}

func (s *State) isDraft(hash string) error {
	if hash != s.Turn.Draft.Hash {
		return invalid("ROOM-DRAFT", "draft "+quote(hash)+" is not the one that waits", "look at the draft again: it is "+s.Turn.Draft.Hash)
	}
	return nil
}

func (s *State) approve(hash string, now Now) ([]Body, error) {
	if err := s.isDraft(hash); err != nil {
		return nil, err
	}
	if s.Phase != Live {
		return nil, invalid("ROOM-PAUSED", "the room is "+string(s.Phase)+", nothing is sent", "resume it first")
	}
	d := s.Turn.Draft
	posted := MessagePosted{Turn: s.Turn.Number, Message: s.finish(d.Message, s.Turn.Number, now), Usage: d.Usage, Latency: d.Latency}
	return append([]Body{TurnApproved{Turn: s.Turn.Number, Draft: hash}}, s.withLimits(now, posted)...), nil
}

func (s *State) edit(do Edit, now Now) ([]Body, error) {
	if err := s.isDraft(do.Draft); err != nil {
		return nil, err
	}
	do.Text = valid(do.Text)
	if err := tooLong(do.Text); err != nil {
		return nil, err
	}
	t := s.Turn
	hash := draftHash(t.Request, do.Text)
	edited := TurnEdited{Turn: t.Number, Draft: hash, Text: do.Text}
	if !do.Approve {
		return []Body{edited}, nil
	}
	if s.Phase != Live {
		return nil, invalid("ROOM-PAUSED", "the room is "+string(s.Phase)+", nothing is sent", "resume it first, or edit without approving")
	}
	m := t.Draft.Message
	m.Text = do.Text
	posted := MessagePosted{Turn: t.Number, Message: s.finish(m, t.Number, now), Usage: t.Draft.Usage, Latency: t.Draft.Latency}
	return append([]Body{edited, TurnApproved{Turn: t.Number, Draft: hash}}, s.withLimits(now, posted)...), nil
}
