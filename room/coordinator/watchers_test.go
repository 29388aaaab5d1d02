package coordinator_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// TestManyWatchers has hundreds of watchers that come, are slow, go and come back during a
// room. Each gets what the log has, without gap or duplicate.
func TestManyWatchers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		slowly := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			time.Sleep(time.Second)
			return count(ctx, p, f)
		}
		r, err := coordinator.Open(t.Context(), config(l, rotate, slowly), spec(room.Limits{MaxTurns: 60, MaxDuration: time.Hour}), agents("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		const n = 300
		seen := make([][]byte, n)
		var watchers sync.WaitGroup
		for i := range n {
			watchers.Go(func() { seen[i] = watchInParts(t, r, i) })
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		watchers.Wait()
		var want []byte
		for _, e := range events(t, l) {
			want = append(want, marshal(t, e)...)
		}
		for i, got := range seen {
			if !bytes.Equal(got, want) {
				t.Fatalf("watcher %d got %d bytes of %d", i, len(got), len(want))
			}
		}
	})
}

// watchInParts watches a room until it ends. It goes sometimes, and takes its time.
func watchInParts(t *testing.T, r *coordinator.Room, seed int) (all []byte) {
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	time.Sleep(time.Duration(rng.IntN(20)) * time.Second)
	at := int64(0)
	for ended := false; !ended; {
		ended = true
		for u, err := range r.Watch(t.Context(), at, room.Internal) {
			if err != nil {
				t.Error(err)
				return nil
			}
			if u.Event == nil {
				continue
			}
			at, all = u.Event.Seq, append(all, marshal(t, *u.Event)...)
			if rng.IntN(40) == 0 {
				ended = false
				break
			}
			if seed%3 == 0 && rng.IntN(5) == 0 {
				time.Sleep(time.Duration(rng.IntN(40)) * time.Second)
			}
		}
	}
	return all
}

func marshal(t *testing.T, e room.Event) []byte {
	b, err := room.MarshalEvent(e)
	if err != nil {
		t.Error(err)
	}
	return b
}

// TestWatchAfterRedaction redacts a message in a room that is watched. A watcher that
// comes later gets no text of it, although the room had the message at hand.
func TestWatchAfterRedaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memory.Log{}
		r, err := coordinator.Open(t.Context(), config(l, silent, count), spec(room.Limits{MaxDeclines: 1 << 30, MaxDuration: 1 << 60}), agents("a"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		go func() {
			for range r.Watch(ctx, 0, room.Internal) {
				continue // one watcher is always there
			}
		}()
		synctest.Wait()
		evs, err := r.Do(ctx, room.Command{Actor: room.ActorHost, Do: room.Say{Text: "the secret is tulip"}})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := r.Do(ctx, room.Command{Actor: room.ActorHost, Do: room.Redact{Target: evs[0].Seq}}); err != nil {
			t.Fatal(err)
		}
		late, end := context.WithTimeout(ctx, time.Second)
		defer end()
		for u := range r.Watch(late, evs[0].Seq-1, room.Internal) {
			if u.Event != nil && strings.Contains(string(marshal(t, *u.Event)), "tulip") {
				t.Errorf("event %d has the text", u.Event.Seq)
			}
		}
		stop()
		<-done
	})
}
