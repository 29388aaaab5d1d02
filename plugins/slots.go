package plugins

import "sync"

// slots keeps instances that were put back to their image, for the next
// decision of the same policy. There are as many as decisions at once, and
// some to spare for a host that changes between policies; the one that was
// not used for longest goes first.
type slots struct {
	mu   sync.Mutex
	most int
	idle []slot // least recently used first
}

type slot struct {
	of *template
	in *instance
}

// take returns an idle instance, or nil.
func (s *slots) take(of *template) *instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.idle) - 1; i >= 0; i-- {
		if s.idle[i].of == of {
			in := s.idle[i].in
			s.idle = append(s.idle[:i], s.idle[i+1:]...)
			return in
		}
	}
	return nil
}

// put keeps an instance.
func (s *slots) put(of *template, in *instance) {
	s.mu.Lock()
	s.idle = append(s.idle, slot{of, in})
	var over *instance
	if len(s.idle) > s.most {
		over = s.idle[0].in
		s.idle = append(s.idle[:0], s.idle[1:]...)
	}
	s.mu.Unlock()
	if over != nil {
		over.close()
	}
}

// drop closes the idle instances of a template; of all when it is nil.
func (s *slots) drop(of *template) {
	s.mu.Lock()
	var gone []slot
	keep := s.idle[:0]
	for _, sl := range s.idle {
		if of == nil || sl.of == of {
			gone = append(gone, sl)
		} else {
			keep = append(keep, sl)
		}
	}
	s.idle = keep
	s.mu.Unlock()
	for _, sl := range gone {
		sl.in.close()
	}
}
