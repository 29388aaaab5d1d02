package jetstream

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/nats-io/nats.go"
)

// subscribe receives the news of all processes with one subscription.
func (d *DB) subscribe() error {
	_, err := d.nc.Subscribe(d.prefix+".news", func(m *nats.Msg) { d.news.Tell([]string{string(m.Data)}) })
	if err == nil {
		err = d.nc.FlushTimeout(d.timeout)
	}
	return err
}

// announce tells all processes that a room has changed. The message is not stored: a follower
// that misses it reads the room within the poll time.
func (d *DB) announce(room string) {
	d.news.Tell([]string{room})
	d.nc.Publish(d.prefix+".news", []byte(room))
}

// Follow implements [log.Reader]. A room that does not exist yet is waited for. The
// sequence ends without an error when ctx ends, and with one when the log is closed or
// the room removed.
func (d *DB) Follow(ctx context.Context, name string, after log.Pos) iter.Seq2[log.Entry, error] {
	return log.FollowWith(ctx, after, func(at log.Pos) ([]log.Entry, error) { return d.wait(ctx, name, at) })
}

// wait returns the entries after a place. When there are none, it waits for a change and
// returns none.
func (d *DB) wait(ctx context.Context, name string, after log.Pos) ([]log.Entry, error) {
	w := d.news.Ask(name)
	defer d.news.Leave(name, w)
	entries, err := d.Read(ctx, name, after, 0)
	if errors.Is(err, log.ErrNotFound) && after.Seq == 0 {
		err = nil
	}
	if err != nil || len(entries) > 0 {
		return entries, err
	}
	timer := time.NewTimer(d.poll)
	defer timer.Stop()
	select {
	case <-w.Changed:
	case <-timer.C:
	case <-ctx.Done():
	case <-d.life.Done():
		return nil, errClosed
	}
	return nil, nil
}
