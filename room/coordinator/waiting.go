package coordinator

import (
	"strings"
)

// tellWaiting tells what waits for a person, if it has changed.
func (r *Room) tellWaiting() {
	if r.cfg.Waiting == nil {
		return
	}
	var ids []string
	if t := r.state.Turn; t != nil {
		if t.Draft != nil {
			ids = append(ids, string(r.state.Phase), t.Draft.Hash)
		}
		for _, q := range t.Requests {
			ids = append(ids, q.ID)
		}
	}
	if now := strings.Join(ids, " "); now != r.waiting {
		r.waiting = now
		r.cfg.Waiting(r.state.Waiting())
	}
}

// endWaiting tells that the room runs no more. No agent waits for an answer then; a
// draft does.
func (r *Room) endWaiting() {
	if r.cfg.Waiting == nil || r.waiting == "" {
		return
	}
	w := r.state.Waiting()
	w.Requests = nil
	r.cfg.Waiting(w)
}
