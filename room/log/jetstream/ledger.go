package jetstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// The ledger is a log of changes, with a subject for each agent; each change expects to
// follow the last one that its writer knows. The charges are a fold of the changes. The
// servers drop changes after twice the time for which charges are kept.

// A change is one message of the ledger.
type change struct {
	Op     string             `json:"op"` // reserve, settle, release or reset
	Charge *room.BudgetCharge `json:"charge,omitempty"`
	IDs    []string           `json:"ids,omitempty"` // of released charges
}

// ledger has the folds that this handle has read.
type ledger struct {
	mu       sync.Mutex
	accounts map[string]*account
}

// An account is the fold of one agent's changes.
type account struct {
	mu      sync.Mutex
	agent   string
	last    uint64 // the last message that is folded
	charges map[string]room.BudgetCharge
}

func (d *DB) account(agent string) *account {
	d.ledger.mu.Lock()
	defer d.ledger.mu.Unlock()
	a := d.ledger.accounts[agent]
	if a == nil {
		a = &account{agent: agent, charges: map[string]room.BudgetCharge{}}
		if d.ledger.accounts == nil {
			d.ledger.accounts = map[string]*account{}
		}
		d.ledger.accounts[agent] = a
	}
	return a
}

// apply folds one change.
func (a *account) apply(c *change) {
	switch {
	case c.Op == "reset":
		clear(a.charges)
	case c.Op == "release":
		for _, id := range c.IDs {
			if a.charges[id].Open {
				delete(a.charges, id)
			}
		}
	case c.Charge == nil:
	case c.Op == "reserve":
		a.reserve(*c.Charge)
	case c.Op == "settle":
		a.settle(*c.Charge)
	}
}

// reserve adds an open charge, and drops charges that are older than a ledger has to keep.
func (a *account) reserve(c room.BudgetCharge) {
	for id, o := range a.charges {
		if o.At.Before(c.At.Add(-log.LedgerKept)) {
			delete(a.charges, id)
		}
	}
	if _, ok := a.charges[c.ID]; !ok {
		c.Open = true
		a.charges[c.ID] = c
	}
}

// settle closes a charge. The later of the two times counts, so that a clock that is set
// back meanwhile ends no window early.
func (a *account) settle(c room.BudgetCharge) {
	old, ok := a.charges[c.ID]
	if ok && !old.Open {
		return
	}
	if ok {
		c.Room, c.Turn = old.Room, old.Turn
		if old.At.After(c.At) {
			c.At = old.At
		}
	}
	c.Open = false
	a.charges[c.ID] = c
}

// since returns the charges from after a time, oldest first.
func (a *account) since(t time.Time) (all []room.BudgetCharge) {
	for _, c := range a.charges {
		if c.At.After(t) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b room.BudgetCharge) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID))
	})
	return all
}

// catchUp folds the changes up to the last one at the leader. The caller has a.mu.
func (d *DB) catchUp(ctx context.Context, a *account) error {
	stream, subject := d.stream(ledgerStream), d.subject("ledger", a.agent)
	last, err := d.last(ctx, stream, subject)
	if isNotFound(err) {
		a.last = 0 // there is none, or all are older than the servers keep
		return nil
	}
	for err == nil && a.last < last.Seq {
		var page []message
		if page, err = d.batch(ctx, stream, subject, a.last+1, 256); err != nil || len(page) == 0 {
			var one message
			if one, err = d.next(ctx, stream, subject, a.last+1); err == nil {
				page = []message{one}
			}
		}
		for _, m := range page {
			var c change
			if err := json.Unmarshal(m.Data, &c); err != nil {
				return log.Corrupt("", 0, fmt.Sprintf("a charge of the budget of agent %.80q is damaged", a.agent))
			}
			a.apply(&c)
			a.last = m.Seq
		}
	}
	if err != nil {
		return unreachable("budget of agent "+a.agent, err)
	}
	return nil
}

