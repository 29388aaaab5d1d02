package audit

import "time"

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

// foldable reports whether equal events are counted.
func foldable(e *Event) bool { return e.Status == "refused" || e.Status == "repeated" }

// key returns the key under which e is counted. The caller holds mu.
func (l *Log) key(e *Event) foldKey {
	k := foldKey{e.Device, e.Requester, e.Status, e.Reason}
	if l.folds[k] == nil && len(l.folds) >= maxFolds {
		k = foldKey{status: e.Status}
	}
	return k
}

// folded reports whether e was counted instead of being written. The caller
// holds mu.
func (l *Log) folded(e Event) bool {
	if !foldable(&e) {
		return false
	}
	f := l.folds[l.key(&e)]
	if f == nil {
		return false
	}
	f.last = e
	f.count++
	return true
}

// fold makes equal events be counted from now on, after e was written. The caller
// holds mu.
func (l *Log) fold(e Event) {
	if foldable(&e) {
		l.folds[l.key(&e)] = &fold{until: time.Now().Add(l.c.fold)}
		l.schedule()
	}
}

// schedule makes the timer write what is due. The caller holds mu.
func (l *Log) schedule() {
	if l.timer == nil {
		l.timer = time.AfterFunc(l.c.fold, l.tick)
	}
}

// tick writes the folds whose time is over. After an error the next Append or tick
// tries again; Append reports the error.
func (l *Log) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return
	}
	_ = l.writeFolds(time.Now()) // it notes that folds are overdue
	l.timer = nil
	if len(l.folds) > 0 {
		l.schedule()
	}
}

// writeFolds writes the folds that are due at now, or all at the zero time. A
// kind that goes on is counted further. A count is kept until it is written. The
// caller holds mu.
func (l *Log) writeFolds(now time.Time) error {
	for k, f := range l.folds {
		if !now.IsZero() && now.Before(f.until) {
			continue
		}
		if f.count == 0 {
			delete(l.folds, k)
			continue
		}
		f.last.Count = f.count
		if err := l.write(f.last); err != nil {
			l.overdue = true
			return err
		}
		f.count, f.until = 0, now.Add(l.c.fold)
	}
	l.overdue = false
	return nil
}
