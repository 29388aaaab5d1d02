package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// defaultPage is how many entries Read returns to a caller that gives no bound.
const defaultPage = 1000

// Tail implements [log.Reader].
func (d *DB) Tail(ctx context.Context, name string) (log.Pos, error) {
	ctx, done, err := d.begin(ctx)
	if err != nil {
		return log.Pos{}, err
	}
	defer done()
	last, err := d.tail(ctx, name)
	if err != nil || last.state.seq == 0 {
		return log.Pos{}, err
	}
	if last.kind == eventsKind {
		return log.Pos{Seq: last.state.seq, Tok: last.seq}, nil
	}
	entries, err := d.page(ctx, last, log.Pos{Seq: last.state.seq - 1}, 1)
	if err != nil {
		return log.Pos{}, err
	}
	return entries[0].Pos, nil
}

// Read implements [log.Reader].
func (d *DB) Read(ctx context.Context, name string, after log.Pos, most int) ([]log.Entry, error) {
	ctx, done, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	last, damage := d.tail(ctx, name)
	if damage != nil && (!errors.Is(damage, log.ErrCorrupt) || last.state.seq <= after.Seq) {
		return nil, damage
	}
	if last.state.seq == 0 || after.Seq > last.state.seq {
		return nil, fmt.Errorf("room %s after event %d: %w", name, after.Seq, log.ErrNotFound)
	}
	if after.Seq == last.state.seq {
		return nil, nil
	}
	most = cmp.Or(max(most, 0), defaultPage)
	entries, err := d.page(ctx, last, after, min(most, int(last.state.seq-after.Seq)))
	if err == nil && len(entries) < most {
		err = damage
	}
	return entries, err
}

// page reads entries up to the last message of a room, at any replica first. Events that are
// damaged or missing there are read at the leader.
func (d *DB) page(ctx context.Context, last record, after log.Pos, most int) ([]log.Entry, error) {
	var entries []log.Entry
	var err error
	for _, try := range []struct{ useTok, atLeader bool }{{true, false}, {false, false}, {false, true}} {
		s := scan{d: d, last: last, most: most, atLeader: try.atLeader}
		s.stream, s.subject = d.place(last.room)
		if !try.useTok {
			after.Tok = 0 // it may be of a room that was removed, or of a message that was replaced
		}
		entries, err = s.run(ctx, after)
		if !errors.Is(err, log.ErrCorrupt) {
			return entries, err
		}
	}
	return entries, err
}

// A scan reads one page of a room.
type scan struct {
	d               *DB
	last            record // the room's last message
	stream, subject string
	most            int
	atLeader        bool // read at the leader only

	from    uint64    // where the next message is looked for
	waiting []message // of a batch
	out     []log.Entry
	want    uint64   // the next event
	hash    [32]byte // of the event before it; the first record gives it
}

// corrupt is the error of the event that is wanted.
func (s *scan) corrupt(why string) error { return log.Corrupt(s.last.room, s.want, why) }

func (s *scan) run(ctx context.Context, after log.Pos) ([]log.Entry, error) {
	s.want = after.Seq + 1
	replaced, err := s.d.replacements(ctx, s.stream, s.last.state.redact)
	if err != nil && !errors.Is(err, log.ErrCorrupt) {
		return nil, err
	}
	if err != nil && s.last.state.erasing {
		return nil, s.corrupt("the redactions of the room are damaged") // texts that it replaces may be there
	}
	if replaced.of(after.Seq) != nil {
		after.Tok = 0 // the message is not where the event was
	}
	if s.from, err = s.start(ctx, after); err != nil {
		return nil, err
	}
	for len(s.out) < s.most {
		if g := replaced.of(s.want); g != nil {
			err = s.emit(g.first, g.previous, g.entries, g.damage, s.last.state.redact)
		} else {
			err = s.step(ctx, replaced)
		}
		if err != nil {
			return s.out, err
		}
	}
	return s.out, nil
}

