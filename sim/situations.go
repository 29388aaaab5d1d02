package sim

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
)

// situations is the table of situations. Runs that do not reach one of them in 10,000
// seeds fail.
var situations = []situation{
	// Pauses, stops and people who act at once.
	{"a pause came between a draft's approval and its posting", onPausing, writing[room.TurnApproved]},
	{"a pause came while an answer waited for the disk", onPausing, writing[room.MessagePosted]},
	{"a pause came while a grant waited for the disk", onPausing, writing[room.TurnGranted]},
	{"a pause came while the policy computed", onPausing, running("ask ")},
	{"a pause came while an agent worked", onPausing, running("speak ")},
	{"a pause came while an agent made a bid", onPausing, running("bid ")},
	{"a pause came while an agent started", onPausing, running("start ")},
	{"a pause came while a call was open", onPausing, running("call ")},
	{"a pause came while the disk was slow", onPausing, func(s *simulation, m *moment) bool {
		return m.room.batch != nil && s.now-m.room.batch.since > 300*time.Millisecond
	}},
	{"two people paused at once", onPausing, func(_ *simulation, m *moment) bool { return m.room.gate.closed > 1 }},
	{"a prompt was held back by a pause without effect", onHeld, always},
	{"a room was stopped while a draft waited", onDecided, func(_ *simulation, m *moment) bool {
		return is[room.Stop](m) && m.room.state.Turn != nil && m.room.state.Turn.Draft != nil && len(m.events) > 0
	}},
	{"a seat was taken over while its agent worked", onDecided, func(_ *simulation, m *moment) bool {
		return is[room.TakeOver](m) && has[room.TurnInterrupted](m.events)
	}},
	{"a person answered the turn of a seat that it had taken over", onEvent, body(func(_ *moment, b room.MessagePosted) bool { return b.Turn > 0 && b.Message.By != "" })},
	{"a seat was suspended by a person during its turn", onDecided, func(_ *simulation, m *moment) bool {
		return is[room.SetStanding](m) && has[room.TurnInterrupted](m.events)
	}},
	{"a person joined from another device", onEvent, body(func(m *moment, b room.Joined) bool {
		return b.Participant.Device != "" && m.event.Actor != "" && m.event.Seq > 12
	})},
	{"the limits were lowered below what was used", onDecided, func(_ *simulation, m *moment) bool {
		return is[room.SetLimits](m) && has[room.Stopped](m.events)
	}},
	{"raised limits resumed a room", onDecided, func(_ *simulation, m *moment) bool {
		return is[room.SetLimits](m) && has[room.Resumed](m.events)
	}},
	{"a message was redacted", onRedacted, always},
	{"a crash came between a redaction and the removal of the text", onRedactionCut, always},

	// Crashes and the disk.
	{"a crash came while a grant was written and not durable", onCrash, cutOff[room.TurnGranted]},
	{"a crash came while an answer was written and not durable", onCrash, cutOff[room.MessagePosted]},
	{"a crash came while a claim was written and not durable", onCrash, cutOff[room.Claimed]},
	{"a crash came with a turn in flight", onCrash, turnOpen(func(t *room.Turn) bool { return t.Draft == nil })},
	{"a crash came while a draft waited", onCrash, turnOpen(func(t *room.Turn) bool { return t.Draft != nil })},
	{"a crash came while a permission was asked for", onCrash, turnOpen(func(t *room.Turn) bool { return len(t.Requests) > 0 })},
	{"a crash came while a call was open", onCrash, func(_ *simulation, m *moment) bool { return m.room.state.CallsOpen() }},
	{"a crash kept events of which no client was told", onKept, always},
	{"a crash lost events that were written", onLost, always},
	{"a decision was stored with the end of the turn before it", onEvent, func(_ *simulation, m *moment) bool { return m.batch != nil && len(m.batch.parts) > 1 }},
	{"a crash lost a decision with the end of the turn before it", onLost, func(_ *simulation, m *moment) bool { return len(m.batch.parts) > 1 }},
	{"a pause came while a decision with the end of the turn before it waited for the disk", onPausing, func(_ *simulation, m *moment) bool {
		return m.room.batch != nil && len(m.room.batch.parts) > 1
	}},
	{"a crash tore a batch, and recovery dropped its part", onTorn, always},
	{"a crash kept the events of a command, and the reference model followed it", onModel, always},
	{"a room was restarted before it had done anything", onReopen, func(s *simulation, m *moment) bool {
		l := s.disk.logs[m.room.id].events
		_, claimed := l[len(l)-1].Body.(room.Claimed)
		return claimed
	}},
	{"a live room went on after a crash", onDecided, func(_ *simulation, m *moment) bool {
		do, ok := m.cmd.Do.(room.Claim)
		return ok && do.Restart && !has[room.Paused](m.events)
	}},
	{"a turn on another device survived a restart", onDecided, func(_ *simulation, m *moment) bool {
		t := m.room.state.Turn
		return is[room.Claim](m) && m.room.state.Phase == room.PhaseLive && t != nil && t.Draft == nil && !has[room.TurnInterrupted](m.events)
	}},
	{"a room was opened from a snapshot", onSnapshot, always},
	{"a sync failed and the process ended", onSyncFailed, always},
	{"an append was repeated that was written", onRepeat, always},
	{"an append failed and its room was opened again", onFailed, func(_ *simulation, m *moment) bool { return m.err == errFull }},
	{"one sync made batches of two rooms durable", onGroup, always},
	{"the wall clock jumped while an agent worked", onClock, func(s *simulation, _ *moment) bool {
		return slices.ContainsFunc(s.proc.rooms, func(h *hosted) bool { return h.state.Turn != nil && h.state.Turn.Draft == nil })
	}},

	// Agents.
	{"an answer came after its turn had ended", onEvent, body(func(*moment, room.ReplyLate) bool { return true })},
	{"an answer came after the room was stopped", onLate, func(_ *simulation, m *moment) bool { return m.room.state.Phase == room.PhaseStopped }},
	{"an answer came while the room was paused", onLate, func(_ *simulation, m *moment) bool { return m.room.state.Phase == room.PhasePaused }},
	{"an answer came under a forged id", onForged, always},
	{"an agent did not answer in time", onEvent, failed(room.FailTimeout)},
	{"the room ended a turn whose driver hung", onDecided, func(_ *simulation, m *moment) bool { return is[room.Tick](m) && has[room.TurnFailed](m.events) }},
	{"an answer was too long", onEvent, failed(room.FailTooLarge)},
	{"an agent stated impossible figures", onDecided, func(_ *simulation, m *moment) bool {
		do, ok := m.cmd.Do.(room.Replied)
		return ok && do.Usage.OutOfRange() != "" && len(m.events) > 0
	}},
	{"a seat was suspended for its failures", onEvent, body(func(_ *moment, b room.SeatChanged) bool { return b.Failed })},
	{"an agent ended while its draft waited", onDecided, func(_ *simulation, m *moment) bool {
		return is[room.Exited](m) && len(m.events) > 0 && m.room.state.Turn != nil && m.room.state.Turn.Draft != nil
	}},
	{"an agent did not start", onEvent, body(func(*moment, room.SeatFailed) bool { return true })},
	{"an agent lost its memory during its turn", onEvent, body(func(m *moment, b room.SeatForgot) bool {
		return m.room.state.Turn != nil && m.room.state.Turn.Participant == b.Participant
	})},
	{"a loop of the same text stopped a room", onEvent, body(func(_ *moment, b room.Stopped) bool { return b.Cause == room.CauseLoop })},
	{"a limit stopped a room", onEvent, body(func(_ *moment, b room.Stopped) bool { return b.Name == "maxTurns" })},
	{"a budget of tokens stopped a room", onEvent, body(func(_ *moment, b room.Stopped) bool { return b.Name == "maxTokens" })},
	{"a budget of an hour or a day kept an agent from a turn", onEvent, body(func(_ *moment, b room.BudgetChanged) bool { return b.Window != "room" && b.Level == "used" })},
	{"an agent had a budget again when its hour was over", onEvent, body(func(_ *moment, b room.BudgetChanged) bool { return b.Window == "hour" && b.Level == "free" })},
	{"what an agent had used in another room kept it from a turn", onBudgetShared, always},
	{"a restart kept the reservation of an open turn", onReserved, always},
	{"a restart dropped the reservation of a grant that a crash had lost", onReleased, always},
	{"the last seat was lost", onEvent, body(func(_ *moment, b room.Errored) bool { return b.Code == "ROOM-NOBODY" })},
	{"an agent handed off", onEvent, body(func(_ *moment, b room.HandoffAsked) bool { return b.Refused == "" })},
	{"a hand-off was refused", onEvent, body(func(_ *moment, b room.HandoffAsked) bool { return b.Refused != "" })},
	{"an agent tried to allow its own action", onDecided, func(_ *simulation, m *moment) bool {
		do, ok := m.cmd.Do.(room.Permit)
		return ok && errors.Is(m.err, room.ErrDenied) && m.room.state.RequestOpen(do.ID)
	}},
	{"an agent tried to approve its own draft", onDecided, func(_ *simulation, m *moment) bool {
		_, agent := m.room.agentOf(m.cmd.Actor)
		return is[room.Approve](m) && agent && m.err != nil && m.room.state.Turn != nil && m.room.state.Turn.Draft != nil
	}},

	// Policies.
	{"a decision was stale", onDecided, func(_ *simulation, m *moment) bool { return is[room.Decided](m) && errors.Is(m.err, room.ErrStale) }},
	{"a policy failed and the room paused", onEvent, body(func(_ *moment, b room.Paused) bool { return b.Cause == room.CausePolicy })},
	{"a policy chose an agent that was not eligible", onEvent, body(func(_ *moment, b room.Paused) bool { return b.Code == "run.bad_choice" })},
	{"a room settled", onEvent, body(func(_ *moment, b room.Completed) bool { return b.Cause == room.CauseSettled })},
	{"a message opened a settled room again", onApply, body(func(m *moment, _ room.MessagePosted) bool { return m.room.state.Phase == room.PhaseCompleted })},
	{"a bid was no number from 0 to 1", onEvent, body(func(_ *moment, b room.BidPosted) bool { return strings.Contains(b.Failed, "no number") })},
	{"the policy was changed while it computed", onDecided, func(_ *simulation, m *moment) bool {
		return is[room.SetPolicy](m) && m.err == nil && m.room.gate.has("ask ")
	}},
	{"a room took another agent than the policy chose", onEvent, body(func(_ *moment, b room.TurnGranted) bool { return b.Exploration.Replaced(b.Participant) })},
	{"the state of a policy was computed again after a restart", onPolicyState, always},

	// Drafts and permissions.
	{"an approval named a text that had changed", onDecided, func(_ *simulation, m *moment) bool {
		return is[room.Approve](m) && m.err != nil && strings.Contains(m.err.Error(), "is not the one that waits")
	}},
	{"two people answered one draft", onDecided, func(_ *simulation, m *moment) bool { return !is[room.Permit](m) && errors.Is(m.err, room.ErrAnswered) }},
	{"two people answered one permission request", onDecided, func(_ *simulation, m *moment) bool { return is[room.Permit](m) && errors.Is(m.err, room.ErrAnswered) }},
	{"a draft was not sent because no person answered", onEvent, body(func(m *moment, _ room.TurnRejected) bool { return m.event.Actor == room.ActorRoom })},
	{"the mode of a seat was changed while its draft waited", onEvent, body(func(m *moment, b room.ModeChanged) bool {
		return m.room.state.Turn != nil && m.room.state.Turn.Draft != nil && m.room.state.Turn.Participant == b.Participant
	})},
	{"a draft whose text was redacted was not approved", onDecided, func(_ *simulation, m *moment) bool {
		return is[room.Approve](m) && m.err != nil && strings.Contains(m.err.Error(), "was redacted")
	}},
	{"a person allowed an action", onEvent, body(func(m *moment, b room.PermissionAnswered) bool { return b.Allowed && b.By == m.event.Actor })},
	{"a permission request was not answered in time", onEvent, body(func(_ *moment, b room.PermissionAnswered) bool { return b.By == endpoint.NoAnswer })},
	{"an agent waited no longer for a permission", onEvent, body(func(_ *moment, b room.PermissionAnswered) bool { return b.By == endpoint.Cancelled })},

	// Calls of agents.
	{"an agent called another one in a call", onEvent, body(func(_ *moment, b room.CallStarted) bool { return b.Depth > 1 })},
	{"a call was cancelled while the called agent worked", onEvent, body(func(_ *moment, b room.CallChanged) bool { return b.Canceling != "" && b.State == "working" })},
	{"the room of a call was paused with the room of its caller", onEvent, body(func(m *moment, b room.Paused) bool {
		return m.room.parent != nil && strings.Contains(b.Reason, "caller is paused")
	})},
	{"a call that a crash interrupted had a result", onReturned, func(_ *simulation, m *moment) bool {
		return m.returned.State == "completed" && m.room.startedBefore(m.returned.Call)
	}},
	{"a call was refused for what is left of the limits", onDecided, refused[room.CallAgents]("ROOM-CALL-BUDGET")},
	{"a call was refused because it would form a ring", onDecided, refused[room.CallAgents]("ROOM-CALL-PATH")},
	{"a person was asked for a call", onEvent, body(func(_ *moment, b room.PermissionAsked) bool { return len(b.Calls) > 0 })},
	{"the result of a call was posted because its caller did not wait", onEvent, body(func(_ *moment, b room.CallEnded) bool { return b.Posted })},

	// Messages between participants.
	{"a message was posted again under its id", onDecided, func(_ *simulation, m *moment) bool {
		do, ok := m.cmd.Do.(room.Posted)
		return ok && m.err == nil && len(m.events) == 0 && do.Message.ID != ""
	}},
	{"an id of a message was used for another one", onEvent, body(func(_ *moment, b room.MessageDead) bool { return b.Code == "ROOM-ID-TAKEN" })},
	{"an ack was lost and repeated after a restart", onAckAgain, func(_ *simulation, m *moment) bool { return m.err == nil && len(m.events) > 0 }},
	{"an ack was kept by a crash and repeated after it", onAckAgain, func(_ *simulation, m *moment) bool { return m.err == nil && len(m.events) == 0 }},
	{"an ack was missed", onEvent, body(func(*moment, room.AckMissed) bool { return true })},
	{"an ack came after it was missed", onApply, body(func(m *moment, b room.MessageAcked) bool {
		d := m.room.state.Mail.Deliveries.Find(b.Message, b.Participant)
		return d != nil && d.Attempts > 0
	})},
	{"a message expired", onEvent, body(func(_ *moment, b room.MessageDead) bool { return b.Target != 0 })},
	{"an ack of a message to another one was refused", onDecided, refused[room.Ack]("ROOM-ACK")},
	{"a message was held and released", onEvent, body(func(*moment, room.MessageReleased) bool { return true })},
	{"a message of a forbidden kind was refused", onEvent, body(func(_ *moment, b room.MessageDead) bool { return b.Code == "ROOM-KIND" })},

	// Sessions that hold seats.
	{"a lease ended while its answer was on its way", onLeaseEnds, func(_ *simulation, m *moment) bool { return m.agent.session.answer != nil }},
	{"a session left its turn open", onEvent, body(func(_ *moment, b room.PresenceChanged) bool { return b.Request != "" })},
	{"a session repeated an answer that had arrived", onDecided, refused[room.Answered]("SEAT-ANSWERED")},
	{"a session answered a request that was not open", onDecided, refused[room.Answered]("SEAT-REQUEST")},
	{"a session repeated a message that was posted", onDecided, func(_ *simulation, m *moment) bool {
		do, ok := m.cmd.Do.(room.Say)
		seat, _ := m.room.state.Seat(m.cmd.Actor)
		return ok && seat.Session && do.MessageID != "" && m.err == nil && len(m.events) == 0
	}},

	// Other devices.
	{"the relay lost a frame", onFrameLost, always},
	{"the relay delivered a frame twice", onFrameTwice, always},
	{"a device refused a request of an older process", onOldEpoch, always},
	{"a device answered from its record after a restart of the host", onFromRecord, func(_ *simulation, m *moment) bool { return m.epoch }},
	{"a device was restarted during its work", onDeviceRestarts, always},

	// Clients and spectators.
	{"a command was repeated and changed nothing", onAnswered, func(_ *simulation, m *moment) bool {
		return m.order.tries > 1 && m.err == nil && len(m.events) == 0
	}},
	{"a command was repeated after a crash that had kept it", onRetry, func(s *simulation, m *moment) bool {
		return slices.ContainsFunc(s.disk.logs[m.room.id].events, func(e room.Event) bool { return e.Command == m.order.cmd.ID }) && m.order.procs != s.procs
	}},
	{"a command was repeated after a crash that had lost it", onAnswered, func(s *simulation, m *moment) bool {
		return m.order.tries > 1 && len(m.events) > 0 && m.order.procs != s.procs
	}},
	{"a spectator went on at its cursor after a restart", onReconnect, func(_ *simulation, m *moment) bool { return m.room.state.Epoch > 1 }},
}
