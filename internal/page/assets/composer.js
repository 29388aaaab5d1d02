// The message field. What a person says is in the room at once, and agents are given it
// with their next prompt.
import { el, setText } from "./dom.js";

const options = (select, wanted) => {
  const chosen = select.value;
  const now = [...select.options].map((o) => `${o.value} ${o.text}`).join("\n");
  if (now === wanted.map(([value, text]) => `${value} ${text}`).join("\n")) return;
  select.replaceChildren(...wanted.map(([value, text]) => el("option", { value }, text)));
  select.value = wanted.some(([value]) => value === chosen) ? chosen : wanted[0][0];
};

// ended reports whether a room takes no more messages.
const ended = ({ phase, ending }) => phase === "stopped" || (phase === "completed" && ending?.cause !== "settled");

customElements.define("moot-composer", class extends HTMLElement {
  #busy = false;
  #entered = false; // Enter is down; some input methods insert its line break all the same
  #id = ""; // of the command that sends the text; the same when it is sent again
  #queued = null; // the turn during which a message was sent

  connect(room) {
    this.room = room;
    this.key = `moot text ${room.id}`;
    this.text = el("textarea", { id: "message", rows: 1, maxlength: 200_000, "aria-label": "Message", "aria-describedby": "message-hint", enterkeyhint: "send", onkeydown: (e) => this.pressed(e), onkeyup: () => { this.#entered = false; }, onbeforeinput: (e) => this.#entered && e.preventDefault(), oninput: () => this.changed() });
    this.to = el("select", { "aria-label": "To" }, el("option", { value: "" }, "To everybody"));
    this.as = el("select", { "aria-label": "Speak as", hidden: true, onchange: () => this.draw() });
    this.send = el("button", { class: "primary", type: "submit" }, "Send");
    this.hint = el("p", { class: "hint", id: "message-hint", role: "status" });
    this.form = el("form", { class: "composer", onsubmit: (e) => { e.preventDefault(); this.submit(); } }, this.text, this.send, el("div", { class: "address" }, this.as, this.to, this.hint));
    this.replaceChildren(this.form);
    this.text.value = sessionStorage.getItem(this.key) ?? "";
    room.addEventListener("view", () => this.draw());
    room.addEventListener("event", ({ detail: { event } }) => this.taken(event));
  }

  // taken makes the person speak for a seat that was taken over, until it is given back.
  taken({ type, body }) {
    if (type === "seat.taken" && body.by === this.room.you) this.wanted = body.participant;
    if (type === "seat.released" && this.as.value === body.participant) this.wanted = "";
  }

  // seats returns the seats that this person has taken over.
  seats() {
    return this.room.view.participants.filter((p) => p.taken_by && p.taken_by === (this.room.you || "host"));
  }

  draw() {
    if (!this.room.view) return; // a person writes before the room is there
    const { room } = this, seats = this.seats(), you = room.you;
    this.form.hidden = !room.may("talk");
    options(this.as, [["", `As ${you ? room.name(you) : "the host"}`], ...seats.map((p) => [p.id, `As ${p.name || p.id}`])]);
    if (this.wanted !== undefined && [...this.as.options].some((o) => o.value === this.wanted)) {
      this.as.value = this.wanted;
      this.wanted = undefined;
    }
    this.as.hidden = seats.length === 0;
    options(this.to, [["", "To everybody"], ...room.view.participants.filter((p) => p.id !== you && p.phase !== "removed").map((p) => [p.id, `To ${p.name || p.id}`])]);
    const over = ended(room.view);
    this.text.placeholder = over ? "The room has ended" : "Message the room";
    this.send.disabled = over || this.#busy;
    setText(this.send, this.as.value ? `Send as ${room.name(this.as.value)}` : "Send");
    setText(this.hint, this.advice(over, seats));
  }

  // advice says what happens to the text.
  advice(over, seats) {
    const { room } = this, speaks = this.speaker(), floor = seats.find((p) => p.phase === "thinking");
    if (over) return this.text.value ? "The room has ended. Your text stays here." : "";
    if (floor) return `You have the floor for ${floor.name || floor.id}.`;
    if (this.#queued !== null && speaks && this.#queued === room.view.turn) return `Said. It is handed over with the next turn. Enter again interrupts ${speaks.name || speaks.id}.`;
    this.#queued = null;
    if (room.view.phase === "paused") return "The room is paused. Agents are given your message after it.";
    return speaks ? `${speaks.name || speaks.id} has the turn. Your message is handed over with the next one.` : "Enter sends, Shift-Enter begins a new line.";
  }

  // speaker returns the agent that works on a turn.
  speaker() {
    return this.room.view.phase === "live" ? this.room.view.participants.find((p) => !p.taken_by && (p.phase === "thinking" || p.phase === "waiting for permission")) : undefined;
  }

  pressed(e) {
    if (e.isComposing || e.keyCode === 229) return; // Enter accepts what an input method proposes
    if (e.key === "Escape") {
      e.stopPropagation(); // it leaves the field, and is not the first of the two that stop the room
      document.getElementById("main")?.focus();
    }
    if (e.key !== "Enter" || e.shiftKey) return;
    e.preventDefault();
    this.#entered = true;
    if (this.text.value.trim()) this.submit();
    else if (!e.repeat && this.room.view) this.interrupt();
  }

  changed() {
    this.#id = "";
    this.#queued = null;
    sessionStorage.setItem(this.key, this.text.value);
    this.draw();
  }

  async submit() {
    const text = this.text.value;
    if (!text.trim() || this.#busy || !this.room.view || ended(this.room.view)) return;
    this.#busy = this.send.disabled = true;
    this.#id ||= crypto.randomUUID();
    const turn = this.speaker() ? this.room.view.turn : null;
    const done = await this.room.command({ id: this.#id, do: "say", text, for: this.as.value || undefined, to: this.to.value || undefined });
    this.#busy = false;
    if (done && this.text.value === text) {
      this.text.value = this.to.value = "";
      this.changed();
      this.#queued = turn;
    }
    this.draw();
  }

  // interrupt ends the turn that runs, so that what was said comes first.
  async interrupt() {
    const speaks = this.speaker();
    if (this.#queued === null || this.#queued !== this.room.view.turn || !speaks || this.#busy || !this.room.may("control")) return;
    this.#queued = null;
    this.#busy = true;
    if (await this.room.command({ do: "pause", reason: "a message goes first" })) await this.room.command({ do: "resume" });
    this.#busy = false;
    this.draw();
  }
});
