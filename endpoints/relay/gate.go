package relay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/problem"
)

// A Gate counts the shared calls of this device: over its rooms, its processes
// and their restarts. What it counts is in a folder: a locked file for each
// call under way, which the system gives back when a process dies, and one
// file with the buckets of the rates.
type Gate struct {
	dir string
	mu  sync.Mutex
	now func() time.Time
}

// OpenGate returns the gate that counts in dir, which is made.
func OpenGate(dir string) (*Gate, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &problem.Error{Code: "RELAY-FILE", What: "shared calls cannot be counted", Where: dir, Fix: "make the data folder writable", Err: err}
	}
	return &Gate{dir: dir, now: time.Now}, nil
}

// A side keeps what a device asks apart from what it is asked.
type side string

const (
	asking  side = "out"
	serving side = "in"
)

// bidsPerTurn is how many bids go where one turn would: they are short, and a
// policy asks everybody before each turn.
const bidsPerTurn = 10

// leeway is what the asked side adds to a bucket, in calls: requests that left
// in time arrive at uneven intervals.
const leeway = 0.2

// enter takes one of the concurrent calls of p, and one call from its bucket
// with the device, or says which limit is reached. The asking side waits for
// its bucket as long as ctx lasts. An error of a file denies.
func (g *Gate) enter(ctx context.Context, s side, p Profile, with identity.DeviceID, kind string) (leave func(), err error) {
	p = p.withDefaults()
	leave, err = g.slot(s, p)
	if err != nil {
		return nil, err
	}
	for {
		wait, err := g.take(s, p, with, kind)
		switch {
		case err != nil:
			leave()
			return nil, err
		case wait <= 0:
			return leave, nil
		}
		if end, ok := ctx.Deadline(); s == serving || ok && time.Until(end) < wait {
			leave()
			return nil, limited("RELAY-RATE", fmt.Sprintf("profile %s has had its %d calls a minute with this device", quote(p.Name), p.PerMinute),
				"wait "+wait.Round(time.Second).String()+", or raise rate_per_minute")
		}
		if !pause(ctx, wait) {
			leave()
			return nil, ended(ctx)
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func limited(code, what, fix string) error {
	return &problem.Error{Code: code, What: what, Fix: fix, Kind: endpoint.ErrLimited}
}

// slot holds one of the files that stand for concurrent calls.
func (g *Gate) slot(s side, p Profile) (leave func(), err error) {
	for i := range p.MaxConcurrent {
		unlock, ok, err := tryLock(filepath.Join(g.dir, fmt.Sprintf("%s-%s.%d", s, digest(p.Name), i)))
		if err != nil {
			return nil, uncounted(err)
		}
		if ok {
			return unlock, nil
		}
	}
	return nil, limited("RELAY-BUSY", fmt.Sprintf("profile %s has %d shared calls under way", quote(p.Name), p.MaxConcurrent),
		"wait for one to end, or raise max_concurrent_shared_calls")
}

func uncounted(err error) error {
	return &problem.Error{Code: "RELAY-FILE", What: "shared calls cannot be counted, so none is made", Fix: "make room, and the data folder writable", Err: err, Kind: endpoint.ErrLimited}
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// A bucket holds calls that may be made at once; it fills with time.
type bucket struct {
	Calls float64   `json:"calls"`
	At    time.Time `json:"at"`
}

// take takes one call from the bucket of a profile and a device, or returns
// how long it takes until there is one.
func (g *Gate) take(s side, p Profile, with identity.DeviceID, kind string) (wait time.Duration, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	unlock, err := lock(filepath.Join(g.dir, "rates.lock"))
	if err != nil {
		return 0, uncounted(err)
	}
	defer unlock()
	path := filepath.Join(g.dir, "rates.json")
	buckets, err := readBuckets(path)
	if err != nil {
		return 0, uncounted(err)
	}
	per, most := float64(p.PerMinute), float64(p.Burst)
	if kind == endpoint.Bid {
		per, most = per*bidsPerTurn, most*bidsPerTurn
	}
	if s == serving {
		most += leeway
	}
	key, now := string(s)+" "+kind+" "+digest(p.Name)+" "+with.String(), g.now()
	b, ok := buckets[key]
	if !ok {
		b = bucket{Calls: most, At: now}
	}
	back := now.Before(b.At) // the clock was set back: nobody gains or loses by that
	b.Calls = min(most, b.Calls+max(0, now.Sub(b.At).Minutes())*per)
	b.At = now
	if b.Calls < 1 {
		if back {
			buckets[key] = b
			if err := writeBuckets(path, buckets, now); err != nil {
				return 0, uncounted(err)
			}
		}
		return max(time.Millisecond, time.Duration((1-b.Calls)/per*float64(time.Minute))), nil
	}
	b.Calls--
	buckets[key] = b
	if err := writeBuckets(path, buckets, now); err != nil {
		return 0, uncounted(err)
	}
	return 0, nil
}

func readBuckets(path string) (map[string]bucket, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]bucket{}, nil
	}
	if err != nil {
		return nil, err
	}
	buckets := map[string]bucket{}
	return buckets, json.Unmarshal(b, &buckets)
}

// idleBucket is how long a bucket is kept: after that it is full at any rate.
const idleBucket = time.Hour

// writeBuckets replaces the file in one step. It need not survive a power
// failure, only the death of a process.
func writeBuckets(path string, buckets map[string]bucket, now time.Time) error {
	for key, b := range buckets {
		if now.Sub(b.At) > idleBucket {
			delete(buckets, key)
		}
	}
	b, err := json.Marshal(buckets)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
