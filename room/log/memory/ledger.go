package memory

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Charges implements [log.Ledger].
func (l *Log) Charges(ctx context.Context, agent string, since time.Time) ([]room.BudgetCharge, error) {
	if err := l.begin(); err != nil {
		return nil, err
	}
	defer l.mu.Unlock()
	return l.chargesOf(agent, since), ctx.Err()
}

func (l *Log) chargesOf(agent string, since time.Time) (all []room.BudgetCharge) {
	for _, c := range l.charges {
		if c.Agent == agent && c.At.After(since) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b room.BudgetCharge) int {
		if n := a.At.Compare(b.At); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all
}

// Reserve implements [log.Ledger].
func (l *Log) Reserve(ctx context.Context, c room.BudgetCharge, since time.Time, may func([]room.BudgetCharge) bool) (bool, error) {
	if err := l.begin(); err != nil {
		return false, err
	}
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	others := slices.DeleteFunc(l.chargesOf(c.Agent, since), func(o room.BudgetCharge) bool { return o.ID == c.ID })
	if !may(others) {
		return false, nil
	}
	old := c.At.Add(-log.LedgerKept)
	maps.DeleteFunc(l.charges, func(_ string, o room.BudgetCharge) bool { return o.Agent == c.Agent && o.At.Before(old) })
	if _, ok := l.charges[c.ID]; !ok {
		c.Open = true
		l.put(c)
	}
	return true, nil
}

func (l *Log) put(c room.BudgetCharge) {
	if l.charges == nil {
		l.charges = map[string]room.BudgetCharge{}
	}
	c.At = c.At.UTC()
	l.charges[c.ID] = c
}

// Settle implements [log.Ledger].
func (l *Log) Settle(ctx context.Context, c room.BudgetCharge) error {
	if err := l.begin(); err != nil {
		return err
	}
	defer l.mu.Unlock()
	old, ok := l.charges[c.ID]
	if err := ctx.Err(); err != nil || ok && !old.Open {
		return err
	}
	if ok && old.At.After(c.At) {
		c.At = old.At
	}
	if ok {
		c.Agent, c.Room, c.Turn = old.Agent, old.Room, old.Turn
	}
	c.Open = false
	l.put(c)
	return nil
}

// Release implements [log.Ledger].
func (l *Log) Release(ctx context.Context, id string, keep ...string) error {
	if err := l.begin(); err != nil {
		return err
	}
	defer l.mu.Unlock()
	maps.DeleteFunc(l.charges, func(_ string, c room.BudgetCharge) bool {
		return c.Open && c.Room == id && !slices.Contains(keep, c.ID)
	})
	return ctx.Err()
}

// Agents implements [log.Ledger].
func (l *Log) Agents(ctx context.Context) ([]string, error) {
	if err := l.begin(); err != nil {
		return nil, err
	}
	defer l.mu.Unlock()
	names := map[string]bool{}
	for _, c := range l.charges {
		names[c.Agent] = true
	}
	return slices.Sorted(maps.Keys(names)), ctx.Err()
}

// Reset implements [log.Ledger].
func (l *Log) Reset(ctx context.Context, agent string) (int, error) {
	if err := l.begin(); err != nil {
		return 0, err
	}
	defer l.mu.Unlock()
	before := len(l.charges)
	maps.DeleteFunc(l.charges, func(_ string, c room.BudgetCharge) bool { return c.Agent == agent })
	return before - len(l.charges), ctx.Err()
}
