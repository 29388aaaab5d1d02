package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// chargesTable is made by the first charge. It is no migration, so that earlier
// releases read and write a file that has it, and this one reads a file that has none.
const chargesTable = `create table if not exists charges(
		id text primary key, agent text not null, at integer not null, room text not null, turn integer not null,
		tokens integer not null, cost integer not null, turns integer not null, calls integer not null, tools integer not null,
		estimated integer not null, open integer not null) strict;
	create index if not exists charges_agent on charges(agent, at);
	create index if not exists charges_open on charges(room) where open`

const columnsOfCharge = "id, agent, at, room, turn, tokens, cost, turns, calls, tools, estimated, open"

const insertCharge = "insert into charges(" + columnsOfCharge + ") values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

func chargeValues(c *room.BudgetCharge) []driver.Value {
	flag := map[bool]int64{true: 1}
	return []driver.Value{
		c.ID, c.Agent, rows.Nanos(c.At), c.Room, int64(c.Turn), c.Tokens, c.Cost, c.Turns, c.Calls, c.ToolCalls, flag[c.Estimated], flag[c.Open],
	}
}

// scanCharge decodes a row of charges.
func scanCharge(row []driver.Value) (c room.BudgetCharge, err error) {
	var at, turn, estimated, open int64
	ok := len(row) == 12 && get(row[0], &c.ID) && get(row[1], &c.Agent) && get(row[2], &at) && get(row[3], &c.Room) && get(row[4], &turn) &&
		get(row[5], &c.Tokens) && get(row[6], &c.Cost) && get(row[7], &c.Turns) && get(row[8], &c.Calls) && get(row[9], &c.ToolCalls) &&
		get(row[10], &estimated) && get(row[11], &open)
	if !ok || min(c.Tokens, c.Cost, c.Turns, c.Calls, c.ToolCalls) < 0 {
		return c, log.Corrupt(c.Room, 0, fmt.Sprintf("the charge %.80q of a budget is damaged", c.ID))
	}
	c.At, c.Turn, c.Estimated, c.Open = time.Unix(0, at).UTC(), int(turn), estimated != 0, open != 0
	return c, nil
}

// hasCharges reports whether the file has the table.
func (c *conn) hasCharges() (bool, error) {
	_, err := c.one("select 1 from sqlite_master where type = 'table' and name = 'charges'")
	if errors.Is(err, errNoRow) {
		return false, nil
	}
	return err == nil, err
}

// charges returns the charges of agent from after since.
func (c *conn) charges(agent string, since time.Time) (all []room.BudgetCharge, err error) {
	err = c.list("select "+columnsOfCharge+" from charges where agent = ? and at > ? order by at, id", func(row []driver.Value) error {
		charge, err := scanCharge(row)
		all = append(all, charge)
		return err
	}, agent, rows.Nanos(since))
	return all, err
}

// Charges implements [log.Ledger].
func (d *DB) Charges(ctx context.Context, agent string, since time.Time) (all []room.BudgetCharge, err error) {
	err = d.read(ctx, func(r *reader) error {
		has, err := r.hasCharges()
		if err == nil && has {
			all, err = r.charges(agent, since)
		}
		return err
	})
	return all, err
}

// Reserve implements [log.Ledger]. It also removes charges of the agent that are older
// than [log.LedgerKept].
func (d *DB) Reserve(ctx context.Context, c room.BudgetCharge, since time.Time, may func([]room.BudgetCharge) bool) (stored bool, err error) {
	c.Open = true
	err = d.submit(ctx, func(w *writer) error {
		stored = false // of a transaction that was rolled back
		if err := w.c.exec(chargesTable); err != nil {
			return err
		}
		others, err := w.c.charges(c.Agent, since)
		if err != nil {
			return err
		}
		kept := others[:0]
		for _, o := range others {
			if o.ID != c.ID {
				kept = append(kept, o)
			}
		}
		if !may(kept) {
			return nil
		}
		w.pages += 3
		if err := w.c.exec("delete from charges where agent = ? and at < ?", c.Agent, rows.Nanos(c.At.Add(-log.LedgerKept))); err != nil {
			return err
		}
		stored = true
		return w.c.exec(insertCharge+" on conflict do nothing", chargeValues(&c)...)
	})
	return stored && err == nil, err
}

// Settle implements [log.Ledger]. The later of the two times counts, so that a clock
// that is set back meanwhile ends no window early.
func (d *DB) Settle(ctx context.Context, c room.BudgetCharge) error {
	c.Open = false
	return d.submit(ctx, func(w *writer) error {
		w.pages += 3
		if err := w.c.exec(chargesTable); err != nil {
			return err
		}
		return w.c.exec(insertCharge+` on conflict do update set at = max(at, excluded.at), tokens = excluded.tokens, cost = excluded.cost,
			turns = excluded.turns, calls = excluded.calls, tools = excluded.tools, estimated = excluded.estimated, open = 0 where open`, chargeValues(&c)...)
	})
}

// Release implements [log.Ledger].
func (d *DB) Release(ctx context.Context, name string, keep ...string) error {
	args := []driver.Value{name}
	for _, id := range keep {
		args = append(args, id)
	}
	_, err := d.changeCharges(ctx, "delete from charges where open and room = ? and id not in (''"+strings.Repeat(", ?", len(keep))+")", args...)
	return err
}

// Agents implements [log.Ledger].
func (d *DB) Agents(ctx context.Context) (names []string, err error) {
	err = d.read(ctx, func(r *reader) error {
		has, err := r.hasCharges()
		if err != nil || !has {
			return err
		}
		return r.list("select distinct agent from charges order by agent", func(row []driver.Value) error {
			var name string
			if !get(row[0], &name) {
				return log.Corrupt("", 0, "a charge of a budget is damaged")
			}
			names = append(names, name)
			return nil
		})
	})
	return names, err
}

// Reset implements [log.Ledger].
func (d *DB) Reset(ctx context.Context, agent string) (int, error) {
	return d.changeCharges(ctx, "delete from charges where agent = ?", agent)
}

// changeCharges executes sql if there are charges, and returns how many it changed.
func (d *DB) changeCharges(ctx context.Context, sql string, args ...driver.Value) (n int, err error) {
	err = d.submit(ctx, func(w *writer) error {
		n = 0
		has, err := w.c.hasCharges()
		if err != nil || !has {
			return err
		}
		w.pages += 2
		if err := w.c.exec(sql, args...); err != nil {
			return err
		}
		changed, err := integer(w.c.one("select changes()"))
		n = int(changed)
		return err
	})
	return n, err
}
