package inbox

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A Log is where rooms are stored that do not run.
type Log interface {
	Rooms(ctx context.Context) ([]log.Info, error)
	Read(ctx context.Context, room string, after log.Pos, page int) ([]log.Entry, error)
	Holder(room string) int
}

// Config says where the items of an Inbox come from.
type Config struct {
	Log Log
	// State returns the state of a stored room.
	State func(ctx context.Context, id string) (*room.State, error)
	// Runs reports whether this process runs the room.
	Runs func(id string) bool
}

// An Inbox lists what waits in the rooms that this process runs, and in stored ones
// that no process runs. It is safe for concurrent use.
type Inbox struct {
	cfg Config

	mu      sync.Mutex
	running map[string]room.Waiting // of rooms that this process runs, by room
	answers map[string]room.Answer  // the newest, by the id of the item
	order   []string                // of answers
	changed chan struct{}           // closed by the next change

	scan   sync.Mutex
	stored map[string]storedRoom // by room
}

// A storedRoom is what waits in a room, as its log was at last.
type storedRoom struct {
	last  uint64
	items []Item
}

// maxAnswers is the number of answers that an Inbox remembers.
const maxAnswers = 256

// New makes an Inbox.
func New(c Config) *Inbox {
	return &Inbox{cfg: c, running: map[string]room.Waiting{}, answers: map[string]room.Answer{}, changed: make(chan struct{}), stored: map[string]storedRoom{}}
}

// Update takes what waits in a room that this process runs.
func (b *Inbox) Update(w room.Waiting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[w.Room] = w
	if w.Draft == nil && len(w.Requests) == 0 {
		delete(b.running, w.Room)
	}
	for _, a := range w.Answers {
		b.keep(w.Room+"/"+a.Of, a)
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

// keep remembers an answer. The caller holds b.mu.
func (b *Inbox) keep(id string, a room.Answer) {
	if _, ok := b.answers[id]; !ok {
		if len(b.order) == maxAnswers {
			delete(b.answers, b.order[0])
			b.order = slices.Delete(b.order, 0, 1)
		}
		b.order = append(b.order, id)
	}
	b.answers[id] = a
}

// Changed returns a channel that is closed when what waits may have changed.
func (b *Inbox) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// Items returns what waits, the oldest first.
func (b *Inbox) Items(ctx context.Context) ([]Item, error) {
	items, err := b.storedItems(ctx)
	if err != nil {
		return nil, err
	}
	items = append(items, b.Running()...)
	slices.SortFunc(items, byTime)
	return items, nil
}

// byTime compares items, the oldest first.
func byTime(x, y Item) int { return cmp.Or(x.Since.Compare(y.Since), cmp.Compare(x.ID, y.ID)) }

// Running returns what waits in the rooms that this process runs, the oldest first.
func (b *Inbox) Running() (items []Item) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.running {
		if b.cfg.Runs(w.Room) {
			items = append(items, ItemsOf(w)...)
		}
	}
	slices.SortFunc(items, byTime)
	return items
}

// storedItems returns the drafts of the rooms that no process runs. It reads only
// logs that have grown since the last call.
func (b *Inbox) storedItems(ctx context.Context) (items []Item, err error) {
	b.scan.Lock()
	defer b.scan.Unlock()
	infos, err := b.cfg.Log.Rooms(ctx)
	if err != nil && len(infos) == 0 {
		return nil, err
	}
	seen := map[string]storedRoom{}
	for _, info := range infos {
		if info.Damage != nil || b.cfg.Runs(info.Room) || b.cfg.Log.Holder(info.Room) != 0 {
			continue
		}
		r, ok := b.stored[info.Room]
		if !ok || r.last != info.Last {
			if r, ok = b.readStored(ctx, info); !ok {
				continue
			}
		}
		seen[info.Room] = r
		items = append(items, r.items...)
	}
	b.stored = seen
	return items, nil // a damaged room hides no other; `moot ls` names it
}

// readStored reads what waits in a stored room. It is not ok if the room cannot be
// read; then `moot ls` says so.
func (b *Inbox) readStored(ctx context.Context, info log.Info) (r storedRoom, ok bool) {
	r.last = info.Last
	drafted, err := b.endsDrafted(ctx, info)
	if err != nil || !drafted {
		return r, err == nil
	}
	s, err := b.cfg.State(ctx, info.Room)
	if err != nil {
		return r, false
	}
	w := s.Waiting()
	w.Requests = nil // an agent that does not run does not wait
	r.items = ItemsOf(w)
	return r, true
}

// page is how many events of a log are read at a time, from its end.
const page = 64

// endsDrafted reports whether the newest turn in a log has a draft and no end.
func (b *Inbox) endsDrafted(ctx context.Context, info log.Info) (bool, error) {
	for end := int64(info.Last); end > 0; {
		start := max(0, end-page)
		entries, err := b.cfg.Log.Read(ctx, info.Room, log.At(start), int(end-start))
		if err != nil {
			return false, err
		}
		for _, e := range slices.Backward(entries) {
			switch body := e.Event.Body.(type) {
			case room.TurnDrafted, room.TurnEdited:
				return true, nil
			case room.TurnGranted, room.TurnRejected, room.TurnPassed, room.TurnFailed, room.TurnInterrupted:
				return false, nil
			case room.MessagePosted:
				if body.Turn != 0 {
					return false, nil
				}
			}
		}
		end = start
	}
	return false, nil
}

// A Follower tells what has changed in an Inbox. It is not safe for concurrent use.
type Follower struct {
	inbox   *Inbox
	stored  bool
	known   map[string]Item
	changed <-chan struct{}
}

// Follow returns a Follower that knows of nothing yet. It follows what [Inbox.Items]
// returns if stored is true, else what [Inbox.Running] does.
func (b *Inbox) Follow(stored bool) *Follower {
	return &Follower{inbox: b, stored: stored, known: map[string]Item{}}
}

// Changed returns a channel that is closed when Changes may have something to tell.
func (f *Follower) Changed() <-chan struct{} { return f.changed }

// Changes returns what has changed since the last call. A slow follower misses no item
// that still waits, and may miss one that came and ended.
func (f *Follower) Changes(ctx context.Context) (changes []Change, err error) {
	f.changed = f.inbox.Changed()
	items := f.inbox.Running()
	if f.stored {
		if items, err = f.inbox.Items(ctx); err != nil {
			return nil, err
		}
	}
	waits := map[string]bool{}
	for _, x := range items {
		waits[x.ID] = true
	}
	for id := range f.known {
		if !waits[id] {
			delete(f.known, id)
			changes = append(changes, Change{Ended: f.inbox.ended(id)})
		}
	}
	for _, x := range items {
		if before, ok := f.known[x.ID]; !ok || before.Phase != x.Phase {
			f.known[x.ID] = x
			changes = append(changes, Change{Item: &x})
		}
	}
	return changes, nil
}

func (b *Inbox) ended(id string) *Ended {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := &Ended{ID: id}
	if a, ok := b.answers[id]; ok {
		e.Answer = &a
	}
	return e
}
