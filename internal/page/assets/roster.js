// The roster: who takes part, what each does now, and what it has used.
import { avatar, el, hueOf, setText } from "./dom.js";
import { clock, cost, count, seconds, tokens } from "./format.js";
import { get } from "./api.js";
import { budgetText } from "./budget.js";
import { Clock } from "./clock.js";
import { kindOf, kindWord, modeMeans, modeWord } from "./words.js";

const speaking = ["thinking", "waiting for approval", "waiting for permission"];

// A Seat is one row. It is made once and patched, so that the focus stays where it is.
class Seat {
  constructor(room, id) {
    this.room = room;
    this.id = id;
    this.name = el("strong");
    this.tag = el("span", { class: "tag" });
    this.state = el("span", { class: "state" });
    this.time = el("span", { class: "seat-time" });
    this.used = el("p", { class: "seat-used" });
    this.button = el("button", { class: "seat-button", type: "button", onclick: () => room.select({ seat: id }) },
      el("span", { class: "seat-body" }, el("span", { class: "seat-name" }, this.name, this.tag), el("span", { class: "seat-now" }, this.state, this.time)));
    this.free = el("p", { class: "seat-used seat-free" });
    this.element = el("li", { class: "seat", "data-seat": id }, this.button, this.used, this.free);
    this.element.style.setProperty("--hue", hueOf(id));
  }

  show(p, next, permissions) {
    this.seat = p;
    const { you, view } = this.room;
    if (!this.button.querySelector(".avatar")) this.button.prepend(avatar(p.id, p.name || p.id));
    const kind = kindOf(p, you);
    const now = speaking.includes(p.phase) && view.phase === "live";
    setText(this.name, p.name || p.id);
    setText(this.tag, kindWord(p, you, view.one_to_one));
    this.tag.className = `tag tag-${kind}`;
    this.tag.title = p.device ? `on the device ${p.device}` : "";
    this.element.title = p.role ?? "";
    this.element.classList.toggle("is-speaking", now);
    this.element.classList.toggle("is-next", next && !now);
    this.element.classList.toggle("is-out", ["muted", "suspended", "removed", "away"].includes(p.phase));
    if (now) this.button.setAttribute("aria-current", "true");
    else this.button.removeAttribute("aria-current");
    setText(this.state, stateOf(p, view, next));
    this.state.parentElement.hidden = p.badge === "human" && !this.state.textContent;
    const facts = p.badge === "human" ? [] : used(p, permissions);
    this.used.hidden = facts.length === 0;
    setText(this.used, facts.map(([text]) => text.replaceAll(" ", "\u00a0")).join(" · "));
    this.used.title = facts.map(([, long]) => long).join("\n");
    const free = view.not_enforced?.find((x) => x.participant === this.id);
    this.free.hidden = !free;
    setText(this.free, free ? `not enforced: ${free.tools.join(", ")}` : "");
    this.free.title = free ? `It may not use these tools, and its program could: ${free.why}` : "";
  }

  tick(turn) {
    setText(this.time, this.seat?.phase === "thinking" && this.room.view.phase === "live" ? clock(turn) : "");
  }
}

// stateOf says what a seat does now.
function stateOf(p, view, next) {
  const because = p.why ? `: ${p.why}` : "";
  switch (p.phase) {
    case "thinking": return "speaking";
    case "cooling": return `cooldown, ${count(p.cooling, "turn")} left`;
    case "taken over": return `taken over ${p.why ?? ""}`;
    case "waiting for approval": case "waiting for permission": return p.phase;
    case "muted": case "suspended": case "removed": return p.phase + because;
    case "starting": return "starting…";
    case "away": return "away" + because;
  }
  if (next && view.phase === "live") return view.one_to_one ? "next" : "addressed";
  return p.badge === "human" ? "" : p.why ?? "idle";
}

