// The rows of the timeline as data: events go in, descriptions of rows come out. It
// has no elements and asks no server, so that it can be reasoned about alone.
//
// A row has a key, a kind, and the numbers of its first and last event:
//
//   turn      one turn of an agent, from its grant to its end: state, who, message, ...
//   message   a message outside a turn
//   tool, build, blocker, check  typed messages that belong together; see cardmodel.js
//   call      a call of one agent by another: call
//   declined  rounds that the policy has declined, one after the other: items
//   opened    the room and the participants with which it began
//   note      a change of seats, modes, limits, the policy or the phase: its event
//   day       the day has changed
//
// A row stands where its last event stands in the log, and that of the turn that runs
// is the last one: a message that comes meanwhile was said before the turn's. A card
// stands where its first event stands.
//
// Internal messages have no row, except the task of a called agent; see thread.js. A turn whose message is internal keeps
// its row if the agent has used tools in it.
import { applyCall } from "./calltree.js";
import { CardModel } from "./cardmodel.js";
import { isNote } from "./notes.js";

const ends = {
  "turn.rejected": "rejected", "turn.passed": "passed", "turn.failed": "failed", "turn.interrupted": "interrupted",
};

const most = 100; // items of a row

// because returns why a participant has the turn. The room may have drawn another one than
// the policy chose.
function because({ exploration: x, participant, reason = "" }) {
  return x && x.choice !== participant ? `explored; the policy chose ${x.choice}${reason && ` (${reason})`}` : reason;
}

export class RowModel {
  rows = [];
  open = null; // the row of the turn that runs
  inside = new Set(); // the numbers of internal messages
  cards = new CardModel();
  #byKey = new Map();
  #calls = new Map(); // calls by their ids
  #changed = new Set();
  #here = new Map(); // seats of sessions: whether the session is there, as far as known

  // take returns the rows that have changed since the last call. A row that is gone
  // has the field gone.
  take() {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  row(key) {
    return this.#byKey.get(key);
  }

  // add takes the next event: an update of the form page.
  add({ event, html, payload_bytes: bytes }) {
    const step = this[event.type] ?? (event.type.startsWith("turn.") ? null : this.#note);
    step?.call(this, event, event.body, html ?? "", bytes);
  }

  // touch marks the rows that show one of these messages as changed.
  touch(ids) {
    for (const id of ids) {
      const row = this.cards.has(id);
      if (row) this.#changed.add(row);
    }
  }

  // live takes text or a tool call of the turn that runs.
  live({ participant, delta, tool }) {
    if (this.open?.who !== participant || this.open.state !== "speaking") return;
    if (delta) this.open.live += delta;
    if (tool) this.open.tools = withTool(this.open.tools, tool);
    this.#changed.add(this.open);
  }

  // trim forgets the oldest rows but count, and returns the number of the first event
  // of the others.
  trim(count) {
    for (const row of this.rows.splice(0, Math.max(0, this.rows.length - count))) this.#drop(row);
    return this.rows[0]?.from ?? 0;
  }

  // cutOpen forgets the row of a turn that runs when the last event is not known yet.
  cutOpen() {
    if (this.open) this.#remove(this.open);
    this.open = null;
  }

  // recall takes over the live text of a model before. Without it, the text that comes
  // is only the rest.
  recall(before) {
    if (!this.open) return;
    const same = before.open?.key === this.open.key;
    Object.assign(this.open, same ? { live: before.open.live, tools: before.open.tools, partial: before.open.partial } : { partial: true });
  }

  // Turns.

  "turn.granted"(e, b) {
    this.#hideOpen();
    this.cards.works(b.participant);
    this.open = this.#put({
      key: `turn-${b.turn}`, kind: "turn", turn: b.turn, who: b.participant, state: "speaking", at: e.at,
      reason: because(b), by: e.actor, confidence: b.confidence, tokens: b.tokens, live: "", partial: false, tools: [], requests: [], late: 0,
    }, e);
  }

  "turn.drafted"(e, b, html) {
    const row = this.#turn(e, b.message.from_agent);
    Object.assign(row, { state: "draft", why: b.why, draft: b.draft, message: b.message, html, latency: b.latency_ns, usage: b.usage });
  }

