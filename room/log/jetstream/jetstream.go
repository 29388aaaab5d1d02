// Package jetstream keeps rooms in NATS JetStream. It is the engine for more than one
// machine: where there are three servers, each stream has three replicas, and an append
// is acknowledged when a majority has stored it. The servers must run with
// sync_interval always; otherwise a stored message may not be on stable storage.
//
// Each room is a subject of one of the streams for rooms. An append is one message,
// published with the sequence number that the subject's last message must have
// (compare-and-set). Each message repeats the state of the room after it, so that the
// last one is the room's entry in the index.
//
// The state of a room is read at the leader of its stream. Older messages are
// read in batches, which any replica may answer; they are checked against the chain of
// hashes up to that state, and read at the leader if they do not reach it.
package jetstream

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
	"github.com/nats-io/nats.go"
)

// Config says where the log is. The zero values of all but URL are those to use.
type Config struct {
	URL       string                     // of the servers: nats://one:4222,nats://two:4222; a path is the Prefix
	TLS       *tls.Config                // for servers that want certificates of clients; nil as the URL says
	InProcess nats.InProcessConnProvider // a server of this process, used instead of the network; nil without one
	Prefix    string                     // begins the names of streams and subjects; empty is moot
	ReadOnly  bool                       // never change the log; [log.ErrNotFound] when there is none
	Replicas  int                        // of each stream; 0 is three where the servers are a cluster, and one elsewhere
	Streams   int                        // over which new logs spread rooms; 0 is 64. A log keeps its number
	Timeout   time.Duration              // for which a request is repeated while the servers do not answer; 0 is 5 s
	Lease     time.Duration              // after which the locks of a lost process are free; 0 is 6 s
	Poll      time.Duration              // how often Follow reads a room of which no news has come; 0 is 5 s
}

// A DB is an open log. It is safe for concurrent use.
type DB struct {
	nc       *nats.Conn
	prefix   string
	shards   []string // names of the streams for rooms
	readOnly bool
	replicas int
	timeout  time.Duration
	attempt  time.Duration // of one request
	lease    time.Duration
	poll     time.Duration
	most     int // bytes of a body in one message

	life    context.Context // ends with Close
	end     context.CancelFunc
	once    sync.Once
	workers sync.WaitGroup
	node    node
	seen    sightings
	news    rows.News
	heads   heads
	ledger  ledger

	mu    sync.Mutex
	rooms map[string]*roomState
}

var (
	_ log.Log     = (*DB)(nil)
	_ log.Members = (*DB)(nil)
)

// Open connects to the servers, and makes the streams when there are none. The
// caller must Close it.
func Open(ctx context.Context, c Config) (*DB, error) {
	servers, prefix, err := splitURL(c)
	if err != nil {
		return nil, err
	}
	d := &DB{
		prefix: prefix, readOnly: c.ReadOnly, replicas: c.Replicas, timeout: cmp.Or(c.Timeout, 5*time.Second),
		lease: cmp.Or(c.Lease, 6*time.Second), poll: cmp.Or(c.Poll, 5*time.Second),
		rooms: map[string]*roomState{},
	}
	d.attempt = min(d.timeout/3, 2*time.Second)
	d.life, d.end = context.WithCancel(context.Background())
	d.node.id, d.node.renewals = rand.Text(), time.NewTicker(d.lease/3)
	options := append(c.transport(), nats.Name("moot"), nats.Timeout(min(d.timeout, 2*time.Second)), nats.MaxReconnects(-1), nats.ReconnectWait(200*time.Millisecond),
		nats.PingInterval(time.Second), nats.MaxPingsOutstanding(2), nats.ReconnectBufSize(-1),
		nats.ReconnectHandler(func(*nats.Conn) { d.news.TellAll() }))
	d.nc, err = nats.Connect(servers, options...)
	if err != nil {
		return nil, unreachable("log "+prefix, err)
	}
	if err := d.prepare(ctx, cmp.Or(c.Streams, 64)); err != nil {
		d.nc.Close()
		return nil, err
	}
	return d, nil
}

// transport says how the servers are reached.
func (c Config) transport() (options []nats.Option) {
	if c.TLS != nil {
		options = append(options, nats.Secure(c.TLS))
	}
	if c.InProcess != nil {
		options = append(options, nats.InProcessServer(c.InProcess))
	}
	return options
}

// splitURL returns the servers without a path, and the prefix.
func splitURL(c Config) (servers, prefix string, err error) {
	prefix = c.Prefix
	all := strings.Split(c.URL, ",")
	for i, s := range all {
		u, err := url.Parse(strings.TrimSpace(s)) // its error has the password of the address
		if err != nil || u.Hostname() == "" {
			return "", "", badURL("an address is nats://host:port")
		}
		if path := strings.Trim(u.Path, "/"); path != "" {
			prefix = cmp.Or(prefix, path)
		}
		u.Path = ""
		all[i] = u.String()
	}
	prefix = cmp.Or(prefix, "moot")
	if encodeName(prefix) != prefix {
		return "", "", badURL("the name of the log in its path has letters, digits, - and _ only")
	}
	return strings.Join(all, ","), prefix, nil
}

// prepare makes the streams and starts the goroutines.
func (d *DB) prepare(ctx context.Context, streams int) error {
	// A message has the body, and its header with the names of up to 1,000 parts.
	d.most = int(min(d.nc.MaxPayload(), 1<<20)) - 16<<10
	if d.most < 16<<10 {
		return tooSmall(d.nc.MaxPayload())
	}
	if d.replicas == 0 {
		d.replicas = 1
		if d.nc.ConnectedClusterName() != "" {
			d.replicas = 3
		}
	}
	if err := d.makeStreams(ctx, streams); err != nil {
		return err
	}
	if err := d.subscribe(); err != nil {
		return unreachable("log "+d.prefix, err)
	}
	if !d.readOnly {
		d.workers.Go(d.writeHeads)
	}
	return nil
}

// beginWriting is begin for calls that change the log.
func (d *DB) beginWriting(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if d.readOnly {
		return ctx, nil, errReadOnly(d.prefix)
	}
	return d.begin(ctx)
}

// Close writes the heads, frees all locks, and ends every Follow. Without a connection it
// leaves the locks to the end of the lease, and the heads as they are.
func (d *DB) Close() error {
	d.once.Do(func() {
		d.end()
		d.news.TellAll()
		d.workers.Wait()
		d.freeAll()
		d.nc.Close()
	})
	return nil
}

var errClosed = fmt.Errorf("the log is closed: %w", log.ErrFailed)

// begin checks what every call needs, and bounds the call's context to the log's life.
func (d *DB) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return ctx, nil, err
	}
	if d.life.Err() != nil {
		return ctx, nil, errClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(d.life, func() { cancel(errClosed) })
	return ctx, func() { stop(); cancel(nil) }, nil
}

// isNotFound says that there is no such message.
func isNotFound(err error) bool { return errors.Is(err, errNoMessage) }
