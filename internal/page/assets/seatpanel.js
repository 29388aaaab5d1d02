// The panel of a participant: what it has done and used, and what a person may change.
import { avatar, el } from "./dom.js";
import { cost, count, seconds, tokens } from "./format.js";
import { facts } from "./decision.js";
import { kindWord } from "./words.js";

const modes = [["manual", "a person approves every message"], ["semi_auto", "a person approves when a rule says so"], ["full_auto", "nobody approves"]];

export class SeatPanel {
  title = "Participant";
  #drawn = "";

  connect(room, body) {
    this.room = room;
    this.body = body;
  }

  select({ seat }) {
    this.id = seat;
    this.#drawn = "";
  }

  show() {
    const agents = this.room.view.participants;
    const p = this.room.seat(this.id) ?? agents.find((x) => x.badge !== "human") ?? agents[0];
    const state = JSON.stringify([p, this.room.view.phase, this.room.view.not_enforced]);
    if (!p || state === this.#drawn || this.body.contains(document.activeElement) && document.activeElement.matches("select")) return;
    this.#drawn = state;
    const focus = document.activeElement?.dataset?.act;
    this.body.replaceChildren(...this.#draw(p));
    if (focus) this.body.querySelector(`[data-act="${focus}"]`)?.focus();
  }

  #draw(p) {
    const human = p.badge === "human", free = this.room.view.not_enforced?.find((x) => x.participant === p.id);
    return [
      el("div", { class: "seat-title" }, avatar(p.id, p.name), el("div", {}, el("h2", {}, p.name || p.id), el("p", { class: "quiet" }, kindWord(p, this.room.you, this.room.view.one_to_one)))),
      p.role && el("p", { class: "why" }, p.role),
      facts([
        ["Now", p.phase + (p.why ? `: ${p.why}` : "")], ["Turns", !human && String(p.turns)], ["Passed", p.passed && String(p.passed)],
        ["Failures", !human && (p.failed ? `${p.failed}, ${p.failures} in a row` : "none")], ["Violations", p.violations && String(p.violations)],
        ["Tokens", !human && tokens(p.tokens, p.estimated)], ["Cached", p.cached_input_tokens && tokens(p.cached_input_tokens)], ["Reasoning", p.reasoning_tokens && tokens(p.reasoning_tokens)],
        ["Cost", p.cost && cost(p.cost, p.cost_estimated)], ["Latency", p.avg_latency_ns && `${seconds(p.avg_latency_ns)} on average of ${count(p.replies, "reply", "replies")}`],
        ["May not use", p.withheld?.join(", ")], ["Not enforced", free && `${free.tools.join(", ")}: ${free.why}`], ["Owner", p.owner], ["Device", p.device && el("code", {}, p.device.slice(0, 12))], ["Has read up to", !human && p.cursor && `event ${p.cursor}`],
      ]),
      this.room.may("control") && !human && this.#controls(p),
    ].filter(Boolean);
  }

  #controls(p) {
    const act = (text, command, more = {}) => el("button", { type: "button", "data-act": command.standing ?? command.do, onclick: () => this.room.command({ seat: p.id, ...command }), ...more }, text);
    const standing = { muted: "muted", suspended: "suspended", removed: "removed" }[p.phase];
    const taken = p.phase === "taken over";
    return el("div", { class: "seat-acts" },
      p.mode && this.#mode(p),
      el("div", { class: "buttons" },
        act("Give it the next turn", { do: "next" }),
        taken ? act("Give the seat back", { do: "release" }) : act("Take the seat over", { do: "takeover" }),
        standing ? act("Let it take part again", { do: "standing", standing: "active" }) : act("Mute", { do: "standing", standing: "muted" }, { title: "It reads and may not speak" }),
        !standing && act("Suspend", { do: "standing", standing: "suspended" }, { title: "It neither reads nor speaks until a person lets it take part again" }),
        standing !== "removed" && act("Remove", { do: "standing", standing: "removed" }, { class: "danger", title: "It leaves the room" })));
  }

  #mode(p) {
    const select = el("select", { "data-act": "mode", onchange: () => this.room.command({ do: "mode", seat: p.id, mode: select.value }) },
      ...modes.map(([value, text]) => el("option", { value, selected: value === p.mode }, text)));
    return el("label", { class: "field" }, p.mode_set ? "Before it sends (until the room ends)" : "Before it sends", select);
  }
}
