// The internal agent messages of a room: one button with their number, which opens the
// thread. The thread reads its own part of the log, so that it is complete although the
// timeline has other rows.
import { drawPart } from "./cards.js";
import { el, hueOf, setText } from "./dom.js";
import { hour, time } from "./format.js";
import { bindKey } from "./keys.js";
import { kindName, kindOfMessage } from "./kinds.js";
import { markMentions } from "./mentions.js";
import { openSheet } from "./sheets.js";

const most = 300; // messages
const page = 100; // of one request

customElements.define("moot-thread", class extends HTMLElement {
  #parts = new Map(); // messages by their number, in the order of the log
  #first = 0; // the log was read back to this event; 0 for not at all
  #busy = null;
  #low = true; // the newest message is in sight

  revealed = new Map();
  mayReveal = false; // the thread shows whole texts

  connect(room) {
    this.room = room;
    this.stored = `moot thread ${room.id}`; // in localStorage: open, or nothing
    this.hidden = true;
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", "Internal agent messages");
    this.pill = el("button", { class: "thread-pill", type: "button", "aria-expanded": "false", "aria-controls": "thread-body", "aria-keyshortcuts": "i", onclick: () => this.toggle() });
    this.more = el("button", { class: "link", type: "button", hidden: true, onclick: () => this.#older() }, "Earlier messages");
    this.list = el("div");
    this.body = el("div", { class: "thread-rows", id: "thread-body", role: "log", "aria-live": "off", "aria-label": "Messages", tabindex: "0", hidden: true }, this.more, this.list);
    this.append(this.pill, this.body);
    new ResizeObserver(() => { if (this.#low) this.body.scrollTop = this.body.scrollHeight; }).observe(this.body);
    this.body.addEventListener("scroll", () => { this.#low = this.body.scrollHeight - this.body.scrollTop - this.body.clientHeight < 8; });
    this.body.addEventListener("click", (e) => this.#click(e));
    this.body.addEventListener("keydown", (e) => this.#key(e));
    bindKey("i", "Open or close the internal agent messages", () => this.hidden || this.toggle(true));
    room.addEventListener("mail", ({ detail }) => this.#mail(detail));
    room.addEventListener("event", ({ detail }) => this.#event(detail));
    room.addEventListener("view", () => this.#names());
    room.addEventListener("thread", ({ detail }) => this.reveal(detail.seq));
  }

  // What rows ask.

  name = (id) => (id === "host" ? "Host" : this.room.name(id));

  deliveries = (id) => this.room.deliveries.get(id);

  mark(text) {
    markMentions(text, this.room.view?.participants ?? []);
  }

  get open() {
    return !this.body.hidden;
  }

  // toggle opens or closes the thread. The page remembers it for the room.
  toggle(focus = false) {
    this.#show(!this.open);
    if (this.open) localStorage.setItem(this.stored, "open");
    else localStorage.removeItem(this.stored);
    if (focus) (this.open ? this.body : this.pill).focus();
  }

  // reveal opens the thread at the message with that number.
  async reveal(seq) {
    this.#show(true);
    await this.#load();
    while (!this.#parts.has(seq) && this.#first > 1 && this.#parts.size < most) if (!await this.#older()) break;
    const e = document.getElementById(`thread-${seq}`);
    e?.scrollIntoView({ block: "nearest" });
    e?.focus({ preventScroll: true });
  }

  #show(open) {
    this.body.hidden = !open;
    this.pill.setAttribute("aria-expanded", String(open));
    if (open) this.#load();
  }

  #mail({ changed }) {
    const n = this.room.mail.internal;
    if (this.hidden && n > 0) {
      this.hidden = false;
      this.#show(localStorage.getItem(this.stored) === "open");
    }
    setText(this.pill, `Internal agent messages (${n})`);
    for (const part of this.#parts.values()) if (changed.has(part.message.message_id)) this.#element(part)?.patch(part, this);
  }

  #event({ event: e, html, payload_bytes: bytes }) {
    if (e.type === "message.redacted") this.#remove(e.body.target);
    if (!this.#first || e.type !== "message.posted" || e.body.message.visibility !== "internal") return;
    const low = this.body.scrollHeight - this.body.scrollTop - this.body.clientHeight < 8;
    this.#add([partOf({ event: e, html, payload_bytes: bytes })]);
    if (low) this.body.scrollTop = this.body.scrollHeight;
  }

  #remove(seq) {
    const part = this.#parts.get(seq);
    if (!part) return;
    Object.assign(part, { removed: true, html: "", bytes: 0, message: { ...part.message, text: "", summary: "", payload: undefined } });
    this.#element(part)?.patch(part, this);
  }

  #names() {
    const names = JSON.stringify(this.room.view.participants.map((p) => [p.id, p.name]));
    if (names === this.known) return;
    this.known = names;
    for (const part of this.#parts.values()) this.#element(part)?.patch(part, this);
  }

  // load reads the newest messages when the thread is opened for the first time.
  async #load() {
    if (this.#busy) await this.#busy;
    if (this.#first) return;
    await this.#older();
    this.body.scrollTop = this.body.scrollHeight;
  }

  // older reads the messages before and returns whether the server has answered.
  async #older() {
    if (this.#busy) return this.#busy;
    this.#busy = this.#read();
    const done = await this.#busy;
    this.#busy = null;
    return done;
  }

  async #read() {
    try {
      const h = await this.room.history({ internal: true, before: this.#first, limit: page });
      this.#first = h.first;
      const from = this.body.scrollHeight - this.body.scrollTop;
      this.#add(h.events.map(partOf));
      this.body.scrollTop = this.body.scrollHeight - from;
      this.more.hidden = this.#first <= 1 || this.#parts.size >= most;
      return true;
    } catch (problem) {
      this.room.fail(problem);
      return false;
    }
  }

  // add shows messages at their places and forgets the oldest ones over the limit.
  #add(parts) {
    for (const part of parts) if (!this.#parts.has(part.seq)) this.#parts.set(part.seq, part);
    this.#parts = new Map([...this.#parts].sort(([a], [b]) => a - b));
    let next = this.list.firstElementChild;
    for (const part of this.#parts.values()) {
      let e = this.#element(part);
      if (!e) {
        e = drawLetter(part);
        e.patch(part, this);
        this.list.insertBefore(e, next);
      } else if (e === next) next = next.nextElementSibling;
    }
    for (const seq of [...this.#parts.keys()].slice(0, Math.max(0, this.#parts.size - most))) {
      document.getElementById(`thread-${seq}`)?.remove();
      this.#parts.delete(seq);
    }
    for (const part of this.#parts.values()) this.#element(part).answers(part, this.#of(part.message));
  }

  // of returns the message that another one answers, as far as it is here.
  #of({ parent_id: parent, correlation_id: correlation }) {
    const all = [...this.#parts.values()];
    return [parent, correlation].filter(Boolean).map((id) => all.find((p) => p.message.message_id === id)).find(Boolean);
  }

  #element(part) {
    return document.getElementById(`thread-${part.seq}`);
  }

  #click(e) {
    const link = e.target.closest("a[data-seq]");
    const to = link && document.getElementById(`thread-${link.dataset.seq}`);
    if (!to) return;
    e.preventDefault();
    to.focus();
  }

  // Enter on a message shows its details; the arrow keys move.
  #key(e) {
    const at = e.target.closest("article.letter"), step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[e.key];
    if (e.key === "Enter" && e.target === at) {
      this.room.select({ seq: Number(at.dataset.seq) });
      openSheet("moot-inspector");
    } else if (step && (at || e.target === this.body) && !e.ctrlKey && !e.altKey && !e.metaKey) {
      const rows = [...this.list.children], next = at ? rows[rows.indexOf(at) + step] : rows.at(step > 0 ? 0 : -1);
      next?.focus();
      e.preventDefault();
      e.stopPropagation();
    }
  }
});

const partOf = ({ event: e, html, payload_bytes: bytes }) => {
  const m = e.body.message;
  return { seq: e.seq, message: m, html, at: e.at, bytes, removed: !m.text && !m.summary && !m.payload && !bytes };
};

// drawLetter draws one message of the thread.
function drawLetter(part) {
  const kind = el("span", { class: "tag" }), who = el("span", { class: "who" }), flags = el("span", { class: "flags" }), of = el("a", { hidden: true }), at = el("time");
  const body = drawPart();
  const e = el("article", { class: "letter", id: `thread-${part.seq}`, "data-seq": part.seq, tabindex: "-1" }, el("header", {}, kind, who, flags, at), of, el("ul", {}, body));
  e.patch = (p, page) => {
    const m = p.message;
    e.dataset.kind = kindOfMessage(m);
    e.style.setProperty("--hue", hueOf(m.from_agent));
    const to = m.receivers?.length ? m.receivers.map(page.name).join(", ") : m.to_agent === "broadcast" ? "everybody" : page.name(m.to_agent);
    setText(kind, kindName(m));
    setText(who, `${page.name(m.from_agent)} → ${to}`);
    setText(flags, [m.turn && `turn ${m.turn}`, ["high", "urgent", "low"].includes(m.priority) && m.priority, m.requires_ack && "asks for an acknowledgement"].filter(Boolean).join(" · "));
    setText(at, hour(p.at));
    at.title = `${time(p.at)}, event ${p.seq}`;
    e.setAttribute("aria-label", `${kindName(m)}, ${page.name(m.from_agent)} to ${to}, event ${p.seq}`);
    body.patch(p, page);
  };
  e.answers = ({ message: m }, to) => {
    const id = m.parent_id || m.correlation_id;
    of.hidden = !id;
    if (!id) return;
    setText(of, to ? `answers ${kindName(to.message)} of event ${to.seq}` : `belongs to ${id}`);
    if (to) Object.assign(of, { href: `#event-${to.seq}` }).dataset.seq = to.seq;
  };
  return e;
}
