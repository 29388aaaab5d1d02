package coordinator_test

import (
	"context"
	"errors"
	"testing"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/memory"
)

// A remoteLog is a log on a server: a read fails with an unknown outcome when its context ends.
// The reads of end are told to reading, and wait for that.
type remoteLog struct {
	*memory.Log
	reading chan struct{} // nil: reads do not wait
}

func (l *remoteLog) Read(ctx context.Context, id string, after log.Pos, most int) ([]log.Entry, error) {
	if l.reading != nil && ctx.Done() != nil {
		select {
		case l.reading <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return nil, errors.Join(log.ErrUnknown, ctx.Err())
	}
	return l.Log.Read(ctx, id, after, most)
}

// TestEndDuringRead checks that a room whose process ends while a prompt is made of the log is
// no broken room.
func TestEndDuringRead(t *testing.T) {
	l := &remoteLog{Log: &memory.Log{}}
	cfg := config(l, rotate, count)
	r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: 40}), agents("a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg.ResumeAs, cfg.ResumeWith = room.ActorHost, []room.Act{room.SetLimits{Limits: room.Limits{MaxTurns: 80}}}
	if r, err = coordinator.Reopen(t.Context(), cfg, "r1"); err != nil {
		t.Fatal(err)
	}
	l.reading = make(chan struct{}, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	select {
	case <-l.reading:
	case err := <-ended:
		t.Fatalf("the room has ended without a read: %v", err)
	}
	stop()
	<-ended
	for _, e := range events(t, l.Log) {
		if b, ok := e.Body.(room.Errored); ok {
			t.Errorf("event %d: %+v", e.Seq, b)
		}
	}
}
