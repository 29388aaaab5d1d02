package timeline

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
)

// An Inbox is what waits for the person in the rooms of a device, or of a server.
type Inbox interface {
	// Follow calls f with what waits, and then with each change, until ctx or the
	// process behind it ends.
	Follow(ctx context.Context, f func(inbox.Change) error) error
	// Answer answers an item. The error of a second answer says who was first.
	Answer(ctx context.Context, id string, a inbox.Answer) error
}

// An entry is an item of the list of what waits.
type entry struct {
	inbox.Item
	ended string // how it has ended, "" while it waits
}

// A waiting is the list of what waits for the person in all rooms, the oldest first.
// An entry that ends while the list is shown stays, so that no key reaches another one.
type waiting struct {
	entries []entry
	chosen  string // id of the entry that keys answer, "" for none
	shown   bool
	said    string // the answer to the last key
	lost    error  // why the items of other rooms are not known
	edited  string // the turn whose draft the person has edited, until the new draft is listed
}

// A followed is a change of the inbox.
type followed struct {
	change inbox.Change
	lost   error // the inbox cannot be read
}

// An answered is the result of an answer to an item of another room.
type answered struct{ err error }

// retryInbox is how long follow waits before it reads an inbox again.
const retryInbox = 3 * time.Second

// follow delivers the changes of the inbox until ctx ends.
func (s *Session) follow(ctx context.Context, deliver func(any)) {
	for {
		err := s.Inbox.Follow(ctx, func(c inbox.Change) error {
			deliver(followed{change: c})
			return ctx.Err()
		})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			deliver(followed{lost: err})
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(retryInbox):
		}
	}
}

// noteFollowed takes a change of the inbox. The items of the room that is shown are
// known from its events.
func (s *Session) noteFollowed(f followed) {
	w := &s.waits
	w.lost = f.lost
	if f.lost != nil {
		w.remove(func(x entry) bool { return x.Room != s.view.Room })
		return
	}
	if x := f.change.Item; x != nil && x.Room != s.view.Room {
		w.put(*x)
	}
	if x := f.change.Ended; x != nil && !strings.HasPrefix(x.ID, s.view.Room+"/") {
		w.end(x.ID, howEnded(x.Answer))
	}
}

// howEnded says how an item of another room has ended.
func howEnded(a *room.Answer) string {
	if a == nil {
		return "does not wait any more"
	}
	how := term.Line(a.What)
	if a.By != "" && a.By != room.ActorRoom {
		how += " by " + term.Line(a.By)
	}
	if a.Via != "" {
		how += " (" + term.Line(a.Via) + ")"
	}
	return how
}

// noteOwn takes what waits in the room that is shown. e may have ended an item.
func (s *Session) noteOwn(e room.Event) {
	w, in := &s.waits, s.view.Room+"/"
	switch b := e.Body.(type) {
	case room.TurnApproved:
		w.end(in+b.Draft, "approved"+s.Printer.by(e.Actor)+from(e))
	case room.TurnRejected:
		w.end(in+b.Draft, "rejected"+s.Printer.by(e.Actor)+from(e))
	case room.TurnEdited:
		for _, x := range w.entries {
			if x.Room == s.view.Room && x.Kind == inbox.Draft && x.Item.ID != in+b.Draft {
				w.end(x.Item.ID, "edited"+s.Printer.by(e.Actor)+from(e))
			}
		}
	case room.PermissionAnswered:
		how := "denied"
		switch {
		case b.Values != nil:
			how = "answered"
		case b.Allowed:
			how = "allowed"
		case e.Actor == room.ActorRoom:
			how = "refused" + because(b.Reason)
		}
		w.end(in+b.ID, how+s.Printer.by(e.Actor)+from(e))
	}
	s.listOwn()
}

