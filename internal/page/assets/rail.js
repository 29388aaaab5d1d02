// The rail: the rooms of this device on every page, what waits in each, and the inbox.
import { el } from "./dom.js";
import { get } from "./api.js";
import "./inbox.js";
import { initials, phaseTone, phaseWord } from "./words.js";

const most = 12; // rooms on the rail
const refreshEvery = 15000;

// order puts what waits first, then what is live, then the newest.
export function order(rooms, waiting) {
  const rank = (r) => (waiting.get(r.room) ? 2 : 0) + (r.phase === "live" ? 1 : 0);
  return rooms.toSorted((x, y) => rank(y) - rank(x) || Date.parse(y.updated ?? 0) - Date.parse(x.updated ?? 0));
}

// waitingOf counts the items of the inbox by their room.
export function waitingOf(items) {
  const n = new Map();
  for (const { room } of items) n.set(room, (n.get(room) ?? 0) + 1);
  return n;
}

customElements.define("moot-rail", class extends HTMLElement {
  #waiting = new Map();
  #rooms = [];

  connect(room) {
    this.room = room;
    this.setAttribute("role", "navigation");
    this.setAttribute("aria-label", "Rooms");
    this.list = el("ul", { class: "rail-rooms" });
    this.replaceChildren(
      el("a", { class: "rail-home", href: "/", "aria-label": "All rooms", title: "All rooms", "aria-current": room ? null : "page" },
        el("img", { src: new URL("icon.svg", import.meta.url).pathname, alt: "", width: 36, height: 36 })),
      this.list, el("moot-inbox-button", { class: "rail-inbox" }));
    document.addEventListener("moot-inbox", ({ detail }) => { this.#waiting = waitingOf(detail.items); this.show(); });
    document.addEventListener("visibilitychange", () => document.hidden || this.load());
    setInterval(() => document.hidden || this.load(), refreshEvery);
    this.load();
  }

  async load() {
    try {
      this.#rooms = await get("/api/rooms");
      document.dispatchEvent(new CustomEvent("moot-rooms", { detail: { rooms: this.#rooms } }));
      this.show();
    } catch {
      // The part of the page that needs the server says that it is away.
    }
  }

  // show draws the rail again only if something on it has changed, so that the focus
  // stays.
  show() {
    const here = this.room?.id;
    const shown = order(this.#rooms, this.#waiting).slice(0, most);
    if (here && !shown.some((r) => r.room === here)) shown.push(...this.#rooms.filter((r) => r.room === here));
    const links = shown.map((r) => this.link(r, r.room === here));
    const text = links.map((a) => a.outerHTML).join("");
    if (text === this.drawn) return;
    this.drawn = text;
    const focused = this.list.querySelector("a:focus")?.getAttribute("href");
    this.list.replaceChildren(...links.map((a) => el("li", {}, a)));
    if (focused) this.list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }

  link(r, here) {
    const name = r.name || r.room;
    const waits = here ? 0 : this.#waiting.get(r.room) ?? 0;
    const words = `${name}, ${phaseWord(r.phase).toLowerCase()}${waits ? `, ${waits} waiting for you` : ""}`;
    return el("a", { class: "rail-room", href: `/rooms/${r.room}`, title: words, "aria-current": here ? "page" : null, "data-tone": phaseTone(r.phase) },
      el("span", { "aria-hidden": "true" }, initials(r.name || r.room.replace(/^r_/, ""))), el("span", { class: "sr" }, words), waits > 0 && el("b", { "aria-hidden": "true" }, String(waits)));
  }
});
