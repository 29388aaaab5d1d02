package server

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"net/http"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/page"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/log"
)

func (s *Server) registerHistory() {
	route(s, Read, huma.Operation{
		OperationID: "history", Method: http.MethodGet, Path: "/api/rooms/{room}/history", Summary: "Read stored events of a room in the form of pages: the last, those before an event, those behind one, those around a turn, or those with a text",
	}, s.history)
	route(s, Control, huma.Operation{
		OperationID: "event", Method: http.MethodGet, Path: "/api/rooms/{room}/history/{seq}", Summary: "Read one event of a room in the form of pages, with the whole text of a redacted message",
	}, s.oneEvent)
}

type (
	historyInput struct {
		Room   string `path:"room" maxLength:"128"`
		Before int64  `query:"before" minimum:"1" doc:"Events before this one; without it and after, the last"`
		After  int64  `query:"after" minimum:"0" doc:"Events behind this one"`
		Turn   int    `query:"turn" minimum:"1" doc:"Events around the beginning of this turn"`
		Search string `query:"search" maxLength:"200" doc:"Only events whose texts contain this, in any case, the newest before an event. An answer covers a part of the log: search on with before=first until first is 1"`
		Inside bool   `query:"internal" doc:"Only internal messages, the newest before an event. An answer covers a part of the log, as with search"`
		Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"300" doc:"Most events of one answer"`
	}
	historyOutput struct{ Body api.History }
	eventInput    struct {
		Room string `path:"room" maxLength:"128"`
		Seq  int64  `path:"seq" minimum:"1"`
	}
	eventOutput struct{ Body api.Update }
)

// history reads a part of a room's log, which needs no room that runs.
func (s *Server) history(ctx context.Context, in *historyInput) (*historyOutput, error) {
	tail, err := s.cfg.Host.Log().Tail(ctx, in.Room)
	if err == nil && tail.Seq == 0 {
		_, err = s.cfg.Host.View(ctx, in.Room, room.UserVisible) // says what is wrong
	}
	if err != nil {
		return nil, err
	}
	last := int64(tail.Seq)
	start, end := max(0, last-int64(in.Limit)), last
	if in.Turn > 0 {
		at, err := s.turnAt(ctx, in.Room, in.Turn, last)
		if err != nil {
			return nil, err
		}
		in.Before = at + int64(in.Limit)/2 + 1
	}
	switch {
	case in.Before > 0:
		end = min(in.Before-1, last)
		start = max(0, end-int64(in.Limit))
	case in.After > 0:
		start = min(in.After, last)
		end = min(last, start+int64(in.Limit))
	}
	if in.Search != "" || in.Inside {
		h, err := s.search(ctx, in, end)
		h.Tail = last
		return &historyOutput{h}, err
	}
	events, err := s.pageEvents(ctx, in.Room, start, end, nil)
	return &historyOutput{api.History{First: start + 1, Last: end, Tail: last, Events: events}}, err
}

// pageEvents returns the events of a room after one, up to the one with the number end,
// in the form of pages, as the caller sees them: those that are wanted, all if that is
// nil.
func (s *Server) pageEvents(ctx context.Context, id string, after, end int64, wanted func(moot.Event) bool) ([]api.Update, error) {
	out, level := []api.Update{}, CallerOf(ctx).level()
	for e, err := range s.entries(ctx, id, after, end) {
		if err != nil {
			return nil, err
		}
		seen, ok := moot.Visible(e.Event, level)
		if !ok || wanted != nil && !wanted(pageEvent(seen)) {
			continue
		}
		u, err := pageUpdate(moot.Update{Event: &seen})
		if err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

// searchAtOnce is how many events one answer to a search covers.
const searchAtOnce = 20_000

// search returns the newest events up to the one with the number end that in asks for.
// First is the number of the oldest event that it has read.
func (s *Server) search(ctx context.Context, in *historyInput, end int64) (api.History, error) {
	text := strings.ToLower(in.Search)
	wanted := func(e moot.Event) bool { return (!in.Inside || isInternal(e)) && (text == "" || contains(e, text)) }
	h := api.History{First: end + 1, Last: end, Events: []api.Update{}}
	for stop := max(0, end-searchAtOnce); h.First > stop+1 && len(h.Events) < in.Limit; {
		from := max(stop, h.First-1-readAtOnce)
		found, err := s.pageEvents(ctx, in.Room, from, h.First-1, wanted)
		if err != nil {
			return h, err
		}
		h.First, h.Events = from+1, append(found, h.Events...)
	}
	return h, nil
}

// isInternal reports whether e is an internal message.
func isInternal(e moot.Event) bool {
	b, ok := e.Body.(room.MessagePosted)
	return ok && b.Message.Visibility == room.Internal
}

// contains reports whether a text that a page shows of an event contains text, which is
// in lower case.
func contains(e moot.Event, text string) bool {
	return slices.ContainsFunc(texts(e.Body), func(s string) bool { return strings.Contains(strings.ToLower(s), text) })
}

// texts returns what people and agents have written in an event, and the reasons.
func texts(b room.Body) []string {
	switch b := b.(type) {
	case room.MessagePosted:
		return []string{b.Message.Text, b.Message.Summary}
	case room.TurnDrafted:
		return []string{b.Message.Text, b.Why}
	case room.TurnEdited:
		return []string{b.Text}
	case room.TurnGranted:
		return []string{b.Reason}
	case room.RoundDeclined:
		return []string{b.Reason}
	case room.TurnRejected:
		return []string{b.Reason}
	case room.TurnPassed:
		return []string{b.Reason}
	case room.TurnFailed:
		return []string{b.Code, b.Error}
	case room.TurnInterrupted:
		return []string{b.Reason}
	case room.PermissionAsked:
		return append([]string{b.Permission.Title, b.Permission.Command, strings.Join(b.Permission.Argv, " ")}, b.Permission.Paths...)
	case room.Paused:
		return []string{b.Code, b.Reason}
	case room.Stopped:
		return []string{b.Reason}
	case room.Completed:
		return []string{b.Reason}
	case room.Errored:
		return []string{b.Code, b.Reason}
	}
	return nil
}

// turnAt returns the number of the event that granted a turn. Turns are granted in the
// order of their numbers, so a binary search finds it.
func (s *Server) turnAt(ctx context.Context, id string, turn int, last int64) (int64, error) {
	var failed error
	at := sort.Search(int(last), func(i int) bool {
		if failed != nil {
			return true
		}
		var next int
		next, failed = s.grantAfter(ctx, id, int64(i), last)
		return next > turn
	})
	if failed != nil {
		return 0, failed
	}
	if next, err := s.grantAfter(ctx, id, int64(at)-1, last); err != nil || at == 0 || next != turn {
		return 0, cmp.Or(err, error(&problem.Error{Code: "ROOM-UNKNOWN", What: fmt.Sprintf("room %s has no turn %d", id, turn), Fix: "`moot show " + id + "` lists its turns"}))
	}
	return int64(at), nil
}

// grantAfter returns the number of the first turn that was granted after an event, and
// the largest number if there was none.
func (s *Server) grantAfter(ctx context.Context, id string, after, last int64) (int, error) {
	for e, err := range s.entries(ctx, id, max(after, 0), last) {
		if err != nil {
			return 0, err
		}
		if b, ok := e.Event.Body.(room.TurnGranted); ok {
			return b.Turn, nil
		}
	}
	return math.MaxInt, nil
}

// oneEvent reads one event whole.
func (s *Server) oneEvent(ctx context.Context, in *eventInput) (*eventOutput, error) {
	entries, err := s.cfg.Host.Log().Read(ctx, in.Room, log.At(in.Seq-1), 1)
	if err == nil && len(entries) == 0 {
		err = &problem.Error{Code: "ROOM-SEQ", What: "the room has no such event", Where: "room " + in.Room, Fix: "name an event that it has"}
	}
	if err != nil {
		return nil, err
	}
	e := entries[0].Event // a caller with control sees all of it
	u, err := api.UpdateOf(moot.Update{Event: &e})
	u.HTML = pageHTML(e)
	return &eventOutput{u}, err
}

// maxPagePayload is the size in bytes of the payloads that pages get with their
// messages. They ask for a longer one.
const maxPagePayload = 4 << 10

// pageUpdate is [api.UpdateOf] in the form of pages: with the HTML of texts, without
// long payloads, and without the text of redacted messages, which are read one by one.
func pageUpdate(u moot.Update) (api.Update, error) {
	if u.Event == nil {
		return api.UpdateOf(u)
	}
	e, left := pageEvent(*u.Event), 0
	if m, ok := e.Body.(room.MessagePosted); ok && len(m.Message.Payload) > maxPagePayload {
		left, m.Message.Payload = len(m.Message.Payload), nil
		e.Body = m
	}
	wire, err := api.UpdateOf(moot.Update{Event: &e})
	wire.HTML, wire.PayloadBytes = pageHTML(e), left
	return wire, err
}

// pageEvent returns e without the text of a redacted message.
func pageEvent(e moot.Event) moot.Event {
	if m, ok := e.Body.(room.MessagePosted); ok && m.Message.Visibility == room.UserRedacted {
		m.Message, _ = m.Message.VisibleAt(room.UserVisible)
		e.Body = m
	}
	return e
}

// pageHTML returns the HTML of the text of an event, "" if it has none.
func pageHTML(e moot.Event) string {
	switch b := e.Body.(type) {
	case room.MessagePosted:
		return page.HTML(b.Message.Text)
	case room.TurnDrafted:
		return page.HTML(b.Message.Text)
	case room.TurnEdited:
		return page.HTML(b.Text)
	}
	return ""
}

// viewEvery is the least time between two views that a page gets.
const viewEvery = 200 * time.Millisecond

// A viewer sends a page how the room stands, soon after events.
type viewer struct {
	s    *Server
	q    subscription
	w    frameWriter
	due  <-chan time.Time // nil while nothing has changed
	last time.Time
	mail mailDiff
}

func (v *viewer) changed(f frame) {
	if f.seq > 0 && v.due == nil {
		v.due = time.After(viewEvery - time.Since(v.last))
	}
}

func (v *viewer) send(ctx context.Context) error {
	v.due, v.last = nil, time.Now()
	if !v.q.page {
		return nil
	}
	shown, err := v.s.shown(ctx, v.q.room, v.q.level)
	if err != nil {
		return err
	}
	if err := v.update(api.Update{View: &shown}); err != nil {
		return err
	}
	if m := v.mail.next(shown.Mail); m != nil {
		return v.update(api.Update{Mail: m})
	}
	return nil
}

func (v *viewer) update(u api.Update) error {
	line, err := encodeLine(u)
	if err != nil {
		return err
	}
	return v.w.frame(frame{line: line}, false)
}

// A mailDiff knows which deliveries and dead letters a page has.
type mailDiff struct {
	sent     map[[2]string]delivery.Delivery // by message and receiver
	letter   int64                           // the number of the newest dead letter
	internal int
	dead     int
}

// next returns what has changed in m, or nil.
func (d *mailDiff) next(m *room.MailView) *api.Mail {
	if m == nil {
		return nil
	}
	out := &api.Mail{Internal: m.Internal, Dead: m.Dead}
	now := make(map[[2]string]delivery.Delivery, len(m.Deliveries)) // without those that m does not list any more
	for _, x := range m.Deliveries {
		key := [2]string{x.Message, x.To}
		if d.sent[key] != x {
			out.Deliveries = append(out.Deliveries, x)
		}
		now[key] = x
	}
	for _, l := range m.Letters {
		if l.Seq > d.letter {
			out.Letters, d.letter = append(out.Letters, l), l.Seq
		}
	}
	same := d.sent != nil && out.Internal == d.internal && out.Dead == d.dead && out.Deliveries == nil && out.Letters == nil
	d.sent, d.internal, d.dead = now, out.Internal, out.Dead
	if same {
		return nil
	}
	return out
}

// readAtOnce is how many events are read at a time.
const readAtOnce = 500

// entries yields the entries of a room after one, up to the one with the number tail.
func (s *Server) entries(ctx context.Context, id string, after, tail int64) iter.Seq2[log.Entry, error] {
	return func(yield func(log.Entry, error) bool) {
		for at := log.At(after); int64(at.Seq) < tail; {
			entries, err := s.cfg.Host.Log().Read(ctx, id, at, int(min(readAtOnce, tail-int64(at.Seq))))
			if err == nil && len(entries) == 0 {
				err = log.Corrupt(id, at.Seq+1, "events are missing")
			}
			for _, e := range entries {
				at = e.Pos
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(log.Entry{}, err)
				return
			}
		}
	}
}

// stored yields the events that q asks for of those that were stored when the stream
// began.
func (s *Server) stored(ctx context.Context, q subscription) iter.Seq2[moot.Update, error] {
	return func(yield func(moot.Update, error) bool) {
		for e, err := range s.entries(ctx, q.room, q.after, q.tail) {
			if err != nil {
				yield(moot.Update{}, err)
				return
			}
			if seen, ok := moot.Visible(e.Event, q.level); ok && !yield(moot.Update{Event: &seen}, nil) {
				return
			}
		}
	}
}

// visibleEntries returns the entries that a reader of visible messages gets, without
// the chain, to which others belong too.
func visibleEntries(entries iter.Seq2[log.Entry, error], level room.Visibility) iter.Seq2[log.Entry, error] {
	return func(yield func(log.Entry, error) bool) {
		for e, err := range entries {
			if err != nil {
				yield(e, err)
				return
			}
			if seen, ok := moot.Visible(e.Event, level); ok && !yield(log.Entry{Pos: e.Pos, Event: seen, Redacted: e.Redacted}, nil) {
				return
			}
		}
	}
}
