package jetstream

import (
	"context"
	"iter"

	"github.com/nats-io/nats.go"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
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

// Follow implements [log.Reader].
func (d *DB) Follow(ctx context.Context, name string, after log.Pos) iter.Seq2[log.Entry, error] {
	return d.news.Follow(ctx, name, after, rows.Source{Read: d.Read, Closing: d.life.Done(), Closed: errClosed, Poll: d.poll})
}
