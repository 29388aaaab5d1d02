// The sentences of events that are neither a message nor a turn.
import { budgetNote } from "./budget.js";
import { seconds } from "./format.js";
import { kindName } from "./kinds.js";

const outside = new Set(["", "room", "policy"]);
const because = (reason) => (reason ? `: ${reason}` : "");

// by is who has done it, for the end of a sentence.
export function by(actor, name, via = "") {
  if (!actor || outside.has(actor)) return "";
  return ` by ${name(actor)}${via && via !== "page" && via !== "terminal" ? ` (${via})` : ""}`;
}

const standing = (e, b, name) => ({
  tone: b.standing === "suspended" || b.standing === "removed" ? "warn" : "",
  text: `${name(b.participant)} is now ${b.standing}${b.failed ? " by the room" : by(e.actor, name, e.via)}${because(b.reason)}`,
});

function mode(e, b, name) {
  const who = name(b.participant), actor = by(e.actor, name, e.via);
  if (!b.mode) return { text: `${who} is reviewed as its room was set up again${actor}` };
  if (b.mode === "full_auto") return { tone: "warn", text: `${who} is sent without approval until the room ends${actor}` };
  return { text: `${who} is reviewed until the room ends (${b.mode})${actor}` };
}

function failed(e, b, name) {
  const [first, ...rest] = b.error.split("\n");
  return { tone: "warn", text: `${name(b.participant)} failed outside its turn (${b.code})${because(first)}`, detail: rest.join("\n") };
}

// ended is the end of a phase by a person or the room; a reason that only repeats the
// actor is left out.
function ended(what, e, b, name) {
  const reason = b.reason === `${what} by ${e.actor}` ? "" : b.reason;
  if (outside.has(e.actor)) return `${what}${because(reason)}`;
  return `${what}${by(e.actor, name, e.via)}${because(reason)}`;
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);
const policyName = (p) => [p.name || p.use, p.version].filter(Boolean).join(" ");

const sentences = {
  "room.claimed": (e, b) => b.restart && { tone: "warn", text: "Opened again: the program had ended while the room was live" },
  "participant.joined": (e, b, name) => ({ text: `${name(b.participant.id)} joined` }),
  "participant.changed": standing,
  "seat.taken": (e, b, name) => ({ text: `${name(b.participant)} is taken over${by(b.by, name)}` }),
  "seat.released": (e, b, name) => ({ text: `${name(b.participant)} is handed back${by(e.actor, name, e.via)}` }),
  "mode.changed": mode,
  "seat.forgot": (e, b, name) => ({ text: `${name(b.participant)} was restarted and gets the full history` }),
  "seat.ready": (e, b, name) => b.latency_ns >= 1e9 && { text: `${name(b.participant)} is ready after ${seconds(b.latency_ns)}` },
  "presence.changed": (e, b, name) => (b.presence === "away"
    ? { tone: "warn", text: `${name(b.participant)} is away: no session awaits its turn` }
    : { text: `The session of ${name(b.participant)} has come` }),
  "budget.changed": (e, b, name) => ({ tone: b.level === "free" ? "" : "warn", text: budgetNote(b, name(b.participant)) }),
  "seat.failed": failed,
  "policy.changed": (e, b, name) => ({ text: `The policy is now ${policyName(b.policy)}${by(e.actor, name, e.via)}` }),
  "limits.changed": (e, b, name) => ({ text: `The limits have changed${by(e.actor, name, e.via)}` }),
  "handoff.asked": (e, b, name) => ({
    tone: b.refused ? "warn" : "",
    text: `${name(b.from)} ${b.refused ? "may not hand off" : "hands off"} to ${name(b.to)}${because(b.refused || b.reason)}`,
  }),
  "message.dead": (e, b, name) => ({
    tone: "warn", code: b.code,
    text: `The ${kindName(b.message)} of ${name(b.message.from_agent || e.actor)} ${b.target ? `to ${name(b.participant)} has expired` : "was refused"}${because(b.reason)}`,
  }),
  "ack.missed": (e, b, name) => ({ tone: "warn", text: `${name(b.participant)} has not acknowledged a message in time${b.attempt > 1 ? ` (${b.attempt} times)` : ""}` }),
  "reply.late": (e, b, name) => ({ text: `A late reply of ${name(b.participant)} was dropped (${b.bytes} bytes)` }),
  "protocol.violation": (e, b, name) => ({ tone: "warn", text: `${name(b.participant)} broke its protocol: ${b.code}${because(b.detail)}${b.count > 1 ? ` (${b.count} times)` : ""}` }),
  "summary.made": (e, b, name) => ({ text: `${name(b.by)} summarised what was said` }),
  "message.redacted": (e, b, name) => ({ text: `The text of event ${b.target} was removed${by(e.actor, name, e.via)}${because(b.reason)}` }),
  "room.paused": (e, b, name) => ({ tone: b.cause === "policy" ? "bad" : "warn", mark: "‖", text: capital(ended("paused", e, b, name)), code: b.cause === "policy" && b.code }),
  "room.resumed": (e, b, name) => ({ tone: "good", mark: "▶", text: `Resumed${by(e.actor, name, e.via)}` }),
  "room.stopped": (e, b, name) => ({ tone: "warn", mark: "■", text: capital(ended("stopped", e, b, name)) }),
  "room.completed": (e, b, name) => completed(e, b, name),
  "room.error": (e, b) => ({ tone: "bad", mark: "✗", text: `Error: ${b.reason}`, code: b.code }),
};

function completed(e, b, name) {
  if (b.degraded) return { tone: "warn", mark: "!", text: `Settled, degraded: ${b.reason}` };
  if (b.cause === "settled") return { tone: "good", mark: "✓", text: `Settled: ${b.reason}` };
  return { tone: "good", mark: "✓", text: capital(ended("completed", e, b, name)) };
}

// note returns what a row says of an event: its text, tone, mark, detail and code. It
// is null for events that are not shown.
export function note(e, name) {
  return sentences[e.type]?.(e, e.body, name) || null;
}

// isNote reports whether an event has a note.
export const isNote = (e) => note(e, String) !== null;
