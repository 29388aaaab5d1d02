package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/room/log"
)

// scan returns up to max entries as they are stored, and checks that none is
// missing at the end of the page.
func (r *reader) scan(t *tail, after uint64, page int) ([]log.Entry, error) {
	expect := min(uint64(page), t.last-after)
	entries := make([]log.Entry, 0, expect)
	err := r.page.each(func(row []driver.Value) error {
		e, err := scanEntry(row)
		if err != nil {
			return log.Corrupt(t.name, after+1+uint64(len(entries)), err.Error())
		}
		entries = append(entries, e)
		return nil
	}, key(t.id, after), key(t.id, maxSeq), int64(page))
	if err != nil {
		return nil, blame(err, t.name, after+1+uint64(len(entries)))
	}
	switch n := uint64(len(entries)); {
	case n < expect:
		return nil, log.Corrupt(t.name, after+n+1, fmt.Sprintf("event %d is missing", after+n+1))
	case n > expect:
		return nil, log.Corrupt(t.name, t.last, "there are events after the one that the index names as the last")
	}
	if n := len(entries); n > 0 && entries[n-1].Seq == t.last && entries[n-1].Hash != t.hash {
		return nil, log.Corrupt(t.name, t.last, "it is not the event that the index names as the last")
	}
	return entries, nil
}

// blame turns SQLite's word that the file is damaged into one of where.
func blame(err error, room string, seq uint64) error {
	if code := primary(err); code == corruptCode {
		return log.Corrupt(room, seq, "the page that holds it is damaged: "+err.Error())
	}
	return err
}

// scanEntry takes a row of the table events. The id is kept in Event until
// open has compared it with the body. Raw is the stub of a redacted event.
func scanEntry(row []driver.Value) (log.Entry, error) {
	var e log.Entry
	var k int64
	var b []byte
	if !get(row[0], &k) || !get(row[1], &e.Event.ID) || !get(row[2], &b) || !get(row[3], &e.Raw) {
		return e, errors.New("its row has wrong types")
	}
	e.Seq = uint64(k) & maxSeq
	e.Tok = e.Seq
	return e, split(b, e.Raw, &e)
}