// change stores a change that decide makes of the charges. A nil change is none. It is
// decided again when another process has changed them meanwhile.
func (d *DB) change(ctx context.Context, agent string, decide func(*account) *change) error {
	ctx, done, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	a := d.account(agent)
	a.mu.Lock()
	defer a.mu.Unlock()
	end := time.Now().Add(d.timeout)
	for {
		if err := d.catchUp(ctx, a); err != nil {
			return err
		}
		c := decide(a)
		if c == nil {
			return nil
		}
		if d.readOnly {
			return errReadOnly(d.prefix)
		}
		data, err := json.Marshal(c)
		if err != nil {
			return err
		}
		seq, err := d.publish(ctx, d.subject("ledger", agent), data, a.last)
		if errors.Is(err, errWrongLast) && ctx.Err() == nil {
			continue
		}
		if errors.Is(err, errNoAnswer) && time.Now().Before(end) {
			continue // a change that is stored twice changes nothing the second time
		}
		if err != nil {
			return unreachable("budget of agent "+agent, err)
		}
		a.apply(c)
		a.last = seq
		return nil
	}
}

// Charges implements [log.Ledger].
func (d *DB) Charges(ctx context.Context, agent string, since time.Time) (all []room.BudgetCharge, err error) {
	err = d.change(ctx, agent, func(a *account) *change {
		all = a.since(since)
		return nil
	})
	return all, err
}

// Reserve implements [log.Ledger].
func (d *DB) Reserve(ctx context.Context, c room.BudgetCharge, since time.Time, may func([]room.BudgetCharge) bool) (stored bool, err error) {
	c.At = c.At.UTC()
	err = d.change(ctx, c.Agent, func(a *account) *change {
		others := slices.DeleteFunc(a.since(since), func(o room.BudgetCharge) bool { return o.ID == c.ID })
		if stored = may(others); !stored {
			return nil
		}
		return &change{Op: "reserve", Charge: &c}
	})
	return stored && err == nil, err
}

// Settle implements [log.Ledger].
func (d *DB) Settle(ctx context.Context, c room.BudgetCharge) error {
	c.At = c.At.UTC()
	return d.change(ctx, c.Agent, func(a *account) *change {
		if old, ok := a.charges[c.ID]; ok && !old.Open {
			return nil
		}
		return &change{Op: "settle", Charge: &c}
	})
}

// agents returns the agents that have changes.
func (d *DB) agents(ctx context.Context) ([]string, error) {
	subjects, err := d.subjects(ctx, d.stream(ledgerStream), d.prefix+".ledger.*")
	if err != nil {
		return nil, unreachable("stream "+d.stream(ledgerStream), err)
	}
	var names []string
	for _, subject := range subjects {
		if name, ok := decodeName(subject[strings.LastIndexByte(subject, '.')+1:]); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Release implements [log.Ledger].
func (d *DB) Release(ctx context.Context, name string, keep ...string) error {
	agents, err := d.agents(ctx)
	for _, agent := range agents {
		err = errors.Join(err, d.change(ctx, agent, func(a *account) *change {
			c := &change{Op: "release"}
			for id, o := range a.charges {
				if o.Open && o.Room == name && !slices.Contains(keep, id) {
					c.IDs = append(c.IDs, id)
				}
			}
			if len(c.IDs) == 0 {
				return nil
			}
			return c
		}))
	}
	return err
}

// Agents implements [log.Ledger].
func (d *DB) Agents(ctx context.Context) (names []string, err error) {
	agents, err := d.agents(ctx)
	for _, agent := range agents {
		charges, failed := d.Charges(ctx, agent, time.Time{})
		if err = errors.Join(err, failed); len(charges) > 0 {
			names = append(names, agent)
		}
	}
	return names, err
}

// Reset implements [log.Ledger].
func (d *DB) Reset(ctx context.Context, agent string) (n int, err error) {
	err = d.change(ctx, agent, func(a *account) *change {
		if len(a.charges) == 0 {
			return nil
		}
		n = len(a.charges)
		return &change{Op: "reset"}
	})
	return n, err
}
