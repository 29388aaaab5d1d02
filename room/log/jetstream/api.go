package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Codes of errors of the servers.
const (
	codeNoStream        = 10059
	codeUnavailable     = 10008
	codeNoMessage       = 10037
	codeNoSuchSeq       = 10043 // of a deletion
	codeWrongLast       = 10071
	codeWrongLastInPass = 10164 // another append of the subject is in flight
)

var (
	errNoMessage = errors.New("no message found")
	errNoStream  = errors.New("stream not found")
	errWrongLast = errors.New("the subject has another last message")
)

// An apiError is an answer of a server that is an error.
type apiError struct {
	Code        int    `json:"code"`
	ErrCode     int    `json:"err_code"`
	Description string `json:"description"`
}

func (e *apiError) Error() string { return fmt.Sprintf("%s (%d)", e.Description, e.ErrCode) }

// Is compares with the sentinels of this package.
func (e *apiError) Is(target error) bool {
	switch target {
	case errNoMessage:
		return e.ErrCode == codeNoMessage
	case errNoStream:
		return e.ErrCode == codeNoStream
	case errNoAnswer:
		return e.ErrCode == codeUnavailable
	case errWrongLast:
		return e.ErrCode == codeWrongLast || e.ErrCode == codeWrongLastInPass
	}
	return false
}

// A message is a stored message.
type message struct {
	Subject string    `json:"subject"`
	Seq     uint64    `json:"seq"`
	Data    []byte    `json:"data"`
	Time    time.Time `json:"time"`
}

// errNoAnswer is of a request that may be tried again: a leader is being elected, or the
// connection is being made again. The change that it asked for may have happened.
var errNoAnswer = errors.New("no answer from the NATS servers")

// resendAfter is how long a request waits for an answer before it is sent again. A request to a
// leader that has failed is lost, and the next leader answers at once. So a room goes on
// when that has been elected, and not when an attempt has ended.
const resendAfter = 400 * time.Millisecond

// send requests an answer for one attempt. Without an answer it sends the request again, and
// takes the first answer. The request must be safe to repeat: of one that changes something, a
// repetition may be refused while the first is stored. refused reports whether an answer
// says so, which is returned only when no other comes; nil is never.
func (d *DB) send(ctx context.Context, m *nats.Msg, refused func(*nats.Msg) bool) (answer *nats.Msg, repeated bool, err error) {
	type result struct {
		answer *nats.Msg
		err    error
	}
	results := make(chan result, 1+d.attempt/resendAfter)
	var sending sync.WaitGroup
	defer sending.Wait()
	once, cancel := context.WithTimeout(ctx, d.attempt)
	defer cancel()
	request := func() {
		answer, err := d.nc.RequestMsgWithContext(once, m)
		results <- result{answer, err}
	}
	sending.Go(request)
	ticker := time.NewTicker(resendAfter)
	defer ticker.Stop()
	sent := 1
	for ended := 0; ended < sent; {
		select {
		case r := <-results:
			ended++
			switch {
			case r.err != nil:
				err = r.err
			case sent > 1 && refused != nil && refused(r.answer):
				answer = r.answer
			default:
				return r.answer, sent > 1, nil
			}
		case <-ticker.C:
			if sent < cap(results) && answer == nil {
				sending.Go(request)
				sent++
			}
		}
	}
	switch {
	case answer != nil:
		return answer, true, nil
	case ctx.Err() != nil:
		return nil, false, fmt.Errorf("%w: %w", ctx.Err(), context.Cause(ctx))
	}
	return nil, false, fmt.Errorf("%w: %w", errNoAnswer, err)
}

// retry runs a request until it gets an answer, for the timeout. The request must be safe
// to repeat.
func (d *DB) retry(ctx context.Context, run func() error) error {
	for end := time.Now().Add(d.timeout); ; {
		err := run()
		if !errors.Is(err, errNoAnswer) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(min(50*time.Millisecond, d.attempt)):
		}
	}
}

// call asks the servers about a stream; out may be nil. All that is asked may be repeated.
func (d *DB) call(ctx context.Context, verb, stream string, in, out any) error {
	data, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return d.retry(ctx, func() error {
		answer, _, err := d.send(ctx, &nats.Msg{Subject: "$JS.API.STREAM." + verb + "." + stream, Data: data}, nil)
		if err != nil {
			return fmt.Errorf("stream %s: %w", stream, err)
		}
		var failed struct {
			Error *apiError `json:"error"`
		}
		if err := json.Unmarshal(answer.Data, &failed); err != nil {
			return fmt.Errorf("stream %s: decoding the answer: %w", stream, err)
		}
		if failed.Error != nil {
			return fmt.Errorf("stream %s: %w", stream, failed.Error)
		}
		if out == nil {
			return nil
		}
		return json.Unmarshal(answer.Data, out)
	})
}

// get reads a message at the leader of a stream.
func (d *DB) get(ctx context.Context, stream string, in map[string]any) (message, error) {
	var out struct{ Message message }
	err := d.call(ctx, "MSG.GET", stream, in, &out)
	return out.Message, err
}

// last reads the last message of a subject, next the first that is not before seq, and
// at the one with that seq. errNoMessage: there is none, or the server found it damaged.
func (d *DB) last(ctx context.Context, stream, subject string) (message, error) {
	return d.get(ctx, stream, map[string]any{"last_by_subj": subject})
}

