// The timeline: what was said, by whom and why, and what has happened meanwhile. It
// follows the room while its end is in sight. Otherwise it never moves what a person
// reads, and says how much has come.
import { get } from "./api.js";
import { cancelCall } from "./callcancel.js";
import { CallTree } from "./calltree.js";
import { el, setText } from "./dom.js";
import { EventWindow } from "./eventwindow.js";
import { bindKey } from "./keys.js";
import { markMentions } from "./mentions.js";
import { announcement } from "./rowwords.js";
import { RowList } from "./rowlist.js";
import { search } from "./search.js";
import { openSheet } from "./sheets.js";

const pause = 50; // ms between two drawings: more would not be read
const near = 800; // pixels from an end at which the page beyond it is loaded
const boundaries = new Set(["message.posted", "turn.passed", "turn.failed", "turn.interrupted", "turn.rejected"]);

customElements.define("moot-timeline", class extends HTMLElement {
  following = true;
  #fresh = 0; // turns and messages that have come below what is read
  #due = false; // a drawing is on its way
  #painted = 0; // when the last one was
  #top = 0; // where the rows were scrolled to
  #structure = false; // all rows are compared, instead of those that have changed
  #target = null; // the key of the row that is shown after the next frame

  connect(room) {
    this.room = room;
    this.revealed = new Map();
    this.trees = new Map();
    this.events = new EventWindow(room);
    this.#build();
    room.addEventListener("history", ({ detail }) => this.#begin(detail));
    room.addEventListener("event", ({ detail }) => this.#event(detail));
    room.addEventListener("live", ({ detail }) => this.#live(detail));
    room.addEventListener("view", () => this.#view());
    room.addEventListener("select", ({ detail }) => this.#mark(detail));
    window.addEventListener("hashchange", () => this.#deepLink());
    bindKey("j", "Next row of the timeline", () => this.#step(1));
    bindKey("k", "Previous row of the timeline", () => this.#step(-1));
    room.addEventListener("mail", ({ detail }) => this.#mail(detail));
  }

  #build() {
    this.rows = el("div", { class: "rows", role: "log", "aria-live": "off", "aria-label": "Timeline", tabindex: "0", onscroll: () => this.#scrolled() });
    this.list = new RowList(this.rows, this);
    this.more = el("button", { class: "new-rows", type: "button", hidden: true, onclick: () => this.toEnd() });
    this.said = el("p", { class: "sr", "aria-live": "polite" });
    this.append(search(this.room, this), this.rows, this.more, this.said);
    this.rows.addEventListener("click", (e) => this.#click(e));
    this.rows.addEventListener("keydown", (e) => this.#key(e));
    this.rows.addEventListener("toggle", () => this.#opened(), true);
    new ResizeObserver(() => this.following && this.#stick()).observe(this.rows);
  }

  // What rows ask: names and texts.

  name = (id) => (id ? (id === "host" ? "Host" : this.room.name(id)) : "An agent");

  called = (id) => (id === this.you ? "you" : id === "host" ? "the host" : this.room.name(id));

  // deliveries returns what has become of a message, by its receivers.
  deliveries = (id) => this.room.mail && this.room.deliveries.get(id);

  get you() {
    return this.room.you;
  }

  get oneToOne() {
    return this.room.view?.one_to_one ?? false;
  }

  get mayReveal() {
    return this.room.may("control");
  }

  get mayCall() {
    return this.room.may("control");
  }

  // calls returns the calls of the child room of a call.
  calls(room) {
    if (!this.trees.has(room)) this.trees.set(room, new CallTree(room));
    return this.trees.get(room);
  }

  cancelCall = (call) => cancelCall(this.room, call);

  answerCall = (call) => this.room.answer(call.room);

  seat(id) {
    return this.room.seat(id);
  }

  isPerson(id) {
    return id === "host" || this.seat(id)?.kind === "human";
  }

  mark(text) {
    markMentions(text, this.room.view?.participants ?? []);
  }

  // reveal shows the whole text of a redacted message, which is its own request, or
  // its summary again.
  async reveal(row, whole) {
    try {
      if (whole) this.revealed.set(row.seq, (await get(`${this.room.path}/history/${row.seq}`)).html ?? "");
      else this.revealed.delete(row.seq);
      this.#draw(true);
    } catch (problem) {
      this.room.fail(problem);
    }
  }

  // Events.

  #begin(part) {
    this.events.reset(part);
    this.#draw(true);
    this.#deepLink();
  }

  #event(update) {
    const shown = this.events.add(update, !this.following);
    if (boundaries.has(update.event.type) && update.event.body.message?.visibility !== "internal") {
      if (!this.following) this.#fresh++;
      this.#announce(update);
    }
    if (shown || !this.following) this.#draw();
  }

  #live(live) {
    if (!live.delta && !live.tool) return;
    this.events.model.live(live);
    if (this.events.current) this.#draw();
  }

  #mail({ changed }) {
    this.events.model.touch(changed);
    if (changed.size > 0) this.#draw();
  }

  // view draws names and badges again when they have changed.
  #view() {
    const names = JSON.stringify(this.room.view.participants.map((p) => [p.id, p.name, p.badge, p.owner]));
    if (names === this.names) return;
    this.names = names;
    this.#draw(true);
  }

  #announce(update) {
    clearTimeout(this.later);
    this.later = setTimeout(() => setText(this.said, announcement(update.event, this)), 500);
  }

  // Drawing, at most once a frame.

  #draw(structure = false) {
    this.#structure ||= structure;
    if (this.#due) return;
    this.#due = true;
    const soon = () => requestAnimationFrame(() => this.#paint()), wait = this.#painted + pause - performance.now();
    if (wait > 0) setTimeout(soon, wait);
    else soon();
  }

  #paint() {
    this.#due = false;
    this.#painted = performance.now();
    const anchor = this.following ? null : this.#anchor();
    const { rows } = this.events.model, changed = this.events.model.take();
    if (this.#structure) this.list.reset(rows);
    else this.list.patch(rows, changed);
    const grown = this.#structure;
    this.#structure = false;
    if (this.#target) this.#reveal();
    else if (anchor?.element.isConnected) this.rows.scrollTop += anchor.element.getBoundingClientRect().top - anchor.top;
    else if (this.following) this.#stick();
    if (grown) this.#scrolled();
    else this.#count();
  }

  // anchor is the first row in sight and where it is.
  #anchor() {
    const top = this.rows.getBoundingClientRect().top;
    const children = this.rows.children;
    let low = 0, high = children.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (children[mid].getBoundingClientRect().bottom <= top) low = mid + 1;
      else high = mid;
    }
    const element = children[low];
    return element ? { element, top: element.getBoundingClientRect().top } : null;
  }

  #stick() {
    this.rows.scrollTop = this.rows.scrollHeight;
  }

  #count() {
    const away = !this.following;
    this.more.hidden = !away;
    if (away) setText(this.more, this.#fresh > 0 ? `${this.#fresh} new ↓` : "Latest ↓");
  }

  // Moving.

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.rows;
    const below = scrollHeight - clientHeight - scrollTop, up = scrollTop < this.#top;
    this.#top = scrollTop;
    this.following = below < 8 ? this.events.current : this.following && !up; // a row may have grown since
    if (this.following) this.#fresh = 0;
    this.#count();
    if (scrollTop < near) this.#grow("older");
    else if (below < near) this.#grow("newer");
  }

  // opened stays where a person has opened a part of a row, if that has moved the end
  // of the timeline out of sight.
  #opened() {
    const { scrollTop, scrollHeight, clientHeight } = this.rows;
    if (scrollHeight - clientHeight - scrollTop > 8) this.following = false;
    this.#count();
  }

  async #grow(way) {
    if (await this.events[way]()) this.#draw(true);
  }

  async toEnd() {
    if (!this.events.current) await this.events.newest();
    this.following = true;
    this.#fresh = 0;
    this.#draw(true);
    this.rows.focus({ preventScroll: true });
  }

  // toRow shows the row with a key, such as turn-12 or event-40, and focuses it.
  async toRow(key) {
    const [, kind, number] = /^(turn|event)-(\d+)$/.exec(key) ?? [];
    if (!kind) return;
    if (kind === "event" && !this.#find(key) && this.events.model.inside.has(Number(number))) return this.room.thread(Number(number));
    this.following = false;
    if (!this.#find(key)) await (kind === "turn" ? this.events.aroundTurn(Number(number)) : this.events.around(Number(number)));
    if (!this.#find(key) && this.events.model.inside.has(Number(number))) this.room.thread(Number(number));
    this.#target = key;
    this.#draw(true);
  }

  // find returns the row with a key, or the one that the event belongs to.
  #find(key) {
    const { model } = this.events, row = model.row(key);
    if (row) return row;
    const seq = key.startsWith("event-") && Number(key.slice(6));
    return seq && model.rows.find((r) => r.kind !== "day" && r.from <= seq && seq <= r.seq);
  }

  #reveal() {
    const row = this.#find(this.#target), e = row && this.list.element(row.key);
    this.#target = null;
    if (!e) return;
    e.scrollIntoView({ block: "center" });
    e.focus({ preventScroll: true });
    e.classList.add("is-found");
    e.addEventListener("blur", () => e.classList.remove("is-found"), { once: true });
  }

  #deepLink() {
    this.toRow(location.hash.slice(1));
  }

  // Keys and clicks.

  // Enter on a row shows its details.
  #key(e) {
    if (e.key === "Enter" && e.target.matches("article.row")) this.#select(e.target);
  }

  // step moves the focus to the next row, from the last one in sight at first.
  #step(by) {
    const rows = [...this.rows.querySelectorAll("article.row")].filter((e) => e.checkVisibility());
    const at = rows.indexOf(document.activeElement?.closest?.("article.row"));
    const next = at < 0 ? rows.findLast((e) => e.getBoundingClientRect().top < this.rows.getBoundingClientRect().bottom) : rows[at + by];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
  }

  #click(e) {
    if (e.target.closest("button")) this.#opened();
    const link = e.target.closest("a.n");
    if (!link || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    this.#select(link.closest("article.row"));
  }

  #select(e) {
    const row = this.events.model.row(e.id);
    if (!row) return;
    history.replaceState(null, "", `#${row.key}`);
    this.room.select(row.turn ? { turn: row.turn } : { seq: row.seq });
    openSheet("moot-inspector");
  }

  #mark(what) {
    for (const e of this.rows.querySelectorAll("[aria-current]")) e.removeAttribute("aria-current");
    const row = what?.turn ? `turn-${what.turn}` : what?.seq ? `event-${what.seq}` : "";
    document.getElementById(row)?.setAttribute("aria-current", "true");
  }
});
