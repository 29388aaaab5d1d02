package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

const columnsOfCharge = "id, agent, at, room, turn, tokens, cost, turns, calls, tools, estimated, open"

const insertCharge = "insert into moot_charges(" + columnsOfCharge + ") values($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"

func chargeValues(c *room.BudgetCharge) []any {
	return []any{c.ID, c.Agent, rows.Nanos(c.At), c.Room, c.Turn, c.Tokens, c.Cost, c.Turns, c.Calls, c.ToolCalls, c.Estimated, c.Open}
}

// scanCharge decodes a row of moot_charges.
func scanCharge(row pgx.CollectableRow) (c room.BudgetCharge, err error) {
	var at int64
	err = row.Scan(&c.ID, &c.Agent, &at, &c.Room, &c.Turn, &c.Tokens, &c.Cost, &c.Turns, &c.Calls, &c.ToolCalls, &c.Estimated, &c.Open)
	if err == nil && min(c.Tokens, c.Cost, c.Turns, c.Calls, c.ToolCalls) < 0 {
		err = log.Corrupt(c.Room, 0, fmt.Sprintf("the charge %.80q of a budget is damaged", c.ID))
	}
	c.At = time.Unix(0, at).UTC()
	return c, err
}

// A querier is a connection, a pool of them or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// charges returns the charges of agent from after since.
func charges(ctx context.Context, q querier, agent string, since time.Time) ([]room.BudgetCharge, error) {
	found, err := q.Query(ctx, "select "+columnsOfCharge+" from moot_charges where agent = $1 and at > $2 order by at, id", agent, rows.Nanos(since))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, scanCharge)
}

// Charges implements [log.Ledger].
func (d *DB) Charges(ctx context.Context, agent string, since time.Time) (all []room.BudgetCharge, err error) {
	err = d.read(ctx, func(ctx context.Context) (err error) {
		all, err = charges(ctx, d.pool, agent, since)
		return err
	})
	return all, err
}

// Reserve implements [log.Ledger]. It also removes charges of the agent that are older
// than [log.LedgerKept].
func (d *DB) Reserve(ctx context.Context, c room.BudgetCharge, since time.Time, may func([]room.BudgetCharge) bool) (stored bool, err error) {
	c.Open = true
	err = d.change(ctx, "reserving", func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
			stored = false
			if err := lockLedger(ctx, tx, c.Agent); err != nil {
				return err
			}
			others, err := charges(ctx, tx, c.Agent, since)
			if err != nil {
				return err
			}
			if !may(slices.DeleteFunc(others, func(o room.BudgetCharge) bool { return o.ID == c.ID })) {
				return nil
			}
			_, err = tx.Exec(ctx, "delete from moot_charges where agent = $1 and at < $2", c.Agent, rows.Nanos(c.At.Add(-log.LedgerKept)))
			if err == nil {
				_, err = tx.Exec(ctx, insertCharge+" on conflict (id) do nothing", chargeValues(&c)...)
			}
			stored = err == nil
			return err
		})
	})
	return stored && err == nil, err
}

// lockLedger keeps other processes from reserving for an agent until the transaction ends.
func lockLedger(ctx context.Context, tx pgx.Tx, agent string) error {
	_, err := tx.Exec(ctx, "insert into moot_ledgers(agent) values($1) on conflict (agent) do nothing", agent)
	if err == nil {
		_, err = tx.Exec(ctx, "select agent from moot_ledgers where agent = $1 for update", agent)
	}
	return err
}

// Settle implements [log.Ledger]. The later of the two times counts, so that a clock that
// is set back meanwhile ends no window early.
func (d *DB) Settle(ctx context.Context, c room.BudgetCharge) error {
	c.Open = false
	_, err := d.changeCharges(ctx, "settling", insertCharge+` on conflict (id) do update set at = greatest(moot_charges.at, excluded.at),
		tokens = excluded.tokens, cost = excluded.cost, turns = excluded.turns, calls = excluded.calls, tools = excluded.tools,
		estimated = excluded.estimated, open = false where moot_charges.open`, chargeValues(&c)...)
	return err
}

// Release implements [log.Ledger].
func (d *DB) Release(ctx context.Context, name string, keep ...string) error {
	_, err := d.changeCharges(ctx, "releasing", "delete from moot_charges where open and room = $1 and not (id = any($2))", name, append([]string{}, keep...))
	return err
}

// Agents implements [log.Ledger].
func (d *DB) Agents(ctx context.Context) (names []string, err error) {
	err = d.read(ctx, func(ctx context.Context) error {
		found, err := d.pool.Query(ctx, "select distinct agent from moot_charges")
		if err != nil {
			return err
		}
		names, err = pgx.CollectRows(found, pgx.RowTo[string])
		slices.Sort(names)
		return err
	})
	return names, err
}

// Reset implements [log.Ledger].
func (d *DB) Reset(ctx context.Context, agent string) (int, error) {
	return d.changeCharges(ctx, "resetting a budget", "delete from moot_charges where agent = $1", agent)
}

// changeCharges executes sql and returns how many charges it changed.
func (d *DB) changeCharges(ctx context.Context, doing, sql string, args ...any) (n int, err error) {
	err = d.change(ctx, doing, func(ctx context.Context) error {
		done, err := d.pool.Exec(ctx, sql, args...)
		n = int(done.RowsAffected())
		return err
	})
	return n, err
}
