// Banners: why the room does not go on, which limit is near, and what has failed.
import { budgetNote } from "./budget.js";
import { el } from "./dom.js";
import { clock, cost, count, tokens } from "./format.js";

// near is the part of a limit from which on it is told.
const near = 0.9;

// A limit: its keys in the view, and its amounts for people.
const limits = [
  { key: "max_turns", name: "turns", used: (v) => v.tally.turns, text: String, unit: "turns" },
  { key: "max_duration_ns", name: "time", used: (v, room) => room.clock(), text: clock, unit: "" },
  { key: "max_tokens", name: "tokens", used: (v) => v.tally.tokens, text: tokens, unit: "tokens" },
  { key: "max_cost", name: "cost", used: (v) => v.tally.cost, text: cost, unit: "" },
];

const others = {
  max_failures: "failures in a row", same_text: "repetitions of a text", same_text_of: "messages looked at",
  max_ring: "steps in a ring", max_ping_pong: "rounds between two agents", max_internal: "internal messages",
};

customElements.define("moot-banner", class extends HTMLElement {
  connect(room) {
    this.room = room;
    this.state = el("div", { role: "status" });
    this.problems = el("div", { role: "alert" });
    this.replaceChildren(this.state, this.problems);
    room.addEventListener("view", () => this.draw());
    room.addEventListener("problem", ({ detail }) => this.fail(detail));
    setInterval(() => this.draw(), 5000); // the time of a limit goes on without events
  }

  draw() {
    if (!this.room.view) return;
    const wanted = [stateOf(this.room), nearOf(this.room), ...budgetsOf(this.room.view)].filter(Boolean);
    const signature = JSON.stringify(wanted);
    if (signature === this.signature) return;
    this.signature = signature;
    this.state.replaceChildren(...wanted.map((w) => this.banner(w)));
  }

  banner({ kind, title, text, fix, action }) {
    const button = action && this.room.may("control") ? el("button", { type: "button", onclick: () => this.room.command(action.act) }, action.label) : null;
    return el("div", { class: `banner banner-${kind}` }, el("p", {}, el("strong", {}, title), text ? ` ${text}` : "", fix ? el("span", { class: "hint" }, ` ${fix}`) : null), button);
  }

  // fail shows why a request was refused, until the person closes it or the next one.
  fail(problem) {
    const close = el("button", { type: "button", class: "link", onclick: () => this.problems.replaceChildren() }, "Close");
    this.problems.replaceChildren(el("div", { class: "banner banner-problem" }, el("p", {}, el("strong", {}, sentence(problem.message)), " ", problem.fix ? sentence(problem.fix) : "", problem.code ? el("code", {}, ` ${problem.code}`) : ""), close));
  }
});

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? "" : ".");

// stateOf says why a room is not live, null if it is.
function stateOf(room) {
  const { view } = room, e = view.ending ?? {};
  switch (view.phase) {
    case "paused":
      if (e.cause === "policy") return { kind: "bad", title: "Paused: the policy failed.", text: sentence(e.reason), fix: e.fix && sentence(e.fix) };
      return { kind: "calm", title: "Paused.", text: e.reason && sentence(e.reason), action: { label: "Resume", act: { do: "resume" } } };
    case "stopped":
      return stoppedOf(room, e);
    case "completed":
      if (e.degraded) return { kind: "warn", title: "Settled, but not as designed:", text: sentence(e.reason), fix: "Restore the suspended seat, then resume." };
      return { kind: "calm", title: e.cause === "settled" ? "Settled." : "Completed.", text: e.reason && sentence(e.reason), fix: e.cause === "settled" ? "A message goes on." : "" };
    case "error":
      return { kind: "bad", title: "The room cannot go on.", text: e.reason && sentence(e.reason), fix: e.fix && sentence(e.fix) };
    default:
      return awayOf(view);
  }
}

// names are those of limits in the log, and what they bound.
const names = { maxTurns: "max_turns", maxDuration: "max_duration_ns", maxTokens: "max_tokens", maxCost: "max_cost" };

// stoppedOf tells a stop by a person from one by a limit, which can be raised.
function stoppedOf({ view }, e) {
  if (e.cause === "person") return { kind: "calm", title: "Stopped.", text: sentence(e.reason || `stopped by ${e.name}`) };
  const raised = view.raised && Object.keys(view.raised).filter((key) => view.raised[key] !== view.limits[key]);
  const action = raised?.length ? { label: `Go on with ${raised.map((key) => amount(key, view.raised[key])).join(", ")}`, act: { do: "limits", limits: view.raised } } : undefined;
  const key = names[e.name];
  const why = key ? `the limit of ${amount(key, view.limits[key])} is reached` : e.reason.replace(/^(limit|loop) \w+: /, "");
  const by = e.cause === "loop" ? `Stopped by the loop guard ${e.name}:` : "Stopped:";
  return { kind: "warn", title: `${by} ${why}.`, fix: e.fix && sentence(e.fix), action };
}

const amount = (key, n) => {
  const limit = limits.find((l) => l.key === key);
  return limit ? `${limit.text(n)} ${limit.unit}`.trim() : `${n} ${others[key] ?? key.replaceAll("_", " ")}`;
};

// awayOf says which sessions a live room waits for, null if another agent could speak.
function awayOf({ participants }) {
  const agents = participants.filter((p) => p.kind !== "human");
  const away = agents.filter((p) => p.phase === "away");
  const able = agents.some((p) => ["idle", "starting", "next", "thinking", "waiting for approval", "waiting for permission", "taken over"].includes(p.phase));
  if (away.length === 0 || able) return null;
  return { kind: "warn", title: `The room waits for ${count(away.length, "session")}:`, text: away.map((p) => p.name || p.id).join(", "), fix: "`moot help agents` says how a session takes its turn." };
}

// budgetsOf says which seats have used a budget or most of it.
function budgetsOf({ phase, participants }) {
  if (phase !== "live" && phase !== "paused") return [];
  return participants.flatMap((p) => (p.budget ?? []).map((m) => ({ kind: "warn", title: sentence(budgetNote(m, p.name || p.id)) })));
}

// nearOf says which limit is near, null for none.
function nearOf(room) {
  const { view } = room;
  if (view.phase !== "live" && view.phase !== "paused") return null;
  const at = limits.find(({ key, used }) => view.limits[key] && used(view, room) >= near * view.limits[key] && used(view, room) < view.limits[key]);
  if (!at) return null;
  const most = view.limits[at.key], used = at.used(view, room);
  return {
    kind: "warn", title: at.key === "max_duration_ns" ? "Limit near: time." : `Limit near: ${at.text(used)} of ${at.text(most)}${at.unit ? ` ${at.unit}` : ` ${at.name}`}.`,
    text: at.key === "max_duration_ns" ? `The room ends at ${clock(most)}.` : "",
    action: { label: `Raise to ${amount(at.key, 2 * most)}`, act: { do: "limits", limits: { ...view.limits, [at.key]: 2 * most } } },
  };
}
