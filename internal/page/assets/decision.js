// The panel of a decision: why an agent had a turn or nobody had one, who was considered,
// and what the agent was handed.
import { get, post } from "./api.js";
import { el, hueOf } from "./dom.js";
import { count, time } from "./format.js";

const kept = 400; // decisions that are kept, so that a click needs no request

export class DecisionPanel {
  title = "Decision";
  #events = new Map(); // by their number: decisions
  #turns = new Map(); // the numbers of the decisions by turn
  #chosen = null; // what a person has chosen; null follows the newest decision
  #drawn = 0;

  connect(room, body) {
    this.room = room;
    this.body = body;
  }

  // note keeps an event that is a decision.
  note(event) {
    if (event.type !== "turn.granted" && event.type !== "round.declined") return;
    this.#events.set(event.seq, event);
    if (event.body.turn) this.#turns.set(event.body.turn, event.seq);
    if (this.#events.size > kept) this.#events.delete(this.#events.keys().next().value);
    this.newest = event;
    if (!this.#chosen && !this.body.hidden) this.show();
  }

  select({ turn, seq }) {
    this.#chosen = turn || seq ? { turn, seq } : null;
    this.#drawn = 0;
  }

  async show() {
    const event = this.#chosen ? await this.#find(this.#chosen) : this.newest;
    if (!event) {
      if (!this.#drawn) this.body.replaceChildren(el("p", { class: "quiet" }, "No decision yet."));
      return;
    }
    if (event.seq === this.#drawn) return;
    this.#drawn = event.seq;
    this.body.replaceChildren(...this.#draw(event), this.#follow());
  }

  // find returns the event that was chosen, from the server if need be.
  async #find({ turn, seq }) {
    const known = this.#events.get(turn ? this.#turns.get(turn) : seq);
    if (known) return known;
    try {
      const h = await this.room.history(turn ? { turn } : { before: seq + 1, limit: 1 });
      return h.events.map((u) => u.event).find((e) => (turn ? e.type === "turn.granted" && e.body.turn === turn : e.seq === seq));
    } catch (problem) {
      this.room.fail(problem);
      return null;
    }
  }

  #draw(event) {
    switch (event.type) {
      case "turn.granted": return this.#turn(event);
      case "round.declined": return [el("h2", {}, "Nobody speaks"), why(event.body.reason), record(event.body.record, event), raw(event)];
    }
    return [el("h2", {}, `Event ${event.seq}`), el("p", { class: "quiet" }, `${event.type}, by ${this.room.name(event.actor)}, ${time(event.at)}`), raw(event, true)];
  }

  #turn(event) {
    const { body } = event;
    const candidates = el("div", {}, bars(this.room, (body.scores ?? []).map((s) => ({ participant: s.agent, score: s.score })), body.participant));
    return [
      el("h2", {}, `Why ${this.room.name(body.participant)} had turn ${body.turn}`), explored(this.room, body), why(body.reason || "A person gave it the turn."), candidates,
      facts([["Confidence", body.confidence?.toFixed(2)], ["Drawn with", body.exploration && percent(body.exploration.propensity)], ["Prompt", `~${count(body.tokens, "token")}`], ["Handed over", handed(body.window)]]),
      record(body.record, event), this.room.may("control") && this.#more(body.turn, body.participant, candidates),
      this.room.may("admin") && this.#again(body.turn), raw(event),
    ].filter(Boolean);
  }

  // more shows what the server makes again from the log: who was blocked, and the prompt.
  #more(turn, winner, candidates) {
    const text = el("div", {});
    return el("details", { ontoggle: async ({ target }) => {
      if (!target.open || text.firstChild) return;
      text.append(el("p", { class: "quiet" }, "Reading the log…"));
      try {
        const sight = await get(`${this.room.path}/turns/${turn}`);
        candidates.replaceChildren(bars(this.room, sight.candidates, winner));
        text.replaceChildren(...handedOver(sight));
      } catch (problem) {
        text.replaceChildren(el("p", { role: "alert" }, problem.message));
      }
    } }, el("summary", {}, "Prompt, and who was blocked"), text);
  }

  // again makes a room of the turns up to this one, which goes on.
  #again(turn) {
    return el("div", { class: "again" }, el("button", { type: "button", onclick: async ({ target }) => {
      target.disabled = true;
      try {
        const { room } = await post(`${this.room.path}/forks`, { at: `t${turn}`, run: true });
        location.assign(`/rooms/${encodeURIComponent(room)}`);
      } catch (problem) {
        target.disabled = false;
        this.room.fail(problem);
      }
    } }, "Run again from here"), el("p", { class: "hint" }, `A new room begins with the turns 1 to ${turn}. This one stays as it is.`));
  }