  "turn.edited"(e, b, html) {
    const row = this.#turn(e);
    row.first ??= { text: row.message?.text ?? "", html: row.html };
    Object.assign(row, { draft: b.draft, html, edited: e.actor, approved: "", text: b.text });
  }

  "turn.approved"(e) {
    Object.assign(this.#turn(e), { approved: e.actor, via: e.via });
  }

  "turn.rejected"(e, b) { this.#ended(e, b) }
  "turn.passed"(e, b) { this.#ended(e, b) }
  "turn.failed"(e, b) { this.#ended(e, b) }
  "turn.interrupted"(e, b) { this.#ended(e, b) }

  "permission.asked"(e, b) {
    this.#turn(e, b.participant).requests.push({ id: b.id, permission: b.permission, answer: null });
  }

  "permission.answered"(e, b) {
    const asked = this.#turn(e, b.participant).requests.find((r) => r.id === b.id);
    if (asked) asked.answer = b;
  }

  "reply.late"(e, b) {
    const row = this.#byKey.get(`turn-${b.turn}`);
    if (!row) return this.#note(e);
    row.late += b.bytes;
    this.#changed.add(row);
  }

  #ended(e, b) {
    const row = this.#turn(e);
    const said = { state: ends[e.type], because: b.reason ?? "", code: b.code, error: b.error, ended: e.actor };
    Object.assign(row, said, b.latency_ns ? { latency: b.latency_ns } : {}, b.usage ? { usage: b.usage } : {});
    this.#close(row);
  }

  // turn returns the row of the event's turn. Its grant may be before the first event
  // that is known.
  #turn(e, who = "") {
    const key = `turn-${e.body.turn}`;
    const row = this.#byKey.get(key) ?? this.#put({
      key, kind: "turn", turn: e.body.turn, who, state: "speaking", at: e.at, reason: "", by: "", live: "", partial: true, tools: [], requests: [], late: 0,
    }, e);
    if (row.state === "speaking" || row.state === "draft") this.open ??= row;
    row.seq = e.seq;
    row.who ||= who;
    this.#changed.add(row);
    return row;
  }

  #close(row) {
    row.live = "";
    if (this.open === row) this.open = null;
  }