// step reads one message.
func (s *scan) step(ctx context.Context, replaced *replacements) error {
	m, err := s.next(ctx)
	if err != nil {
		return err
	}
	r, err := decodeRecord(m.Data)
	if err != nil {
		return s.corrupt(err.Error())
	}
	if r.kind != eventsKind || r.state.seq < s.want || replaced.has(m.Seq) {
		return nil
	}
	body, err := s.d.body(ctx, s.stream, r)
	if err != nil && !isNotFound(err) {
		return err
	}
	dec := decoder{b: body}
	n := dec.count()
	first := r.state.seq - uint64(n) + 1
	if first > s.want {
		return s.corrupt(fmt.Sprintf("event %d is missing", s.want))
	}
	dec = decoder{b: body}
	entries, damage := dec.entries(first)
	if isNotFound(err) {
		damage = errDamaged
	}
	return s.emit(first, r.previous, entries, damage, m.Seq)
}

// emit adds the entries of a message from the wanted one on, after it has checked them.
// damage says why entries are missing after them.
func (s *scan) emit(first uint64, previous [32]byte, entries []log.Entry, damage error, tok uint64) error {
	skip := s.want - first
	if skip > uint64(len(entries)) {
		return s.corrupt(cmp.Or(damage, errDamaged).Error())
	}
	if skip > 0 {
		previous = entries[skip-1].Hash
	}
	if len(s.out) > 0 {
		previous = s.hash
	}
	for _, e := range entries[skip:] {
		if len(s.out) == s.most {
			return nil
		}
		e.Tok = tok
		if err := log.Check(s.last.room, s.want-1, previous, []log.Entry{e}); err != nil {
			return err
		}
		s.out = append(s.out, e)
		s.want, s.hash, previous = s.want+1, e.Hash, e.Hash
	}
	if damage != nil && len(s.out) < s.most {
		if errors.Is(damage, errDamaged) {
			return s.corrupt(damage.Error())
		}
		return &problem.Error{
			Code: "LOG-EVENT", What: "the event is whole but cannot be read", Err: damage,
			Where: fmt.Sprintf("room %s, event %d", s.last.room, s.want), Fix: "read it with the release of moot that wrote it",
		}
	}
	return nil
}

// next returns the next message of the room, up to the last.
func (s *scan) next(ctx context.Context) (message, error) {
	if s.from > s.last.seq {
		return message{}, s.corrupt(fmt.Sprintf("event %d is missing", s.want))
	}
	if len(s.waiting) == 0 && !s.atLeader {
		// An error shows as a missing message, which is then read at the leader.
		s.waiting, _ = s.d.batch(ctx, s.stream, s.subject, s.from, min(s.most-len(s.out)+1, 256))
		if err := ctx.Err(); err != nil {
			return message{}, err
		}
	}
	var m message
	if len(s.waiting) > 0 {
		m, s.waiting = s.waiting[0], s.waiting[1:]
	} else {
		var err error
		if m, err = s.d.next(ctx, s.stream, s.subject, s.from); isNotFound(err) {
			return m, s.corrupt("the servers cannot read its message")
		} else if err != nil {
			return m, unreachable("room "+s.last.room, err)
		}
	}
	s.from = m.Seq + 1
	return m, nil
}

// start finds the message with the wanted event, by binary search over the numbers of the
// stream unless the caller knows it. It returns a place that is not after it.
func (s *scan) start(ctx context.Context, after log.Pos) (uint64, error) {
	if after.Seq == 0 || after.Tok != 0 {
		return max(after.Tok, 1), nil
	}
	low, high := uint64(1), s.last.seq // the message is not before low and not after high
	for low < high {
		middle := low + (high-low)/2
		m, err := s.d.next(ctx, s.stream, s.subject, middle)
		if isNotFound(err) {
			return low, nil // damaged: the scan reports it
		}
		if err != nil {
			return 0, unreachable("room "+s.last.room, err)
		}
		r, err := decodeRecord(m.Data)
		switch {
		case err != nil:
			return low, nil
		case r.state.seq <= after.Seq:
			low = m.Seq + 1
		case m.Seq > middle:
			high = middle // between them there is none
		default:
			high = middle
		}
	}
	return low, nil
}

// body returns the body of a record, also when it is in parts.
func (d *DB) body(ctx context.Context, stream string, r record) ([]byte, error) {
	if len(r.parts) == 0 {
		return r.body, nil
	}
	var all []byte
	for _, seq := range r.parts {
		m, err := d.at(ctx, stream, seq)
		if err != nil {
			return all, err
		}
		part, err := decodeRecord(m.Data)
		if err != nil || part.kind != partKind || part.room != r.room {
			return all, errNoMessage
		}
		all = append(all, part.body...)
	}
	return all, nil
}
