// Package quota decides which calls between owners are allowed: the rules of a
// profile ([Profile]) and the counts over all rooms of the device ([Quota]).
// Each device checks both in its own process, the one that asks and the one
// that serves, so neither has to trust the other.
//
// A Quota limits concurrency per profile, and the rate per profile and device
// with a token bucket.
package quota

import (
	"context"
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
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/internal/flock"
	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/problem"
)

// A Quota counts the calls of this device over its rooms, its processes and
// their restarts. Its state is a folder: one locked file for each call in
// progress, whose lock the system releases when a process dies, and one file
// with the token buckets. Its methods may be called concurrently.
type Quota struct {
	dir string
	mu  sync.Mutex
	now func() time.Time
}

// Open returns the quota that counts in dir, which is created if needed.
func Open(dir string) (*Quota, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &problem.Error{Code: "RELAY-FILE", What: "shared calls cannot be counted", Where: dir, Fix: "make the data folder writable", Err: err}
	}
	return &Quota{dir: dir, now: time.Now}, nil
}

// A Direction separates what a device asks from what it serves.
type Direction string

// Directions. The strings are parts of file names and bucket keys.
const (
	Asking  Direction = "out"
	Serving Direction = "in"
)

// bidsPerTurn is the rate of bids relative to turns. Bids are short, and a
// policy asks every participant before each turn.
const bidsPerTurn = 10

// servingSlack is added to the burst of a serving device, in calls: requests
// that left in time arrive at uneven intervals.
const servingSlack = 0.2

// Enter takes one concurrent call of p, and one call from its token bucket for
// the device. The kind is endpoint.Turn or endpoint.Bid. In the direction
// Asking it waits for the bucket as long as ctx allows. The caller calls leave
// at the end of the call. Errors wrap endpoint.ErrLimited; a file that cannot
// be read or written counts as a reached limit.
func (q *Quota) Enter(ctx context.Context, d Direction, p Profile, with identity.DeviceID, kind string) (leave func(), err error) {
	p = p.WithDefaults()
	leave, err = q.slot(d, p)
	if err != nil {
		return nil, err
	}
	for {
		wait, err := q.Take(d, p, with, kind)
		switch {
		case err != nil:
			leave()
			return nil, err
		case wait <= 0:
			return leave, nil
		}
		if end, ok := ctx.Deadline(); d == Serving || ok && time.Until(end) < wait {
			leave()
			return nil, Limited("RELAY-RATE", fmt.Sprintf("profile %s has had its %d calls a minute with this device", endpoint.Quote(p.Name), p.PerMinute),
				"wait "+human.Duration(wait.Round(time.Second))+", or raise ratePerMinute")
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			leave()
			return nil, wire.Ended(ctx)
		}
	}
}

// slot locks one of the files that stand for the concurrent calls of p.
func (q *Quota) slot(d Direction, p Profile) (leave func(), err error) {
	for i := range p.MaxConcurrent {
		unlock, ok, err := flock.TryLock(filepath.Join(q.dir, fmt.Sprintf("%s-%s.%d", d, wire.ShortHash(p.Name), i)))
		if err != nil {
			return nil, fileError(err)
		}
		if ok {
			return unlock, nil
		}
	}
	return nil, Limited("RELAY-BUSY", fmt.Sprintf("profile %s has %d shared calls under way", endpoint.Quote(p.Name), p.MaxConcurrent),
		"wait for one to end, or raise maxConcurrentSharedCalls")
}

func fileError(err error) error {
	return &problem.Error{Code: "RELAY-FILE", What: "shared calls cannot be counted, so none is made", Fix: "make room, and the data folder writable", Err: err, Kind: endpoint.ErrLimited}
}

// A bucket is a token bucket (J. Turner, 1986): the calls that may be made at
// once, refilled with time.
type bucket struct {
	Calls float64   `json:"calls"`
	At    time.Time `json:"at"`
}

// Take takes one call from the token bucket of a profile and a device, or
// returns how long it takes until there is one. The profile has no zeros; see
// WithDefaults.
func (q *Quota) Take(d Direction, p Profile, with identity.DeviceID, kind string) (wait time.Duration, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	unlock, err := flock.Lock(filepath.Join(q.dir, "rates.lock"))
	if err != nil {
		return 0, fileError(err)
	}
	defer unlock()
	path := filepath.Join(q.dir, "rates.json")
	buckets, err := readBuckets(path)
	if err != nil {
		return 0, fileError(err)
	}
	rate, burst := float64(p.PerMinute), float64(p.Burst)
	if kind == endpoint.Bid {
		rate, burst = rate*bidsPerTurn, burst*bidsPerTurn
	}
	if d == Serving {
		burst += servingSlack
	}
	key, now := string(d)+" "+kind+" "+wire.ShortHash(p.Name)+" "+with.String(), q.now()
	b, ok := buckets[key]
	if !ok {
		b = bucket{Calls: burst, At: now}
	}
	clockSetBack := now.Before(b.At) // the bucket then neither gains nor loses
	b.Calls = min(burst, b.Calls+max(0, now.Sub(b.At).Minutes())*rate)
	b.At = now
	if b.Calls < 1 {
		wait = max(time.Millisecond, time.Duration((1-b.Calls)/rate*float64(time.Minute)))
	} else {
		b.Calls--
	}
	if wait == 0 || clockSetBack {
		buckets[key] = b
		if err := writeBuckets(path, buckets, now); err != nil {
			return 0, fileError(err)
		}
	}
	return wait, nil
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

// idleBucket is how long a bucket is kept. After that time it is full anyway.
const idleBucket = time.Hour

// writeBuckets replaces the file in one step. The file must survive the death
// of a process, not a power failure.
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
	return atomicfile.Write(path, b)
}
