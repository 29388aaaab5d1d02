package audit

import (
	"errors"
	"time"
)

const (
	foldTime = time.Minute
	maxFolds = 1_000 // kinds of refusals that are counted; further ones count as one kind
)

// A foldKey is what equal refusals have in common. It holds nothing that another
// device can choose freely, such as the name of a profile or a room.
type foldKey struct{ device, requester, status, reason string }

// A fold counts equal refusals since the last one that was written.
type fold struct {
	last  Event
	count int       // not written yet
	until time.Time // when they are written
}

// folded reports whether e was counted instead of being written. The caller
// holds mu.
func (l *Log) folded(e Event) bool {
	if e.Status != "refused" && e.Status != "repeated" {
		return false
	}
	k := foldKey{e.Device, e.Requester, e.Status, e.Reason}
	if l.folds[k] == nil && len(l.folds) >= maxFolds {
		k = foldKey{status: e.Status}
	}
	f := l.folds[k]
	if f == nil {
		l.folds[k] = &fold{until: time.Now().Add(l.c.fold)}
		l.schedule()
		return false
	}
	f.last = e
	f.count++
	return true
}

// schedule makes the timer write what is due. The caller holds mu.
func (l *Log) schedule() {
	if l.timer == nil {
		l.timer = time.AfterFunc(l.c.fold, l.tick)
	}
}

// tick writes the folds whose time is over. An error is reported by the next
// Append, which writes to the same file.
func (l *Log) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return
	}
	_ = l.writeFolds(time.Now()) // see above
	l.timer = nil
	if len(l.folds) > 0 {
		l.schedule()
	}
}

// writeFolds writes the folds that are due at now, or all at the zero time. A
// kind that goes on is counted further. The caller holds mu.
func (l *Log) writeFolds(now time.Time) error {
	var all error
	for k, f := range l.folds {
		switch {
		case !now.IsZero() && now.Before(f.until):
		case f.count == 0:
			delete(l.folds, k)
		default:
			f.last.Count = f.count
			all = errors.Join(all, l.write(f.last))
			f.count, f.until = 0, now.Add(l.c.fold)
		}
	}
	return all
}
