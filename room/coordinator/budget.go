package coordinator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/budget"
)

// Agent returns the name by which the budgets of an hour and a day count the agent of
// a seat, in all rooms of the data folder. Local seats with one profile have one agent.
// Without a profile, it is the same agent in all rooms of one folder that give it the
// same id and endpoint; an agent of another owner also needs the same device.
func Agent(spec room.Spec, p room.Participant) string {
	if p.Profile != "" && (p.Device == "" || p.Session) {
		return p.Profile
	}
	device := p.Device
	if p.Session {
		device = "" // it changes while the room runs
	}
	parts, _ := json.Marshal([]string{spec.Dir, p.ID, device, p.Profile, string(p.Endpoint)}) // strings always encode
	sum := sha256.Sum256(parts)
	return p.ID + "#" + hex.EncodeToString(sum[:6])
}

// budgeted lists the seats whose agents are counted over rooms.
func (r *Room) budgeted() (seats []*room.Seat) {
	for _, x := range r.state.Seats {
		if len(x.Budget.Windows()) > 0 && x.Driven() && x.Standing != room.Removed {
			seats = append(seats, x)
		}
	}
	return seats
}

// measure records which seats have come near the limit of a budget, have used it or
// may speak again, before the policy is asked.
func (r *Room) measure(ctx context.Context) error {
	if r.state.Phase != room.PhaseLive || r.state.Turn != nil || !r.hasBudgets() {
		return nil
	}
	now := r.now()
	var do room.Measured
	for _, x := range r.budgeted() {
		charges, err := r.cfg.Log.Charges(ctx, Agent(r.state.Spec, x.Participant), now.Wall.Add(-budget.Longest))
		if err != nil && ctx.Err() == nil {
			return r.commitAct(ctx, (&effectError{"LOG-READ", err}).command(), now) // what cannot be counted is not spent
		}
		if err != nil {
			return nil // the room is about to end, and starts nothing
		}
		do.Budgets = append(do.Budgets, x.Measure(charges, now.Wall, room.Amounts{})...)
	}
	return r.commitAct(ctx, room.Command{Actor: room.ActorRoom, Do: do}, now)
}

// hasBudgets reports whether a seat has a budget.
func (r *Room) hasBudgets() bool {
	for _, x := range r.state.Seats {
		if x.Budget != (room.Budget{}) {
			return true
		}
	}
	return false
}

// commitAct executes a command of the coordinator in the loop.
func (r *Room) commitAct(ctx context.Context, c room.Command, now room.Now) error {
	events, err := r.state.Decide(c, now)
	if err != nil || len(events) == 0 {
		return err
	}
	return r.commit(ctx, change{c, events, now})
}

// reserve charges the estimate of the prompt that is about to be granted, before the
// grant is stored. The log decides in one transaction, so that rooms and processes that
// ask one agent at the same time do not pass its budget together. If the prompt would
// pass it, reserve records that instead: the policy is asked again, and a person is
// told.
func (r *Room) reserve(ctx context.Context, cmd room.Command, events []room.Event, now room.Now) ([]room.Event, error) {
	if len(events) == 0 {
		return events, nil
	}
	b, ok := events[len(events)-1].Body.(room.TurnGranted)
	if !ok {
		return events, nil
	}
	x, _ := r.state.Seat(b.Participant)
	if len(x.Budget.Windows()) == 0 || x.TakenBy != "" {
		return events, nil
	}
	return r.reserveTurn(ctx, cmd, events, now, x, b)
}

// reserveTurn is reserve for the turn of a seat with a budget: the last event grants it. It
// is a function of its own so that a turn without a budget copies nothing to the heap.
func (r *Room) reserveTurn(ctx context.Context, cmd room.Command, events []room.Event, now room.Now, x room.Seat, b room.TurnGranted) ([]room.Event, error) {
	next := x.Estimate(b.Tokens)
	c := room.BudgetCharge{
		ID: b.Request, Agent: Agent(r.state.Spec, x.Participant), Room: r.id, Turn: b.Turn, At: now.Wall, Amounts: next, Estimated: true,
	}
	var over room.Measured
	allowed := func(others []room.BudgetCharge) bool {
		over.Budgets = nil
		left := budget.Left(x.Budget.Windows(), others, now.Wall, next)
		b.Left = &left
		for _, m := range x.Measure(others, now.Wall, next) {
			if m.Level == budget.Used {
				over.Budgets = append(over.Budgets, m)
			}
		}
		return len(over.Budgets) == 0
	}
	stored := false
	err := r.persist(ctx, func(ctx context.Context) (err error) {
		stored, err = r.cfg.Log.Reserve(ctx, c, now.Wall.Add(-budget.Longest), allowed)
		return err
	})
	if err != nil {
		return nil, fatalError{err}
	}
	if stored {
		events[len(events)-1].Body = b
		return events, nil
	}
	if err := r.commitAct(ctx, room.Command{Actor: room.ActorRoom, Do: over}, now); err != nil {
		return nil, err
	}
	if _, asked := cmd.Do.(room.Next); !asked {
		return nil, room.ErrStale
	}
	_, err = r.state.Decide(cmd, now) // refuses it now, and says why
	return nil, cmp.Or(err, room.ErrStale)
}

// settle charges a call that is about to start, and what a call or a turn has used in the place of its estimate, before the end of
// the turn is stored: after a crash between the two the charge stays, and the turn that
// is then interrupted is not charged again.
func (r *Room) settle(ctx context.Context, events []room.Event) error {
	for _, e := range events {
		id, c, ok := r.state.ChargeOf(e)
		if !ok {
			continue
		}
		x, _ := r.state.Seat(id)
		c.Agent = Agent(r.state.Spec, x.Participant)
		err := r.persist(ctx, func(ctx context.Context) error {
			if !c.Open {
				return r.cfg.Log.Settle(ctx, c)
			}
			_, err := r.cfg.Log.Reserve(ctx, c, c.At, func([]room.BudgetCharge) bool { return true }) // the room has bounded it
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// releaseReserved drops the reservations of what an earlier process did not come to
// store.
func (r *Room) releaseReserved(ctx context.Context) error {
	if len(r.budgeted()) == 0 {
		return nil
	}
	return r.persist(ctx, func(ctx context.Context) error { return r.cfg.Log.Release(ctx, r.id, r.state.OpenCharges()...) })
}

// freeAt returns when the first seat that has used its budget may speak again, or the
// zero time.
func (r *Room) freeAt() (first time.Time) {
	for _, x := range r.budgeted() {
		for _, m := range x.Budgets {
			if m.Level == budget.Used && !m.Until.IsZero() && (first.IsZero() || m.Until.Before(first)) {
				first = m.Until
			}
		}
	}
	return first
}

// untilBudget shortens the time that the loop may wait to the moment when a seat may
// speak again.
func (r *Room) untilBudget(wake time.Duration) time.Duration {
	at := r.freeAt()
	if at.IsZero() || r.state.Phase != room.PhaseLive || r.state.Turn != nil {
		return wake
	}
	if left := max(0, time.Until(at)); wake < 0 || left < wake {
		return left
	}
	return wake
}

// wakeOfBudget returns when the room has something to do after seats have used their
// budgets or may speak again: at once for the latter.
func (r *Room) wakeOfBudget(now room.Now, events []room.Event) time.Time {
	wake := r.lastWake
	for _, e := range events {
		b, ok := e.Body.(room.BudgetChanged)
		switch {
		case !ok, b.Level == budget.Free:
			return now.Wall
		case !b.Until.IsZero() && wake.IsZero():
			wake = b.Until
		}
	}
	return wake
}
