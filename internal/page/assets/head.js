// The head of a room: its name, objective, phase, connection and meters.
import { el, setText } from "./dom.js";
import { clock, cost, tokens } from "./format.js";
import { Clock } from "./clock.js";
import { chainOf } from "./waiting.js";
import { phaseTone, phaseWord, stateWord } from "./words.js";

const links = { connecting: "connecting…", open: "", waiting: "no connection, trying again…", ended: "" };

// A meter shows a figure and its limit, if it has one. From four fifths of the limit on
// it says that the limit is near.
class Meter {
  constructor(name) {
    this.bar = el("meter", { min: 0, "aria-hidden": "true" });
    this.text = el("span");
    this.near = el("span", { class: "sr" });
    this.element = el("div", {}, el("dt", {}, name), el("dd", {}, this.text, this.near, this.bar));
  }

  show(value, limit, word) {
    this.bar.hidden = !limit;
    if (limit) Object.assign(this.bar, { max: limit, low: 0, high: limit * .8, optimum: 0, value: Math.min(value, limit) });
    const near = Boolean(limit) && value >= limit * .8;
    this.element.classList.toggle("is-near", near);
    setText(this.near, near ? ", near the limit" : "");
    setText(this.text, limit ? `${word(value)} / ${word(limit)}` : word(value));
  }
}

customElements.define("moot-head", class extends HTMLElement {
  connect(room) {
    this.room = room;
    this.title = "";
    this.heading = this.querySelector("h1");
    this.phase = el("span", { class: "phase", id: "phase" });
    this.state = el("span", { class: "tag", id: "state", hidden: true });
    this.policy = el("span", { class: "tag", id: "policy-name", hidden: true });
    this.link = el("span", { class: "link-state", id: "link", role: "status" });
    this.tools = el("div", { class: "head-tools" });
    this.objective = el("p", { class: "objective", id: "objective" });
    this.call = el("p", { class: "call-of", hidden: true }, el("span"), " · ", el("a", {}, "Room of the caller"));
    this.more = el("button", { class: "link objective-more", type: "button", hidden: true, "aria-controls": "objective", "aria-expanded": "false", onclick: () => this.expand() }, "more");
    this.meters = { turns: new Meter("Turns"), time: new Meter("Time"), tokens: new Meter("Tokens"), cost: new Meter("Cost") };
    this.prepend(el("div", { class: "head-main" }, this.heading, this.demo(), this.phase, this.state, this.policy, this.link, this.tools),
      el("div", { class: "objective-box" }, this.objective, this.more, this.call),
      el("dl", { class: "meters", "aria-label": "Figures and limits" }, ...Object.values(this.meters).map((m) => m.element)));
    new Clock(room, () => this.showTime());
    room.addEventListener("view", () => this.show());
    room.addEventListener("live", ({ detail }) => { if (detail.pausing) this.showPhase(); });
    room.addEventListener("link", () => setText(this.link, links[room.link] ?? ""));
    new ResizeObserver(() => this.measure()).observe(this.objective);
  }

  demo() {
    return "demo" in document.body.dataset ? el("span", { class: "tag tag-demo", title: "The lines of its agents are scripted" }, "DEMO") : null;
  }

  show() {
    const v = this.room.view;
    setText(this.heading, v.name || v.room);
    this.showPhase();
    const state = v.one_to_one && v.phase === "live" ? stateWord(v.state) : "";
    this.state.hidden = !state;
    this.state.dataset.state = v.state;
    setText(this.state, state);
    this.policy.hidden = !v.policy;
    setText(this.policy, `policy ${v.policy}`);
    this.policy.title = v.policy_in_force?.version ? `${v.policy} ${v.policy_in_force.version}, sha256 ${v.policy_in_force.digest.slice(0, 12)}` : v.policy;
    if (this.objective.textContent !== v.objective) {
      this.objective.textContent = v.objective;
      this.measure();
    }
    this.showCall(v.call);
    this.meters.turns.show(v.tally.turns, v.limits.max_turns, String);
    this.meters.tokens.show(v.tally.tokens, v.limits.max_tokens, (n) => tokens(n, n === v.tally.tokens && v.tally.estimated));
    this.meters.cost.show(v.tally.cost, v.limits.max_cost, (n) => cost(n, n === v.tally.cost && v.tally.cost_estimated));
    this.meters.cost.element.hidden = !v.tally.cost && !v.limits.max_cost;
    this.showTime();
  }

  // showCall says of a child room who called whom, and leads to the room of the caller.
  showCall(call) {
    this.call.hidden = !call;
    if (!call) return;
    setText(this.call.firstChild, chainOf({ chain: call.chain, agent: call.agent_name }, (id) => this.room.name(id)));
    this.call.lastChild.href = `/rooms/${encodeURIComponent(call.room)}`;
  }

  // showPhase says that a turn is still in flight while the room is about to pause.
  showPhase() {
    const { phase } = this.room.view;
    const pausing = this.room.pausing && phase === "live";
    setText(this.phase, pausing ? "Pausing (turn in flight)" : phaseWord(phase));
    this.phase.dataset.tone = pausing ? "warn" : phaseTone(phase);
  }

  showTime() {
    const v = this.room.view;
    if (v) this.meters.time.show(this.room.clock(), v.limits.max_duration_ns, clock);
  }

  // measure offers the rest of an objective that is longer than two lines.
  measure() {
    if (this.more.ariaExpanded === "true") return;
    this.more.hidden = this.objective.scrollHeight <= this.objective.clientHeight + 1;
  }

  expand() {
    const open = this.more.ariaExpanded !== "true";
    this.more.ariaExpanded = String(open);
    this.objective.classList.toggle("is-whole", open);
    setText(this.more, open ? "less" : "more");
  }
});
