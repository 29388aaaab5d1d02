package room

// Shorten drops what s knows of the oldest messages: of each it keeps twenty
// bytes for ever, so that windows may reach back to it. The newest keep, and up
// to a chunk more, are kept. A window that would reach back further is not what
// it was; [State.WindowWithin] tells. A state that was shortened must not become
// a snapshot: it is for who can read the log again, as replay does.
func (s *State) Shorten(keep int) {
	if s.Messages.N <= keep {
		return
	}
	first := s.Messages.at(max(s.Messages.N-keep, s.Messages.gone)).Seq
	s.Messages.drop(func(m msg) bool { return m.Seq < first })
	old := func(p place) bool { return int(p) < s.Messages.gone }
	s.Public.drop(old)
	for _, x := range s.Seats {
		x.Private.drop(old)
	}
}
