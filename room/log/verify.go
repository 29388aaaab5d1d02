package log

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Check verifies entries of a room that directly follow seq after, at which
// the chain's hash is previous: dense sequence numbers, commitments and links.
// A redacted entry is checked by its commitment alone. The error is a
// [CorruptError] that names the first bad seq.
func Check(room string, after uint64, previous [32]byte, entries []Entry) error {
	for i := range entries {
		e := &entries[i]
		if want := after + 1; e.Seq != want {
			return Corrupt(room, want, fmt.Sprintf("event %d is missing, %d follows %d", want, e.Seq, after))
		}
		if why := fault(previous, e); why != "" {
			return Corrupt(room, e.Seq, why)
		}
		after, previous = e.Seq, e.Hash
	}
	return nil
}

// fault says what is wrong with one entry; "" when nothing is.
func fault(previous [32]byte, e *Entry) string {
	switch {
	case e.Redacted && (e.Raw != nil || e.Salt != nil):
		return "a redacted event still has a body"
	case !e.Redacted && len(e.Salt) != SaltSize:
		return "its salt has a wrong length"
	case !e.Redacted && Commit(e.Salt, e.Raw) != e.Commit:
		return "its body is not the one that was appended"
	case Link(previous, e.Seq, e.Commit) != e.Hash:
		return "its hash does not follow from the event before"
	case e.Event.Seq != int64(e.Seq):
		return fmt.Sprintf("its body says that it is event %d", e.Event.Seq)
	}
	return ""
}

// A Mark is a place in a room's chain that the caller trusts, such as a
// snapshot's. The zero Mark is the beginning.
type Mark struct {
	Seq  uint64
	Hash [32]byte
}

// Verify reads a room from a trusted mark to its tail and checks that all of
// it is one chain. It returns the tail. A log that ends before the mark has
// lost events and is corrupt.
func Verify(ctx context.Context, r Reader, room string, from Mark) (Mark, error) {
	tail, err := r.Tail(ctx, room)
	if err != nil {
		return from, err
	}
	if tail.Seq < from.Seq {
		return from, Corrupt(room, tail.Seq+1, fmt.Sprintf("it ends at event %d although event %d was stored", tail.Seq, from.Seq))
	}
	if from, err = anchor(ctx, r, room, from); err != nil {
		return from, err
	}
	for e, err := range Scan(ctx, r, room, Pos{Seq: from.Seq}) {
		if err != nil {
			return from, err
		}
		if err := Check(room, from.Seq, from.Hash, []Entry{e}); err != nil {
			return from, err
		}
		from = Mark{Seq: e.Seq, Hash: e.Hash}
	}
	if from.Seq < tail.Seq {
		return from, Corrupt(room, from.Seq+1, fmt.Sprintf("event %d is missing", from.Seq+1))
	}
	return from, nil
}

// anchor checks that the chain has the mark's hash at the mark's seq.
func anchor(ctx context.Context, r Reader, room string, from Mark) (Mark, error) {
	if from.Seq == 0 {
		return Mark{}, nil
	}
	entries, err := r.Read(ctx, room, Pos{Seq: from.Seq - 1}, 1)
	if err != nil {
		return from, err
	}
	if len(entries) == 0 || entries[0].Seq != from.Seq || entries[0].Hash != from.Hash {
		return from, Corrupt(room, from.Seq, "its hash is not the one that was noted for it")
	}
	return from, nil
}

// scanPage is how many entries [Scan] reads at a time.
const scanPage = 1000

// A page is what one read gave.
type page struct {
	entries []Entry
	err     error
}

// Scan yields what a room holds after a place, to its tail, and reads the
// next page while the caller works on this one. It is how a room is folded. An
// error ends it; a room that does not exist is [ErrNotFound].
func Scan(ctx context.Context, r Reader, room string, after Pos) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		pages := make(chan page)
		go readPages(ctx, r, room, after, pages)
		defer func() {
			cancel()
			for range pages { // until the goroutine has ended
			}
		}()
		for p := range pages {
			for _, e := range p.entries {
				if !yield(e, nil) {
					return
				}
			}
			if p.err != nil {
				yield(Entry{}, p.err)
				return
			}
		}
	}
}

// CheckWhole checks the name and the chain of a whole room that an engine is given.
func CheckWhole(room string, entries []Entry) error {
	if err := CheckName(room); err != nil {
		return err
	}
	if len(entries) == 0 {
		return errors.New("restoring: no events")
	}
	return Check(room, 0, [32]byte{}, entries)
}

// FollowWith implements [Reader.Follow] for an engine. next returns the entries
// after a place, with an error those before the damage; when there are none it
// waits for a change and may return none.
func FollowWith(ctx context.Context, after Pos, next func(after Pos) ([]Entry, error)) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for at := after; ; {
			entries, err := next(at)
			if ctx.Err() != nil {
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
				at = e.Pos
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
		}
	}
}

// readPages sends pages until one is not full, and closes the channel.
func readPages(ctx context.Context, r Reader, room string, after Pos, pages chan<- page) {
	defer close(pages)
	for {
		entries, err := r.Read(ctx, room, after, scanPage)
		pages <- page{entries, err} // Scan takes all of them, to the end
		if ctx.Err() != nil {
			return
		}
		if err != nil || len(entries) < scanPage {
			return
		}
		after = entries[len(entries)-1].Pos
	}
}
