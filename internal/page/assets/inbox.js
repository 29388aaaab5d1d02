// The inbox: a button with the number of items that wait in all rooms, the panel that it
// opens, and notifications of the browser.
import { el, setText } from "./dom.js";
import { Card } from "./answers.js";
import { count } from "./format.js";
import { inbox, viewOf, waitsFor } from "./waiting.js";

const title = document.title;

// A moot-inbox-button opens the panel. It is hidden where the browser may not answer.
customElements.define("moot-inbox-button", class extends HTMLElement {
  connectedCallback() {
    this.badge = el("b", { hidden: true, "aria-hidden": "true" });
    this.label = el("span", { class: "sr" }, "Inbox");
    this.button = el("button", { type: "button", class: "inbox-button", title: "Inbox: what waits for you, in all rooms", "aria-haspopup": "dialog", onclick: openPanel }, sign(), this.badge, this.label);
    this.hidden = true;
    this.replaceChildren(this.button);
    this.listener = () => this.draw();
    inbox.addEventListener("change", this.listener);
    inbox.start().then((may) => { this.hidden = !may; });
    this.draw();
  }

  disconnectedCallback() {
    inbox.removeEventListener("change", this.listener);
  }

  draw() {
    const n = inbox.items.size;
    this.badge.hidden = n === 0;
    setText(this.badge, n > 99 ? "99+" : String(n));
    setText(this.label, n === 0 ? "Inbox, nothing waits" : `Inbox, ${count(n, "item waits", "items wait")}`);
  }
});

function sign() {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg"), path = document.createElementNS(ns, "path");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", "M3 11l2-7h10l2 7v5H3zM3 11h4l1 2h4l1-2h4");
  svg.append(path);
  return svg;
}

// openPanel shows what waits in all rooms.
export function openPanel() {
  if (document.querySelector("dialog.inbox")) return;
  const cards = new Map(), before = document.activeElement;
  const empty = el("p", { class: "hint" }, "Nothing waits for you.");
  const list = el("div", { class: "items" });
  const dialog = el("dialog", { class: "inbox", "aria-labelledby": "inbox-title", onclick: (e) => e.target === dialog && dialog.close(), onclose: () => {
    inbox.removeEventListener("change", draw);
    clearInterval(timer);
    dialog.remove();
    if (before?.isConnected) before.focus();
  } }, el("div", { class: "inbox-head" }, el("h2", { id: "inbox-title" }, "Waits for you, in all rooms"), notifyButton(), el("button", { type: "button", onclick: () => dialog.close() }, "Close")), empty, list);
  const draw = () => drawCards(list, cards, empty, draw);
  const timer = setInterval(() => cards.forEach((card) => card.tick()), 1000);
  inbox.addEventListener("change", draw);
  draw();
  document.body.append(dialog);
  dialog.showModal();
}

// names are the names of participants, by room.
const names = new Map();

// namesOf returns a function from the ids of a room to its names, and calls again once
// they are known.
function namesOf(room, again) {
  if (!names.has(room)) {
    names.set(room, new Map());
    viewOf(room).then((view) => {
      names.set(room, new Map(view.participants.map((p) => [p.id, p.name || p.id])));
      again();
    }, () => names.delete(room));
  }
  const known = names.get(room);
  return (id) => known.get(id) ?? id;
}

function drawCards(list, cards, empty, again) {
  let moved = false;
  for (const [id, card] of cards) {
    if (inbox.items.has(id)) continue;
    cards.delete(id);
    moved = true;
    if (inbox.answered(id)) card.remove();
    else card.end(inbox.answers.get(id));
  }
  for (const x of inbox.items.values()) {
    const card = cards.get(x.id) ?? new Card();
    cards.set(x.id, card);
    card.show(x, { name: namesOf(x.room, again), link: el("a", { class: "room", href: `/rooms/${encodeURIComponent(x.room)}` }, x.name || x.room) });
    if (!card.isConnected) list.append(card);
    else if (moved) card.settle();
  }
  empty.hidden = list.childElementCount > 0;
}

const stored = "moot notify"; // in localStorage: on, or nothing

const notifies = () => window.Notification?.permission === "granted" && localStorage.getItem(stored) === "on";

// notifyButton lets the person switch notifications on and off.
function notifyButton() {
  if (!window.Notification) return null;
  const button = el("button", { type: "button", class: "notify" });
  const draw = () => {
    const denied = Notification.permission === "denied";
    button.disabled = denied;
    button.setAttribute("aria-pressed", String(notifies()));
    setText(button, denied ? "The browser blocks notifications" : notifies() ? "Notifications are on" : "Notify me");
  };
  button.addEventListener("click", async () => {
    const on = !notifies() && await Notification.requestPermission() === "granted";
    localStorage.setItem(stored, on ? "on" : "");
    draw();
  });
  draw();
  return button;
}

// notify tells of an item that begins to wait while the person is elsewhere. It has no
// text of an agent. The tag makes those of several tabs one.
function notify(item) {
  if (!notifies() || document.hasFocus()) return;
  const n = new Notification(`${item.agent} waits for your ${waitsFor(item)}`, { tag: item.id, body: item.name || item.room });
  n.onclick = () => {
    window.focus();
    if (document.body.dataset.room !== item.room) location.assign(`/rooms/${encodeURIComponent(item.room)}`);
  };
}

inbox.addEventListener("change", ({ detail: { began, known, first } }) => {
  document.title = inbox.items.size ? `(${inbox.items.size}) ${title}` : title;
  if (began && !known && !first) notify(began);
});
