// The page with all rooms: how each stands, what waits in it, and when it changed.
import { avatar, el, setText } from "./dom.js";
import { get } from "./api.js";
import { openCreate } from "./create.js";
import { ago, count } from "./format.js";
import { order, waitingOf } from "./rail.js";
import "./shared.js";
import { phaseTone, phaseWord } from "./words.js";

const step = 60; // rooms that are shown at first, and by each "more"

// A Row is one room of the list. It is made once and patched.
class Row {
  constructor(id) {
    this.name = el("a", { class: "room-name", href: `/rooms/${id}` });
    this.phase = el("span", { class: "phase" });
    this.waits = el("span", { class: "tag tag-waits", hidden: true });
    this.objective = el("p", { class: "room-objective" });
    this.facts = el("p", { class: "room-facts" });
    this.turns = el("span");
    this.time = el("time");
    this.ending = el("span");
    this.facts.append(this.turns, this.time, this.ending);
    this.element = el("li", { class: "room-card", "data-room": id }, avatar(id, id),
      el("div", { class: "room-body" }, el("div", { class: "room-line" }, this.name, this.phase, this.waits), this.objective, this.facts));
  }

  show(r, waits) {
    const name = r.name || r.room;
    setText(this.element.querySelector(".avatar"), [...name][0].toUpperCase());
    setText(this.name, name);
    setText(this.phase, phaseWord(r.phase));
    this.phase.dataset.tone = phaseTone(r.phase);
    this.waits.hidden = !waits;
    setText(this.waits, `${waits} waiting for you`);
    setText(this.objective, r.objective ?? "");
    this.objective.hidden = !r.objective;
    setText(this.turns, count(r.turns, "turn"));
    this.time.hidden = !r.updated;
    if (r.updated) {
      this.time.dateTime = r.updated;
      this.time.title = new Date(r.updated).toLocaleString();
      setText(this.time, ago(r.updated));
    }
    setText(this.ending, r.ending ?? "");
    this.ending.hidden = !r.ending || r.phase === "live";
  }
}

customElements.define("moot-rooms", class extends HTMLElement {
  #rows = new Map();
  #rooms = null;
  #waiting = new Map();
  #most = step;

  connectedCallback() {
    this.filter = el("input", { type: "search", placeholder: "Search rooms", "aria-label": "Search rooms", oninput: () => this.show() });
    this.summary = el("p", { class: "room-count", role: "status" });
    this.list = el("ul", { class: "room-list" });
    this.more = el("button", { type: "button", hidden: true, onclick: () => { this.#most += step; this.show(); } }, "Show more rooms");
    this.empty = el("div", { class: "room-empty", hidden: true });
    this.append(el("div", { class: "room-tools" }, this.filter, this.summary), this.list, this.empty, this.more);
    document.addEventListener("moot-rooms", ({ detail }) => { this.#rooms = detail.rooms; this.show(); });
    document.addEventListener("moot-inbox", ({ detail }) => { this.#waiting = waitingOf(detail.items); this.show(); });
    setInterval(() => document.hidden || this.show(), 30000);
  }

  show() {
    if (!this.#rooms) return;
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = order(this.#rooms, this.#waiting).filter((r) => {
      const text = `${r.name ?? ""} ${r.room} ${r.objective ?? ""} ${r.phase}`.toLowerCase();
      return words.every((w) => text.includes(w));
    });
    this.place(found.slice(0, this.#most));
    this.more.hidden = found.length <= this.#most;
    this.filter.hidden = this.#rooms.length < 2;
    const live = this.#rooms.filter((r) => r.phase === "live").length;
    setText(this.summary, words.length ? `${count(found.length, "room")} of ${this.#rooms.length}` : this.#rooms.length ? `${count(this.#rooms.length, "room")}, ${live} live` : "");
    this.showEmpty(found.length === 0, words.length > 0);
  }

  // place puts the rows in their order. A row that is in its place is left alone, so the
  // focus stays in it.
  place(rooms) {
    const keep = new Set(rooms.map((r) => r.room));
    for (const [id, row] of this.#rows) {
      if (!keep.has(id)) {
        row.element.remove();
        this.#rows.delete(id);
      }
    }
    const holdsFocus = this.list.contains(document.activeElement);
    rooms.forEach((r, i) => {
      if (!this.#rows.has(r.room)) this.#rows.set(r.room, new Row(r.room));
      const row = this.#rows.get(r.room);
      row.show(r, this.#waiting.get(r.room) ?? 0);
      const there = this.list.children[i];
      if (there !== row.element && !(holdsFocus && row.element.isConnected)) this.list.insertBefore(row.element, there ?? null);
    });
  }

  showEmpty(empty, searched) {
    this.empty.hidden = !empty;
    if (!empty || this.empty.dataset.searched === String(searched)) return;
    this.empty.dataset.searched = String(searched);
    this.empty.replaceChildren(...(searched
      ? [el("p", {}, "No room has these words.")]
      : [el("h2", {}, "No rooms yet"), el("p", {}, "In a room, agents and people work on one objective. Make one here, or run ", el("code", {}, "moot demo"), " in a terminal to see one.")]));
  }
});
// Only a browser that may make rooms has the button, and only where the server does not
// end with the room that it was started for.
async function offerCreation() {
  if ("own" in document.body.dataset) return;
  const { scope } = await get("/api/caller");
  if (scope === "admin") document.querySelector(".home-head").append(el("button", { class: "primary", type: "button", id: "new-room", onclick: openCreate }, "New room"));
}
offerCreation().catch(() => {}); // the list of rooms says what is wrong
for (const part of document.querySelectorAll("moot-rail")) part.connect(null);