func (d *DB) next(ctx context.Context, stream, subject string, seq uint64) (message, error) {
	return d.get(ctx, stream, map[string]any{"next_by_subj": subject, "seq": seq})
}

func (d *DB) at(ctx context.Context, stream string, seq uint64) (message, error) {
	return d.get(ctx, stream, map[string]any{"seq": seq})
}

// An ack is the answer to a message that is to be stored.
type ack struct {
	Seq   uint64    `json:"seq"`
	Error *apiError `json:"error"`

	damaged error // it cannot be decoded
}

func ackOf(m *nats.Msg) (a ack) {
	a.damaged = json.Unmarshal(m.Data, &a)
	return a
}

// failed returns the error of a message that was not stored.
func (a ack) failed() error {
	switch {
	case a.damaged != nil:
		return fmt.Errorf("decoding an acknowledgement: %w", a.damaged)
	case a.Error != nil:
		return a.Error
	}
	return nil
}

// anySeq is the expectation of a message that may follow any.
const anySeq = ^uint64(0)

// publish stores a message if the last one of its subject has the seq expected. It
// returns errWrongLast if not, and after errNoAnswer the message may be stored.
func (d *DB) publish(ctx context.Context, subject string, data []byte, expected uint64) (seq uint64, err error) {
	m := &nats.Msg{Subject: subject, Data: data}
	if expected != anySeq {
		m.Header = nats.Header{"Nats-Expected-Last-Subject-Sequence": {strconv.FormatUint(expected, 10)}}
	}
	answer, repeated, err := d.send(ctx, m, func(m *nats.Msg) bool { return errors.Is(ackOf(m).failed(), errWrongLast) })
	if err != nil {
		return 0, err
	}
	ack := ackOf(answer)
	err = ack.failed()
	if repeated && errors.Is(err, errWrongLast) {
		err = fmt.Errorf("%w: %w", errNoAnswer, err) // that message may be its own
	}
	if err != nil {
		return 0, err
	}
	if ack.Seq == 0 {
		return 0, errors.New("an acknowledgement without a sequence number")
	}
	return ack.Seq, nil
}

// erase removes messages and has their bytes overwritten. Those that are gone already are
// skipped.
func (d *DB) erase(ctx context.Context, stream string, seqs ...uint64) error {
	for _, seq := range seqs {
		err := d.call(ctx, "MSG.DELETE", stream, map[string]uint64{"seq": seq}, nil)
		if e, ok := errors.AsType[*apiError](err); ok && (e.ErrCode == codeNoMessage || e.ErrCode == codeNoSuchSeq || e.ErrCode == 10057) {
			err = nil // it is erased
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eraseSubject erases all messages of a subject before seq.
func (d *DB) eraseSubject(ctx context.Context, stream, subject string, before uint64) error {
	for seq := uint64(1); seq < before; {
		m, err := d.next(ctx, stream, subject, seq)
		if isNotFound(err) || err == nil && m.Seq >= before {
			return nil
		}
		if err == nil {
			err = d.erase(ctx, stream, m.Seq)
		}
		if err != nil {
			return err
		}
		seq = m.Seq + 1
	}
	return nil
}

// purge removes what is left of a subject, also messages that the server cannot read.
func (d *DB) purge(ctx context.Context, stream, subject string) error {
	return d.call(ctx, "PURGE", stream, map[string]string{"filter": subject}, nil)
}

// streamInfo is what is needed of the description of a stream.
type streamInfo struct {
	Total int `json:"total"`
	State struct {
		LastSeq  uint64         `json:"last_seq"`
		Subjects map[string]int `json:"subjects"`
	} `json:"state"`
	Time time.Time `json:"ts"` // the server's clock
}

// subjects lists the subjects of a stream that match filter.
func (d *DB) subjects(ctx context.Context, stream, filter string) ([]string, error) {
	var all []string
	for {
		var info streamInfo
		if err := d.call(ctx, "INFO", stream, map[string]any{"subjects_filter": filter, "offset": len(all)}, &info); err != nil {
			return nil, err
		}
		for subject := range info.State.Subjects {
			all = append(all, subject)
		}
		if len(info.State.Subjects) == 0 || len(all) >= info.Total {
			return all, nil
		}
	}
}

// batch reads up to most messages of a subject from seq on at any replica. The caller
// checks them: a replica may be behind, and the answer may end early.
func (d *DB) batch(ctx context.Context, stream, subject string, seq uint64, most int) ([]message, error) {
	inbox := d.nc.NewRespInbox()
	sub, err := d.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer sub.Unsubscribe()
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return nil, err
	}
	in, err := json.Marshal(map[string]any{"next_by_subj": subject, "seq": seq, "batch": most, "max_bytes": 8 << 20})
	if err != nil {
		return nil, err
	}
	if err := d.nc.PublishRequest("$JS.API.DIRECT.GET."+stream, inbox, in); err != nil {
		return nil, err
	}
	var all []message
	for {
		next, cancel := context.WithTimeout(ctx, d.attempt) // the connection may have been cut
		m, err := sub.NextMsgWithContext(next)
		cancel()
		if err != nil {
			return all, err
		}
		if m.Header.Get("Status") != "" { // the end of the batch, or no message at all
			return all, nil
		}
		got, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
		if err != nil {
			return all, fmt.Errorf("a message without a sequence number: %w", err)
		}
		all = append(all, message{Subject: m.Header.Get("Nats-Subject"), Seq: got, Data: m.Data})
	}
}
