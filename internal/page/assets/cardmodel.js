// Which rows typed messages become. What belongs together is one row, a card: the
// intent and the result of a tool, the updates of a build, a status check and its
// replies. The internal messages of a check are in its card too; others only leave a
// line on the message that they answer.
//
// A card has parts, which are messages: {seq, message, html, at, bytes}.
import { field, progress } from "./payloadfacts.js";

const cards = new Map([["tool_intent", "tool"], ["tool_result", "tool"], ["build_update", "build"], ["blocker", "blocker"]]);
const answers = new Set(["decision", "clarification_reply", "cancel"]);

const most = 100; // parts of a card

export class CardModel {
  #byMessage = new Map(); // rows by the ids of their messages
  #open = []; // tool and build cards without an end, oldest first
  #checks = []; // status checks without all replies, oldest first
  #idle = new Set(); // workers that are known to have nothing to do

  // note remembers the row of a message.
  note(row, message) {
    if (message?.message_id) this.#byMessage.set(message.message_id, row);
  }

  // has returns the row with a message, undefined for none.
  has(id) {
    return this.#byMessage.get(id);
  }

  // forget forgets a row.
  forget(row) {
    for (const part of [row, ...(row.parts ?? [])]) {
      const id = part.message?.message_id;
      if (this.#byMessage.get(id) === row) this.#byMessage.delete(id);
    }
    this.#open = this.#open.filter((r) => r !== row);
    this.#checks = this.#checks.filter((r) => r !== row);
  }

  // card returns the card that a visible message becomes or joins: {row, isNew}. It is
  // null for a message that has a row of its own.
  card(part) {
    const m = part.message, kind = cards.get(m.kind);
    if (!kind) return null;
    const row = kind === "blocker" ? undefined : this.#open.find((r) => joins(r, m));
    if (!row) return { row: this.#begin(kind, part), isNew: true };
    this.#join(row, part);
    return { row, isNew: false };
  }

  // inside takes an internal message. It returns the row that shows something of it:
  // {row, isNew}, or null.
  inside(part) {
    const m = part.message;
    this.#follow(m);
    if (m.kind === "status_check") return this.#check(part);
    if (m.kind === "status_reply") return this.#reply(part);
    if (!answers.has(m.kind)) return null;
    const row = this.#byMessage.get(m.parent_id) ?? this.#byMessage.get(m.correlation_id);
    if (!row) return null;
    row.became = [...(row.became ?? []), { kind: m.kind, who: m.from_agent, to: m.to_agent, seq: part.seq }].slice(-most);
    return { row, isNew: false };
  }

  #begin(kind, part) {
    const row = { key: `event-${part.seq}`, kind, who: part.message.from_agent, parts: [], became: [] };
    this.#join(row, part);
    return row;
  }

  #join(row, part) {
    row.parts = [...row.parts, part].slice(-most);
    this.note(row, part.message);
    const over = row.kind === "tool" ? part.message.kind === "tool_result" : ["done", "failed"].includes(progress(part.message));
    this.#open = this.#open.filter((r) => r !== row);
    if (!over && row.kind !== "blocker") this.#open = [...this.#open, row].slice(-most);
  }

  // follow notes which workers have something to do.
  #follow(m) {
    if (m.kind === "result_bundle") this.#idle.add(m.from_agent);
    for (const id of receivers(m)) {
      if (m.kind === "cancel") this.#idle.add(id);
      if (m.kind === "intent_brief" || m.kind === "decision") this.#idle.delete(id);
    }
  }

  // works says that a participant has something to do.
  works(id) {
    this.#idle.delete(id);
  }

  // check begins the card of a status check, unless none of its workers is at work.
  #check(part) {
    const m = part.message, asked = receivers(m).filter((id) => !this.#idle.has(id));
    if (asked.length === 0) return null;
    const row = { key: `event-${part.seq}`, kind: "check", who: m.from_agent, parts: [part], asked, became: [] };
    this.note(row, m);
    this.#checks = [...this.#checks, row].slice(-most);
    return { row, isNew: true };
  }

  #reply(part) {
    const m = part.message;
    const waits = (r) => r.asked.includes(m.from_agent) && !r.parts.slice(1).some((p) => p.message.from_agent === m.from_agent);
    const named = [m.parent_id, m.correlation_id].map((id) => this.#byMessage.get(id)).find((r) => r?.kind === "check");
    const row = named ?? this.#checks.findLast(waits);
    if (!row) return null;
    row.parts = [...row.parts, part].slice(-most);
    this.note(row, m);
    return { row, isNew: false };
  }
}

// receivers returns the participants that a message is addressed to.
const receivers = (m) => (m.receivers?.length ? m.receivers : m.to_agent && m.to_agent !== "broadcast" ? [m.to_agent] : []);

// joins reports whether a message goes on with an open card: it names one of its
// messages, or it is of the same sender, thread and subject.
function joins(row, m) {
  if (cards.get(m.kind) !== row.kind || row.who !== m.from_agent || m.kind === "tool_intent") return false;
  const ids = row.parts.map((p) => p.message.message_id), first = row.parts[0].message;
  if (ids.includes(m.parent_id) || ids.includes(m.correlation_id)) return true;
  if (m.parent_id && m.parent_id !== first.parent_id) return false;
  return (m.correlation_id ?? "") === (first.correlation_id ?? "") && same(subject(m), subject(first));
}

const same = (a, b) => !a || !b || a === b;

// subject is the tool or the build that a message is about, "" if it does not say.
export const subject = (m) => (m.kind === "build_update" ? field(m, "build", "target", "name") : field(m, "tool", "name", "command"));