  #follow() {
    if (!this.#chosen) return "";
    return el("p", {}, el("button", { type: "button", class: "link", onclick: () => { this.select({}); this.show(); } }, "Follow the newest decision"));
  }
}

// explored says that the room took another participant than the policy chose.
function explored(room, { exploration, participant }) {
  if (!exploration || exploration.choice === participant) return "";
  return el("p", { class: "why" }, `Explored: the policy chose ${room.name(exploration.choice)}.`);
}

const percent = (p) => `probability ${(100 * p).toFixed(1)} %`;

const why = (reason) => el("p", { class: "why" }, reason);

// bars draws the candidates with their scores; who was blocked has the reason instead.
function bars(room, candidates, winner) {
  if (candidates.length === 0) return "";
  const scores = candidates.map((c) => c.score ?? 0);
  const [least, most] = [Math.min(0, ...scores), Math.max(0, ...scores)];
  const rows = [...candidates].sort((a, b) => (b.score ?? -1e9) - (a.score ?? -1e9)).map((c) => {
    const bar = el("span", { class: "bar" });
    bar.style.setProperty("--share", `${Math.round((100 * ((c.score ?? 0) - least)) / (most - least || 1))}%`);
    bar.style.setProperty("--hue", hueOf(c.participant));
    const bid = c.bid ? `bid ${c.bid.score.toFixed(2)}${c.bid.reason ? `: ${c.bid.reason}` : ""}` : "";
    const name = el("th", { scope: "row" }, room.name(c.participant), c.participant === winner && el("span", { class: "sr" }, ", chosen"));
    const cells = c.blocked ? [el("td", { colspan: 2 }, c.blocked)]
      : c.score === undefined ? [el("td", { colspan: 2 }, bid || (c.participant === winner ? "chosen" : "could speak"))]
        : [el("td", {}, bar), el("td", {}, Math.abs(c.score) < 100 ? c.score.toFixed(2) : String(Math.round(c.score)))];
    return el("tr", { class: c.participant === winner ? "win" : c.blocked ? "out" : "" }, name, ...cells);
  });
  return el("table", { class: "bars" }, el("caption", { class: "sr" }, "Candidates"), el("tbody", {}, ...rows));
}

// facts draws names and values; those without a value are left out.
export function facts(list) {
  return el("dl", { class: "facts" }, ...list.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false)
    .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function record(r, event) {
  return facts([
    ["Policy", r?.policy], ["Decided in", r?.micros !== undefined && `${(r.micros / 1000).toFixed(2)} ms`], ["Module", r?.digest && el("code", {}, r.digest.slice(0, 12))],
    ["Engine", r?.engine], ["At", time(event.at)], ["Event", `#${event.seq}`], ["Failed", r?.error && `${r.error}. ${r.fix ?? ""}`],
  ]);
}

// handed says which events an agent got whole, as lines, and not at all.
function handed(w) {
  if (!w) return "";
  const events = (spans) => (spans ?? []).reduce((n, s) => n + s.to - s.from + 1, 0);
  const omitted = (w.omitted ?? []).reduce((n, o) => n + o.messages, 0);
  return [`up to event ${w.through}`, w.verbatim?.length && `${events(w.verbatim)} whole`, w.lines?.length && `${events(w.lines)} as lines`, omitted && `${omitted} left out`].filter(Boolean).join(", ");
}

// handedOver shows the prompt and what the agent has used.
function handedOver(s) {
  const same = s.recorded_digest === s.rebuilt_digest;
  const u = s.usage ?? {};
  return [
    facts([
      ["Used", u.known && `${u.input_tokens ?? 0} in, ${u.output_tokens ?? 0} out`],
      ["Prompt", same ? "as recorded" : s.redacted ? "changed by a redaction since" : "not as recorded"],
      ["SHA-256", el("code", {}, s.rebuilt_digest.slice(0, 16))],
    ]),
    s.remote && el("p", { class: "quiet" }, "Another device has this agent: it got these parts, quoted by that device."),
    s.instructions && el("pre", { tabindex: 0, "aria-label": "Instructions" }, s.instructions),
    el("pre", { tabindex: 0, "aria-label": "Prompt" }, s.prompt),
  ].filter(Boolean);
}

// raw shows an event as it is stored.
function raw(event, open = false) {
  return el("details", { class: "raw", open }, el("summary", {}, "Event as it is stored"), el("pre", { tabindex: 0, "aria-label": "Event" }, JSON.stringify(event, null, 2)));
}
