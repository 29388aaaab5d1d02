// The messages that were not delivered as their senders meant: dead letters, which the
// room refused or which were never acknowledged; held messages; and those that their
// receivers have not acknowledged in time. One button with their number opens the list.
import { el, hueOf, setText } from "./dom.js";
import { hour, time } from "./format.js";
import { deliveryState, kindName, kindOfMessage, stateName } from "./kinds.js";

customElements.define("moot-letters", class extends HTMLElement {
  connect(room) {
    this.room = room;
    this.hidden = true;
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", "Undelivered messages");
    this.pill = el("button", { class: "thread-pill letters-pill", type: "button", "aria-expanded": "false", "aria-controls": "letters-body", onclick: () => this.toggle() });
    this.list = el("div");
    this.body = el("div", { class: "thread-rows", id: "letters-body", role: "group", "aria-label": "Undelivered messages", tabindex: "0", hidden: true }, this.list);
    this.append(this.pill, this.body);
    room.addEventListener("mail", () => this.draw());
    room.addEventListener("view", () => this.draw());
    room.addEventListener("event", ({ detail }) => this.#redacted(detail.event));
  }

  toggle() {
    this.body.hidden = !this.body.hidden;
    this.pill.setAttribute("aria-expanded", String(!this.body.hidden));
    this.draw();
  }

  name = (id) => (id === "broadcast" ? "everybody" : this.room.name(id));

  // redacted removes the copy of a text that a person has removed.
  #redacted({ type, body }) {
    const letter = type === "message.redacted" && this.room.mail?.letters.find((l) => l.seq === body.target || l.target === body.target);
    if (letter) Object.assign(letter.message, { text: "", summary: "" });
  }

  draw() {
    const { mail, deliveries } = this.room;
    if (!mail) return;
    const all = [...deliveries.values()].flatMap((receivers) => [...receivers.values()]);
    const held = all.filter((d) => d.state === "held");
    const missed = all.filter((d) => d.attempts > 0 && !["held", "acked", "refused", "expired"].includes(d.state));
    this.hidden = mail.dead + held.length + missed.length === 0;
    const facts = [mail.dead && `${mail.dead} dead`, held.length && `${held.length} held`, missed.length && `${missed.length} not acknowledged`].filter(Boolean);
    setText(this.pill, `Undelivered (${facts.join(", ")})`);
    const key = JSON.stringify([mail.letters, held, missed, this.room.view?.participants.map((p) => p.name)]);
    if (this.body.hidden || key === this.key) return;
    this.key = key;
    const top = this.body.scrollTop;
    this.list.replaceChildren(...[...mail.letters].reverse().map((l) => this.#letter(l)), ...[...missed, ...held].map((d) => this.#delivery(d)));
    this.body.scrollTop = top;
  }

  // letter draws a dead letter with the copy of its text.
  #letter({ message: m, state, participant, code, reason, fix, at, seq }) {
    const copy = m.text || m.summary || "";
    return this.#row(m, participant || m.to_agent || "broadcast", state, at, seq, [reason, fix], code, copy.length > 400 ? `${copy.slice(0, 400)}…` : copy);
  }

  #delivery(d) {
    const missed = d.attempts > 0 ? `not acknowledged in time, ${d.attempts === 1 ? "once" : `${d.attempts} times`}` : "";
    return this.#row(d, d.to_agent, d.state, d.at, d.seq, [missed, d.reason], "", "");
  }

  #row(m, to, state, at, seq, why, code, copy) {
    const [sign, word, means] = deliveryState(state), tag = el("span", { class: "tag" }, kindName(m));
    const e = el("article", { class: "letter", "data-kind": kindOfMessage(m), "aria-label": `${word}, ${kindName(m)}, event ${seq}` },
      el("header", {}, tag, el("span", { class: "who" }, `${this.name(m.from_agent ?? "")} → ${this.name(to)}`),
        el("span", { class: "letter-state", "data-state": stateName(state), title: means }, `${sign} ${word}`), el("time", { title: `${time(at)}, event ${seq}` }, hour(at))),
      el("p", { class: "letter-why" }, why.filter(Boolean).join("; "), code ? el("code", {}, ` ${code}`) : ""), copy ? el("p", { class: "letter-copy" }, copy) : "");
    e.style.setProperty("--hue", hueOf(m.from_agent ?? ""));
    return e;
  }
});
