package log

import (
	"context"
	"iter"
)

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
