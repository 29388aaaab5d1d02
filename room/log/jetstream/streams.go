package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/room/log"
)

// A mark is written when all streams of a log have been made. A stream that is missing
// afterwards was lost by the servers.
type mark struct {
	Version int `json:"version"`
	Streams int `json:"streams"`
}

const markVersion = 1

// makeStreams makes the streams of a new log, and checks that an old one has all of its
// own.
func (d *DB) makeStreams(ctx context.Context, count int) error {
	old, err := d.readMark(ctx)
	if err != nil {
		return err
	}
	if old.Streams != 0 {
		count = old.Streams
	}
	for i := range count {
		d.shards = append(d.shards, d.stream(fmt.Sprintf("%s-%d", roomStream, i)))
	}
	if old.Streams != 0 {
		return d.checkStreams(ctx)
	}
	if d.readOnly {
		return none(d.prefix)
	}
	return d.newStreams(ctx)
}

// readMark returns the mark, the zero mark of a new log.
func (d *DB) readMark(ctx context.Context) (m mark, err error) {
	got, err := d.last(ctx, d.stream(indexStream), d.subject("mark", "log"))
	if errors.Is(err, errNoStream) || isNotFound(err) {
		return m, nil
	}
	if err != nil {
		return m, unreachable("log "+d.prefix, err)
	}
	if err := json.Unmarshal(got.Data, &m); err != nil || m.Streams < 1 || m.Streams > 4096 {
		return m, log.Corrupt("", 0, fmt.Sprintf("the mark of the log %s is damaged", d.prefix))
	}
	if m.Version != markVersion {
		return m, newer(d.prefix, m.Version)
	}
	return m, nil
}

// checkStreams refuses a log of which the servers have lost a stream: what it held would
// read as if it had never been there.
func (d *DB) checkStreams(ctx context.Context) error {
	for _, name := range append([]string{d.stream(keepStream), d.stream(ledgerStream)}, d.shards...) {
		err := d.call(ctx, "INFO", name, struct{}{}, nil)
		if errors.Is(err, errNoStream) {
			return lost(name)
		}
		if err != nil {
			return unreachable("log "+d.prefix, err)
		}
	}
	return nil
}

// newStreams makes all streams, and the mark last. Streams that exist are kept.
func (d *DB) newStreams(ctx context.Context) error {
	type settings = map[string]any
	all := map[string]settings{
		d.stream(indexStream): {
			"subjects":             []string{d.prefix + ".mark.*", d.prefix + ".head.*", d.prefix + ".lock.*", d.prefix + ".node.*"},
			"max_msgs_per_subject": 1,
		},
		d.stream(keepStream):   {"subjects": []string{d.prefix + ".blob.*", d.prefix + ".snapshot.*"}},
		d.stream(ledgerStream): {"subjects": []string{d.prefix + ".ledger.*"}, "max_age": 2 * log.LedgerKept / time.Nanosecond},
	}
	for i, name := range d.shards {
		all[name] = settings{"subjects": []string{fmt.Sprintf("%s.%s.%d.*", d.prefix, roomStream, i)}}
	}
	for name, s := range all {
		s["name"], s["num_replicas"] = name, d.replicas
		s["storage"], s["retention"], s["discard"] = "file", "limits", "new"
		s["allow_direct"], s["duplicate_window"] = true, time.Second
		if s["max_msgs_per_subject"] != nil {
			s["discard"] = "old" // a new value replaces the old one
		}
		if err := d.call(ctx, "CREATE", name, s, nil); err != nil {
			return noStream(name, d.replicas, err)
		}
	}
	data, err := json.Marshal(mark{Version: markVersion, Streams: len(d.shards)})
	if err != nil {
		return err
	}
	err = d.retry(ctx, func() error {
		_, err := d.publish(ctx, d.subject("mark", "log"), data, 0)
		return err
	})
	if err != nil && !errors.Is(err, errWrongLast) {
		return unreachable("log "+d.prefix, err)
	}
	again, err := d.awaitMark(ctx)
	if err == nil && again.Streams != len(d.shards) {
		err = fmt.Errorf("opening log: %d streams were made meanwhile", again.Streams)
	}
	return err
}

// awaitMark reads the mark after it was written, perhaps by another process. A second mark is
// refused before the first one can be read.
func (d *DB) awaitMark(ctx context.Context) (m mark, err error) {
	err = d.retry(ctx, func() (err error) {
		if m, err = d.readMark(ctx); err == nil && m.Streams == 0 {
			return errNoAnswer
		}
		return err
	})
	if errors.Is(err, errNoAnswer) {
		err = unreachable("log "+d.prefix, err)
	}
	return m, err
}