// used lists the mode of an agent and what it has done and used: in short, and in words.
function used(p, permissions) {
  const list = [];
  if (p.mode) list.push([modeWord(p.mode) + (p.mode_set ? " (set)" : ""), modeMeans(p.mode) + (p.mode_set ? ", until the room ends" : "")]);
  if (permissions) list.push([permissions.split(":")[0], `Permissions of the agent: ${permissions}`]);
  list.push([count(p.turns, "turn"), count(p.turns, "turn")]);
  if (p.tokens > 0) list.push([tokens(p.tokens, p.estimated), `${p.tokens.toLocaleString()} tokens${p.estimated ? ", in part an estimate" : ""}`]);
  if (p.cost > 0) list.push([cost(p.cost, p.cost_estimated), `cost${p.cost_estimated ? ", in part an estimate" : ""}`]);
  for (const m of p.budget ?? []) list.push([`${m.level === "used" ? "no budget left" : `budget ${m.share} %`}`, `It has used ${budgetText(m)}`]);
  if (p.avg_latency_ns > 0) list.push([seconds(p.avg_latency_ns), "average time of an answer"]);
  if (p.passed > 0) list.push([`${p.passed} passed`, `${count(p.passed, "turn")} without a message`]);
  if (p.failures > 0) list.push([`${count(p.failures, "failure")} in a row`, `${count(p.failed ?? p.failures, "failed turn")} in all`]);
  else if (p.failed) list.push([count(p.failed, "failure"), `${count(p.failed, "failed turn")} in all`]);
  return list;
}

// permissionsOf returns how each agent with a permission mode is made to ask before it
// acts, by the ids of the seats. The log says which agents they are.
async function permissionsOf(room) {
  const joined = (await room.history({ after: 0, limit: 100 })).events.filter((u) => u.event.type === "participant.joined");
  const seats = joined.map((u) => u.event.body.participant).filter((p) => p.endpoint?.kind === "acp");
  if (seats.length === 0) return null;
  const { installed } = await get("/api/agents");
  const known = new Map(installed.map((x) => [x.name, x.permissions]));
  return new Map(seats.map((p) => [p.id, p.endpoint.agent ? known.get(p.endpoint.agent) : "own permissions: moot sets nothing for this command"]));
}

customElements.define("moot-roster", class extends HTMLElement {
  #seats = new Map();

  connect(room) {
    this.room = room;
    this.setAttribute("role", "region");
    this.setAttribute("aria-labelledby", "roster-title");
    this.list = el("ul", { class: "seats" });
    this.prepend(el("h2", { id: "roster-title" }, "Participants"), this.list);
    this.clock = new Clock(room, () => this.tick());
    room.addEventListener("view", () => this.show());
    permissionsOf(room).then((modes) => { this.permissions = modes; if (room.view) this.show(); }, () => {}); // they are left out then
    room.addEventListener("history", ({ detail }) => detail.events.forEach((u) => this.note(u.event)));
    room.addEventListener("event", ({ detail }) => this.note(detail.event));
  }

  // note keeps who spoke last, and whom that message addresses.
  note({ type, body }) {
    if (type === "message.posted") this.said = body.message;
    if (type === "turn.granted") this.speaker = body.participant;
  }

  show() {
    const { view } = this.room;
    const ids = new Set(view.participants.map((p) => p.id));
    for (const [id, seat] of this.#seats) {
      if (!ids.has(id)) {
        seat.element.remove();
        this.#seats.delete(id);
      }
    }
    const next = this.next();
    for (const p of view.participants) {
      if (!this.#seats.has(p.id)) this.add(p.id);
      this.#seats.get(p.id).show(p, p.id === next, this.permissions?.get(p.id));
    }
    this.tick();
  }

  add(id) {
    const seat = new Seat(this.room, id);
    this.#seats.set(id, seat);
    this.list.append(seat.element);
  }

  // next returns the seat that is next. In a one-to-one room that is the other agent. In
  // other rooms the policy decides, and the page marks the agent that the newest message
  // addresses.
  next() {
    const agents = this.room.view.participants.filter((p) => p.badge !== "human");
    if (this.room.view.one_to_one && agents.length === 2) return agents.find((p) => p.id !== this.speaker)?.id;
    const to = this.room.view.draft?.message?.to_agent ?? this.said?.to_agent;
    return agents.find((p) => p.id === to || p.id === this.said?.addressed?.[0])?.id;
  }

  tick() {
    const turn = this.clock.turn();
    for (const seat of this.#seats.values()) seat.tick(turn);
  }
});
