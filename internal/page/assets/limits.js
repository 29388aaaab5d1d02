// The limits of the room, as a form.
import { el, setText } from "./dom.js";
import { post } from "./api.js";

// The limits that have an effect: key of the view, label, what it is, and what an empty
// field means. A time is in nanoseconds, an amount in millionths.
const common = [
  ["max_turns", "Turns", "count"], ["max_duration_ns", "Running time", "time"], ["max_tokens", "Tokens", "count", "no limit"], ["max_cost", "Cost", "cost", "no limit"],
  ["max_failures", "Failures in a row", "count"], ["max_declines", "Declined rounds in a row", "count"],
];
const rest = [
  ["turn_timeout_ns", "Time of a turn", "time"], ["tool_turn_timeout_ns", "Time of a turn with tools", "time"], ["remote_timeout_ns", "Time of a turn of another owner's agent", "time"],
  ["start_timeout_ns", "Time until an agent has started", "time"], ["bid_timeout_ns", "Time of a bid", "time"], ["decline_retry_ns", "Wait after a declined round", "time"],
  ["draft_timeout_ns", "Time until a draft is not sent", "time"], ["permission_timeout_ns", "Time until a permission request is refused", "time"],
  ["max_output_chars", "Characters of one answer", "count"], ["max_tool_rounds", "Tool rounds of a turn", "count"], ["max_hops", "Calls in a chain", "count"],
  ["max_violations", "Violations of the protocol", "count"], ["same_text", "The same text, times", "count"], ["same_text_of", "… among this many messages", "count"],
  ["max_internal", "Messages of an agent between two turns", "count"],
];

const units = { ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };

// duration reads a time such as 15m, 1h30m or 90s; NaN if it is none.
export function duration(text) {
  const parts = text.trim().matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h)\s*/g);
  let sum = 0, read = "";
  for (const [all, n, unit] of parts) { sum += Number(n) * units[unit]; read += all; }
  return read !== "" && read === text.trim() ? Math.round(sum) : NaN;
}

// durationText writes a time as duration reads it.
export function durationText(ns) {
  let text = "";
  for (const unit of ["h", "m", "s", "ms"]) {
    const n = Math.floor(ns / units[unit]);
    if (n > 0) text += n + unit;
    ns -= n * units[unit];
  }
  return text;
}

const write = { count: String, time: durationText, cost: (v) => String(v / 1e6) };
const read = { count: (t) => /^\d+$/.test(t) ? Number(t) : NaN, time: duration, cost: (t) => /^\d+(\.\d+)?$/.test(t) ? Math.round(Number(t) * 1e6) : NaN };
const wanted = { count: "write a whole number", time: "write a time such as 15m, 90s or 1h30m", cost: "write an amount such as 2.50" };

customElements.define("moot-limits", class extends HTMLElement {
  #fields = new Map();
  #changed = false;

  connect(room) {
    this.room = room;
    this.classList.add("limits");
    room.addEventListener("view", () => this.show());
    if (room.view) this.show();
  }

  draw() {
    const field = ([key, label, kind, none]) => {
      const input = el("input", { type: "text", inputmode: kind === "time" ? "text" : "decimal", placeholder: none ?? "default", oninput: () => this.touched(input, error) });
      const error = el("span", { class: "error", id: `limit-${crypto.randomUUID()}` });
      input.setAttribute("aria-describedby", error.id);
      this.#fields.set(key, { input, error, kind });
      return el("div", { class: "setting" }, el("label", { class: "field" }, label, input), error);
    };
    this.save = el("button", { type: "submit", class: "primary", disabled: true }, "Change the limits");
    this.undo = el("button", { type: "button", hidden: true, onclick: () => { this.#changed = false; this.fill(); } }, "Reset");
    this.said = el("p", { class: "hint", role: "status" });
    this.form = el("form", { novalidate: true, onsubmit: (e) => { e.preventDefault(); this.change(); } }, ...common.map(field),
      el("details", {}, el("summary", {}, "More limits"), ...rest.map(field)), el("div", { class: "policy-actions" }, this.save, this.undo), this.said);
    this.append(el("h2", {}, "Change the limits"), this.form);
  }

  // show fills the form when the limits have changed, unless the person is changing them.
  show() {
    const { room } = this;
    this.hidden = !room.may("control");
    if (!this.form) this.draw();
    const text = JSON.stringify(room.view.limits);
    if (text === this.shown || this.#changed) return;
    this.shown = text;
    this.fill();
  }

  fill() {
    const limits = this.room.view.limits;
    for (const [key, { input, error, kind }] of this.#fields) {
      input.value = limits[key] ? write[kind](limits[key]) : "";
      input.removeAttribute("aria-invalid");
      setText(error, "");
    }
    this.state();
  }

  touched(input, error) {
    this.#changed = true;
    input.removeAttribute("aria-invalid");
    setText(error, "");
    setText(this.said, "");
    this.state();
  }

  state() {
    this.save.disabled = !this.#changed;
    this.undo.hidden = !this.#changed;
  }

  // limits reads the form; an empty field is the default. null if a field is not valid.
  limits() {
    const out = { ...this.room.view.limits };
    let first = null;
    for (const [key, { input, error, kind }] of this.#fields) {
      const text = input.value.trim();
      out[key] = text === "" ? 0 : read[kind](text);
      const wrong = Number.isNaN(out[key]);
      setText(error, wrong ? wanted[kind] : "");
      if (wrong) { input.setAttribute("aria-invalid", "true"); first ??= input; }
    }
    if (!first) return out;
    first.closest("details")?.setAttribute("open", "");
    first.focus();
    return null;
  }

  async change() {
    const limits = this.limits();
    if (!limits) return;
    this.save.disabled = true;
    try {
      await post(`${this.room.path}/commands`, { id: crypto.randomUUID(), as: this.room.you || undefined, do: "limits", limits });
    } catch (problem) {
      this.state();
      this.room.fail(problem);
      return;
    }
    this.#changed = false;
    this.shown = "";
    this.state();
    setText(this.said, "The limits have changed.");
  }
});
