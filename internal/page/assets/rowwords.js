// The words of a row of a message or a turn: where it comes from, what it cost, how it
// ended, why its speaker was chosen and how it was sent.
import { cost, seconds, tokens } from "./format.js";
import { by } from "./notes.js";
import { isTyped, kindName } from "./kinds.js";
import { kindOf, kindWord } from "./words.js";

const visibilities = {
  user_redacted: { kind: "internal", text: "summary only", title: "The other participants see only its summary" },
};

// source is whose bubble a row is: user, applet, session (an agent of another room) or
// agent.
export function source(row, page) {
  const m = row.message;
  if (m?.from_session) return "session";
  if (m?.source === "applet") return "applet";
  if (m?.source === "agent" && !row.turn && !page.seat(row.who)) return "session";
  return page.isPerson(row.who) ? "user" : "agent";
}

// tags are the labels behind a name.
export function tags(row, page) {
  const out = [], seat = page.seat(row.who), m = row.message;
  if (seat) out.push({ kind: kindOf(seat, page.you), text: kindWord(seat, page.you, page.oneToOne) });
  const from = source(row, page);
  if (from === "session") out.push({ kind: "session", text: m.from_session ? `session ${m.from_session}` : "an agent", title: "Written by an agent of another session" });
  if (from === "applet") out.push({ kind: "applet", text: m.applet ? `applet ${m.applet}` : "applet", title: "Written by a program of a person" });
  if (isTyped(m)) out.push({ kind: "typed", text: kindName(m) });
  if (m && visibilities[m.visibility]) out.push(visibilities[m.visibility]);
  return out;
}

// facts are what is known of how a text came to be.
export function facts(row, page) {
  const out = [], m = row.message;
  if (m?.to_agent && m.to_agent !== "broadcast") out.push(`to ${page.name(m.to_agent)}`);
  if (row.latency >= 1e7) out.push(seconds(row.latency));
  if (row.turn && !m?.by) out.push(...used(row));
  if (m?.tool_rounds) out.push(`${m.tool_rounds} tool rounds by its own word`);
  if (m?.cut) out.push("cut short");
  if (m?.confidence !== undefined) out.push(`confidence ${m.confidence}`);
  return out;
}

// used is the tokens and the cost of a turn. ~ marks an estimate, for agents that
// state none.
function used(row) {
  const u = row.usage ?? {}, out = [];
  if (u.known) out.push(`${tokens(u.input_tokens + (u.output_tokens ?? 0) || 0)} tokens`);
  else if (row.message && row.tokens) out.push(`${tokens(row.tokens + Math.ceil(row.message.text.length / 4), true)} tokens`);
  if (u.cost_known) out.push(cost(u.cost ?? 0));
  return out;
}

// outcome is how a turn without a message ended, or "".
export function outcome(row, page) {
  const because = row.because ? `: ${row.because}` : "";
  switch (row.state) {
    case "passed": return `passed${because}`;
    case "failed": return `failed (${row.code}): ${row.error}`;
    case "interrupted": return `interrupted${because}`;
    case "rejected": return `draft rejected${by(row.ended, page.called)}${because}`;
    case "inside": return "wrote an internal message";
    case "hidden": return "said something that is not for you";
  }
  return "";
}

// sent is why the speaker was chosen, and how the text was sent.
export function sent(row, page) {
  const out = [];
  if (row.turn) out.push(...chosen(row, page));
  if (row.state === "draft") out.push(`draft, waits for approval: ${row.why}`);
  if (row.edited) out.push(`edited${by(row.edited, page.called)}`);
  if (row.message?.by) out.push(`typed${by(row.message.by, page.called)}`);
  else if (row.approved) out.push(`approved${by(row.approved, page.called, row.via)}`);
  else if (row.auto) out.push("sent automatically");
  if (row.late) out.push(`a late reply was dropped (${row.late} bytes)`);
  return out;
}

function chosen(row, page) {
  const person = row.by && row.by !== "policy" && row.by !== "room";
  if (person) return [`given the floor${by(row.by, page.called)}`];
  return row.reason ? [row.reason] : [];
}

// announcement is what a screen reader says of an event that ends a turn, or of a
// message.
export function announcement(e, page) {
  const b = e.body;
  if (e.type !== "message.posted") return `Turn ${b.turn} ${e.type.slice(5)}`;
  const m = b.message, text = m.text.length > 160 ? `${m.text.slice(0, 160)}…` : m.text;
  return `${page.name(m.from_agent)}: ${text}`;
}