// listOwn lists what waits in the room as it is shown.
func (s *Session) listOwn() {
	v := s.view
	now := room.Waiting{Room: v.Room, Name: v.Name, Phase: v.Phase, Turn: v.Turn, Draft: v.Draft, Timeout: v.Limits.DraftTimeout, Requests: v.Requests}
	for _, x := range v.Seats {
		if markOf(x) == speaksMark {
			now.Participant = x.ID
		}
	}
	if v.Draft != nil {
		now.Participant = v.Draft.Message.From
	}
	items := inbox.ItemsOf(now)
	for _, x := range s.waits.entries {
		if x.Room == v.Room && !slices.ContainsFunc(items, func(i inbox.Item) bool { return i.ID == x.ID }) {
			s.waits.end(x.ID, "ended with its turn")
		}
	}
	for _, x := range items {
		s.waits.put(x)
	}
}

// put adds an item, or replaces what is known of it.
func (w *waiting) put(x inbox.Item) {
	if i := w.index(x.ID); i >= 0 {
		if w.entries[i].ended == "" {
			w.entries[i].Item = x
		}
		return
	}
	at := len(w.entries)
	if !w.shown { // the list does not move while it is shown
		at = sort.Search(at, func(i int) bool { return w.entries[i].Since.After(x.Since) })
	}
	w.entries = slices.Insert(w.entries, at, entry{Item: x})
	if w.shown && (w.chosen == "" || w.edited != "" && w.edited == turnOf(x)) {
		w.chosen, w.edited = x.ID, ""
	}
}

// turnOf returns the turn of a draft, and "" of other items.
func turnOf(x inbox.Item) string {
	if x.Kind != inbox.Draft {
		return ""
	}
	return fmt.Sprint(x.Room, "#", x.Turn)
}

// end marks an entry as ended, or removes it if the list is not shown.
func (w *waiting) end(id, how string) {
	i := w.index(id)
	switch {
	case i < 0 || w.entries[i].ended != "":
	case w.shown:
		w.entries[i].ended = how
		w.forget()
	default:
		w.entries = slices.Delete(w.entries, i, i+1)
	}
}

// maxEnded is the number of ended entries that a list shows.
const maxEnded = 50

// forget removes the oldest ended entry if there are too many.
func (w *waiting) forget() {
	if len(w.entries)-w.count() <= maxEnded {
		return
	}
	i := slices.IndexFunc(w.entries, func(x entry) bool { return x.ended != "" && x.ID != w.chosen })
	w.entries = slices.Delete(w.entries, i, i+1)
}

func (w *waiting) remove(drop func(entry) bool) {
	w.entries = slices.DeleteFunc(w.entries, drop)
	if w.index(w.chosen) < 0 {
		w.chosen = ""
	}
}

func (w *waiting) index(id string) int {
	return slices.IndexFunc(w.entries, func(x entry) bool { return x.ID == id })
}

// count returns the number of items that wait.
func (w *waiting) count() (n int) {
	for _, x := range w.entries {
		if x.ended == "" {
			n++
		}
	}
	return n
}

// open begins to show the list. The oldest item of the room that is shown is chosen,
// else the oldest.
func (w *waiting) open(shownRoom string) {
	w.shown, w.said, w.chosen, w.edited = true, "", "", ""
	for _, x := range w.entries {
		if w.chosen == "" || x.Room == shownRoom {
			w.chosen = x.ID
		}
		if x.Room == shownRoom {
			return
		}
	}
}

// close ends the list. It forgets the items that have ended.
func (w *waiting) close() {
	w.shown, w.said, w.chosen = false, "", ""
	w.remove(func(x entry) bool { return x.ended != "" })
}

// choose moves the choice by n entries.
func (w *waiting) choose(n int) {
	if len(w.entries) == 0 {
		return
	}
	i := min(max(0, w.index(w.chosen)+n), len(w.entries)-1)
	w.chosen, w.said = w.entries[i].ID, ""
}

// current returns the chosen entry.
func (w *waiting) current() (entry, bool) {
	if i := w.index(w.chosen); i >= 0 {
		return w.entries[i], true
	}
	return entry{}, false
}

// summary returns the heading of the list.
func (w *waiting) summary() string {
	n := w.count()
	text := fmt.Sprintf("%d wait for you", n)
	switch n {
	case 0:
		text = "nothing waits for you"
	case 1:
		text = "1 waits for you"
	}
	if ended := len(w.entries) - n; ended > 0 {
		text += fmt.Sprintf(", %d ended", ended)
	}
	return text
}
