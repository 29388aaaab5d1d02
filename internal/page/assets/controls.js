// The controls of a room.
import { el, setText } from "./dom.js";
import { bindKey, twice } from "./keys.js";
import { ask, choose } from "./dialogs.js";

const label = (p) => p.name || p.id;
const isAgent = (p) => p.kind !== "human" && p.phase !== "removed";
const open = ({ phase }) => phase === "live" || phase === "paused";

// working are the phases of a seat that has the turn.
const working = ["thinking", "waiting for approval", "waiting for permission"];

customElements.define("moot-controls", class extends HTMLElement {
  connect(room) {
    this.room = room;
    const button = (text, run, more) => el("button", { type: "button", onclick: run, ...more }, text);
    this.pause = button("Pause", () => this.doPause(), { class: "pause", "aria-keyshortcuts": "p", title: "Stop sending at once (p)" });
    this.resume = button("Resume", () => this.doResume(), { class: "resume primary", "aria-keyshortcuts": "r", title: "Go on (r)" });
    this.takeOver = button("Take over…", () => this.doTakeOver(), { class: "take-over", "aria-keyshortcuts": "t", title: "Speak for an agent yourself (t)" });
    this.next = button("Next…", () => this.doNext(), { class: "next", title: "Give an agent the floor without asking the policy" });
    this.auto = button("Auto-accept…", () => this.doAuto(), { class: "auto wide", title: "Send what an agent says without approval, until the room ends" });
    this.complete = button("Complete…", () => this.doEnd("complete"), { class: "complete wide", title: "End the room: the work is done" });
    this.stop = button("Stop…", () => this.doEnd("stop"), { class: "stop danger", "aria-keyshortcuts": "Escape Escape", title: "End the room (Esc Esc)" });
    this.more = button("More…", () => this.doMore(), { class: "more-controls narrow" });
    this.armed = el("span", { class: "hint armed wide", role: "status" });
    this.row = el("div", { class: "controls", role: "toolbar", "aria-label": "Controls" }, this.pause, this.resume, this.takeOver, this.next, this.auto, this.complete, this.more, this.armed, this.stop);
    this.chips = el("div", { class: "chips" });
    this.replaceChildren(this.chips, this.row);
    this.resume.hidden = true;
    for (const b of this.row.querySelectorAll("button")) b.disabled = true; // until the room is known
    for (const type of ["view", "live", "event"]) room.addEventListener(type, () => this.draw());
    bindKey("p", "Pause, or resume", () => this.pause.hidden ? this.doResume() : this.doPause());
    bindKey("r", "Resume", () => this.doResume());
    bindKey("t", "Take over a seat, or give it back", () => this.doTakeOver());
    bindKey("Escape", "Leave a field, a dialog or a card that is edited", () => this.arm());
    bindKey("Escape Escape", "Stop the room", () => this.may() && this.ongoing() && room.command({ do: "stop" }));
  }

  may() {
    return this.room.may("control") && this.room.view !== null;
  }

  // ongoing reports whether the room has not ended for good.
  ongoing() {
    const { phase, ending } = this.room.view;
    return phase !== "stopped" && (phase !== "completed" || ending?.cause === "settled");
  }

  draw() {
    const { view } = this.room;
    if (!view) return;
    this.hidden = !this.may();
    this.row.hidden = !this.ongoing(); // a banner says what raises a limit
    const resumes = view.phase === "paused" || view.phase === "error" || (view.phase === "completed" && Boolean(view.ending?.degraded));
    this.resume.disabled = this.more.disabled = this.complete.disabled = this.stop.disabled = false;
    this.pause.hidden = resumes;
    this.pause.disabled = this.room.pausing || view.phase !== "live";
    setText(this.pause, this.room.pausing ? "Pausing (turn in flight)" : "Pause");
    this.resume.hidden = !resumes;
    const agents = view.participants.filter(isAgent), busy = agents.some((p) => working.includes(p.phase));
    this.takeOver.disabled = agents.length === 0;
    this.next.disabled = view.phase !== "live" || busy;
    this.auto.disabled = !open(view);
    this.drawChips(view);
  }

  // arm says for the time of a second Escape what it does.
  arm() {
    if (!this.may() || !this.ongoing()) return;
    setText(this.armed, "Esc again stops the room");
    setTimeout(() => setText(this.armed, ""), twice);
  }

  // drawChips shows the seats that a person has taken over or does not review.
  drawChips(view) {
    const wanted = view.participants.flatMap((p) => [
      p.taken_by ? [`take ${p.id}`, `${this.room.name(p.taken_by)} speaks for ${label(p)}`, "Give back", () => this.room.command({ do: "release", seat: p.id })] : null,
      p.mode_set && p.mode === "full_auto" ? [`auto ${p.id}`, `AUTO ${label(p)}`, "Review again", () => this.room.command({ do: "mode", seat: p.id })] : null,
    ].filter(Boolean));
    const signature = wanted.map(([key, text]) => `${key} ${text}`).join("\n");
    if (signature === this.signature) return;
    this.signature = signature;
    this.chips.replaceChildren(...wanted.map(([key, text, action, run]) => el("span", { class: `chip chip-${key.split(" ")[0]}`, "data-seat": key.slice(5) }, text, el("button", { type: "button", class: "link", onclick: run, "aria-label": `${action}: ${text}` }, action))));
  }

  async doPause() {
    if (this.may() && this.room.view.phase === "live" && !this.room.pausing) await this.room.command({ do: "pause" });
  }

  async doResume() {
    if (this.may() && !this.resume.hidden) await this.room.command({ do: "resume" });
  }

  async doTakeOver() {
    if (!this.may() || !this.ongoing() || this.takeOver.disabled) return;
    const options = this.room.view.participants.filter(isAgent).map((p) => p.taken_by
      ? { label: `Give back ${label(p)}`, hint: `taken over by ${this.room.name(p.taken_by)}`, value: { do: "release", seat: p.id } }
      : { label: label(p), hint: p.phase, value: { do: "takeover", seat: p.id } });
    const act = await choose({ title: "Take over a seat", text: "You speak for the agent until you give the seat back. Its turn, if it has one, is interrupted.", options });
    if (act && await this.room.command(act) && act.do === "takeover") document.getElementById("message")?.focus();
  }

  async doNext() {
    const options = this.room.view.participants.filter(isAgent).map((p) => ({ label: label(p), hint: p.phase, value: p.id, disabled: !["idle", "cooling", "next", "taken over"].includes(p.phase) }));
    const seat = await choose({ title: "Give an agent the floor", text: "The policy is not asked.", options });
    if (seat) await this.room.command({ do: "next", seat });
  }

  async doAuto() {
    const options = this.room.view.participants.filter(isAgent).map((p) => p.mode_set
      ? { label: `Review ${label(p)} again`, hint: `${p.mode} until the room ends`, value: { do: "mode", seat: p.id } }
      : { label: label(p), hint: p.mode, value: { do: "mode", seat: p.id, mode: "full_auto" }, disabled: p.mode === "full_auto" });
    const act = await choose({ title: "Send what an agent says without approval", text: "Until the room ends. A draft that waits keeps waiting.", options });
    if (act) await this.room.command(act);
  }

  // doEnd asks for a reason, and ends the room.
  async doEnd(first) {
    const actions = [{ label: "Stop the room", value: "stop" }, { label: "Complete: the work is done", value: "complete" }];
    if (first === "complete") actions.reverse();
    const got = await ask({ title: "End the room", text: "Nothing is sent any more. What is stored stays, and the text in your message field too.", label: "Reason (optional)", actions });
    if (got) await this.room.command({ do: got.value, reason: got.text || undefined });
  }

  async doMore() {
    const what = await choose({ title: "More", options: [{ label: "Auto-accept an agent…", value: "auto", disabled: this.auto.disabled }, { label: "Complete the room…", value: "complete" }] });
    if (what === "auto") await this.doAuto();
    if (what === "complete") await this.doEnd("complete");
  }
});
