// The dock: what waits for an answer in this room, the controls and the message field.
import { el, setText } from "./dom.js";
import { bindKey } from "./keys.js";
import { Card } from "./answers.js";
import { inbox, isBelow, waitsFor } from "./waiting.js";
import "./composer.js";
import "./controls.js";

// shownAfter is how long in ms a card stays that another person has answered.
const shownAfter = 10_000;

customElements.define("moot-dock", class extends HTMLElement {
  #cards = new Map(); // by the id of the item

  connect(room) {
    this.room = room;
    this.items = el("div", { class: "items" });
    this.said = el("p", { class: "sr", role: "status" });
    this.controls = el("moot-controls");
    this.composer = el("moot-composer");
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", "Answers, controls and message");
    this.replaceChildren(this.items, this.said, this.controls, this.composer);
    this.controls.connect(room);
    this.composer.connect(room);
    inbox.addEventListener("change", ({ detail }) => this.draw(detail));
    inbox.start();
    room.addEventListener("view", () => this.#cards.size === inbox.of(room.id).length ? this.tick() : this.draw({}));
    room.addEventListener("answer", ({ detail }) => this.answer(detail.room));
    setInterval(() => this.tick(), 1000);
    for (const [key, what, purpose] of [["a", "approve", "Approve the draft, or allow once"], ["e", "edit", "Edit the draft"], ["x", "reject", "Reject the draft, or deny"]]) {
      bindKey(key, purpose, () => this.current()?.act(what));
    }
  }

  // current returns the card that the keys are for: the one with the focus, else the first.
  current() {
    return document.activeElement?.closest("moot-item:not(.is-ended)") ?? this.items.querySelector("moot-item:not(.is-ended)");
  }

  // answer brings the first item of a child room, or below it, in sight.
  answer(room) {
    const card = [...this.#cards.values()].find((c) => isBelow(c.item, room));
    card?.scrollIntoView({ block: "nearest" });
    card?.querySelector("input, textarea, button")?.focus();
  }

  draw({ began, known }) {
    if (!this.room.view) return; // it has the names
    const items = inbox.of(this.room.id);
    const ids = new Set(items.map((x) => x.id));
    let moved = false;
    for (const [id, card] of this.#cards) {
      if (ids.has(id)) continue;
      this.#cards.delete(id);
      this.#leave(card);
      moved = true;
    }
    for (const x of items) this.#show(x);
    if (moved) this.items.querySelector("moot-item:not(.is-ended)")?.settle();
    if (began && isBelow(began, this.room.id) && !known) setText(this.said, `${this.room.name(began.agent)} waits for your ${waitsFor(began)}`);
  }

  #show(item) {
    let card = this.#cards.get(item.id);
    if (!card) {
      card = new Card();
      this.#cards.set(item.id, card);
    }
    const link = item.room === this.room.id ? null : el("a", { class: "room", href: `/rooms/${encodeURIComponent(item.room)}` }, item.name || item.room);
    card.show(item, { name: (id) => this.room.name(id), left: () => this.left(item), link });
    if (!card.isConnected) this.items.append(card);
  }

  // leave removes the card of an item that has ended. One that this page has not
  // answered says how it has ended.
  #leave(card) {
    const focused = card.contains(document.activeElement);
    if (inbox.answered(card.item.id)) card.remove();
    else this.#tellEnd(card);
    if (focused && !card.isConnected) document.getElementById("main")?.focus();
  }

  #tellEnd(card) {
    card.end(inbox.answers.get(card.item.id));
    this.items.prepend(card);
    if (!card.querySelector("textarea")) setTimeout(() => card.contains(document.activeElement) || card.remove(), shownAfter);
  }

  // left returns the nanoseconds until an item ends by itself, by the room's clock, which
  // stands in pauses; null for never.
  left(item) {
    if (item.room !== this.room.id) return item.until ? (Date.parse(item.until) - Date.now()) * 1e6 : null;
    const { draft, permission_requests: requests, limits, phase } = this.room.view ?? {};
    const id = item.id.slice(item.room.length + 1);
    const r = requests?.find((r) => r.id === id);
    if (r) return r.asked_ns + r.timeout_ns - this.room.clock();
    if (draft?.hash !== id) return item.until ? (Date.parse(item.until) - Date.now()) * 1e6 : null;
    return limits.draft_timeout_ns && phase === "live" ? (draft.since_ns ?? 0) + limits.draft_timeout_ns - this.room.clock() : null;
  }

  tick() {
    for (const card of this.#cards.values()) card.tick();
  }
});