  // hideOpen ends the row of a turn whose end this reader may not see.
  #hideOpen() {
    if (!this.open) return;
    this.open.state = "hidden";
    this.#changed.add(this.open);
    this.#close(this.open);
  }

  // Messages.

  "message.posted"(e, b, html, bytes) {
    const m = b.message;
    const part = { seq: e.seq, message: m, html, at: e.at, bytes, removed: !m.text && !m.summary && m.visibility !== "user_redacted" && !m.payload && !bytes };
    if (m.visibility === "internal" && m.kind !== "call") return this.#inside(e, b, part);
    const card = b.turn ? null : this.cards.card(part);
    if (card) return this.#card(card, e);
    let row;
    if (b.turn) {
      row = this.#turn(e, m.from_agent);
      Object.assign(row, part, { at: e.at, state: "posted", latency: b.latency_ns, usage: b.usage, auto: b.auto ?? false });
      this.#close(row);
    } else {
      row = this.#put({ key: `event-${e.seq}`, kind: "message", who: m.from_agent, opening: b.opening, via: e.via, ...part }, e);
    }
    this.cards.note(row, m);
  }

  // inside takes an internal message, which the main timeline does not show.
  #inside(e, b, part) {
    this.inside.add(e.seq);
    if (b.turn) this.#endInside(this.#turn(e, part.message.from_agent), b);
    const card = this.cards.inside(part);
    if (card) this.#card(card, e);
  }

  // endInside ends a turn whose message is internal. What the agent has done stays.
  #endInside(row, b) {
    const { tools = [], tools_more: more } = b.message;
    const used = tools.length > 0 || row.tools.length > 0 || row.requests.length > 0;
    Object.assign(row, { state: "inside", latency: b.latency_ns, usage: b.usage, used: tools.length ? { tools, more } : undefined, draft: undefined, message: undefined, html: "", first: undefined });
    this.#close(row);
    if (!used) this.#remove(row);
  }

  // card shows a card that has begun or changed.
  #card({ row, isNew }, e) {
    if (isNew) this.#put(Object.assign(row, { at: e.at }), e);
    else if (!row.gone) this.#changed.add(row);
    if (row.parts?.at(-1)?.seq === e.seq) this.#byKey.set(`event-${e.seq}`, row);
  }

  // Calls. What changes of a call whose beginning is not known has no row.

  "call.started"(e, b) {
    applyCall(this.#calls, e);
    this.#put({ key: `event-${e.seq}`, kind: "call", who: b.caller, call: b, at: e.at }, e);
  }

  "call.changed"(e, b) {
    if (!applyCall(this.#calls, e)) return;
    const row = this.rows.findLast((r) => r.call?.call_id === b.call_id);
    if (!row) return;
    row.call = this.#calls.get(b.call_id);
    this.#changed.add(row);
  }

  "call.ended"(e, b) {
    this["call.changed"](e, b);
  }

  "message.redacted"(e, b) {
    for (const row of this.#byKey.values()) {
      const part = row.parts ? row.parts.find((p) => p.seq === b.target) : row.seq === b.target && row.message && row;
      if (!part) continue;
      Object.assign(part, { removed: true, html: "", bytes: 0, message: { ...part.message, text: "", summary: "", payload: undefined } });
      this.#changed.add(row);
    }
    this.#note(e);
  }

  // The room.

  "room.opened"(e, b) {
    this.#put({ key: `event-${e.seq}`, kind: "opened", spec: b.spec, seats: [], at: e.at }, e);
  }

  "participant.joined"(e, b) {
    if (b.participant.session) this.#here.set(b.participant.id, false);
    const last = this.rows.at(-1);
    if (last?.kind !== "opened") return this.#note(e);
    last.seats.push(b.participant);
    last.seq = e.seq;
    this.#changed.add(last);
  }

  "room.claimed"(e) {
    this.#here.clear();
    this.#note(e);
  }

  "round.declined"(e, b) {
    let row = this.#lastEnded();
    if (row?.kind !== "declined" || row.items.length >= most) row = this.#put({ key: `declined-${e.seq}`, kind: "declined", items: [], at: e.at }, e);
    row.items.push({ seq: e.seq, at: e.at, reason: b.reason, policy: b.record?.policy ?? "" });
    row.seq = e.seq;
    this.#changed.add(row);
  }

  // A session comes and goes. Whether it awaits its turn is in the roster.
  "presence.changed"(e, b) {
    const here = b.presence !== "away", before = this.#here.get(b.participant);
    this.#here.set(b.participant, here);
    if (before === undefined ? !here : before !== here) this.#note(e);
  }

  #note(e) {
    if (isNote(e)) this.#put({ key: `event-${e.seq}`, kind: "note", event: e, at: e.at }, e);
  }

  // Rows.

  #lastEnded() {
    return this.rows.at(this.open ? -2 : -1);
  }

  // put adds a row at the end, before that of the turn that runs.
  #put(row, e) {
    row.from = row.seq = e.seq;
    this.#dayOf(row);
    return this.#insert(row);
  }

  #insert(row) {
    this.rows.splice(this.rows.length - (this.open ? 1 : 0), 0, row);
    this.#byKey.set(row.key, row);
    this.#changed.add(row);
    return row;
  }

  // dayOf puts a separator before row when its day is not that of the row before it.
  #dayOf(row) {
    const day = new Date(row.at).toDateString();
    if (this.#lastEnded()?.day !== day) {
      this.#insert({ key: `day-${row.seq}`, kind: "day", at: row.at, from: row.seq, seq: row.seq, day });
    }
    row.day = day;
  }

  #remove(row) {
    const at = this.rows.lastIndexOf(row);
    if (at >= 0) this.rows.splice(at, 1);
    this.#drop(row);
  }

  #drop(row) {
    row.gone = true;
    this.#byKey.delete(row.key);
    this.#calls.delete(row.call?.call_id);
    for (const part of row.parts ?? []) this.#byKey.delete(`event-${part.seq}`);
    this.cards.forget(row);
    this.#changed.add(row);
  }
}

// withTool returns the tool calls of a turn with one that has begun or changed. Most
// recent ones are kept.
function withTool(tools, tool) {
  const at = tool.id ? tools.findIndex((t) => t.id === tool.id) : -1;
  return at < 0 ? [...tools, tool].slice(-most) : tools.with(at, { ...tools[at], ...tool });
}
