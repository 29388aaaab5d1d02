// Search in the whole room. The server reads the log from its end; the page asks on
// until it has enough or the beginning is reached.
import { el, setText } from "./dom.js";
import { count, day, hour } from "./format.js";
import { bindKey } from "./keys.js";

const enough = 20; // results at a time

// search makes the panel of the search, and the button in the head of the room. page is the timeline: it names
// participants and shows the row of a result.
export function search(room, page) {
  const panel = new Panel(room, page);
  bindKey("/", "Search the room", () => panel.open());
  document.querySelector(".head-tools").append(panel.button);
  return panel.element;
}

class Panel {
  #room;
  #page;
  #text = "";
  #first = 0; // the oldest event that was searched
  #timer = 0;

  constructor(room, page) {
    this.#room = room;
    this.#page = page;
    this.button = el("button", { class: "search-open", type: "button", title: "Search the room (/)", "aria-label": "Search the room", "aria-expanded": "false", onclick: () => this.open() }, sign());
    this.input = el("input", { type: "search", placeholder: "Search the room", "aria-label": "Search the room", maxlength: "200", oninput: () => this.#later() });
    this.state = el("p", { class: "search-state", role: "status" });
    this.results = el("ol", { class: "results" });
    this.more = el("button", { class: "link", type: "button", hidden: true, onclick: () => this.#on() }, "Search further back");
    const close = el("button", { type: "button", onclick: () => this.close() }, "Close");
    this.element = el("search", { class: "search", hidden: true }, el("div", { class: "search-field" }, this.input, close), this.state, this.results, this.more);
    this.element.addEventListener("keydown", (e) => this.#key(e));
  }

  open() {
    this.element.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.input.focus();
    this.input.select();
  }

  close() {
    this.element.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
    this.button.focus();
  }

  #key(e) {
    if (e.key !== "Escape") return;
    e.preventDefault();
    e.stopPropagation();
    this.close();
  }

  #later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#begin(), 250);
  }

  #begin() {
    this.#text = this.input.value.trim();
    this.#first = 0;
    this.results.replaceChildren();
    this.more.hidden = true;
    if (this.#text) this.#on();
    else setText(this.state, "");
  }

  // on searches further back, until there are as many results more as fit, or the text
  // has changed meanwhile.
  async #on() {
    const text = this.#text, until = this.results.children.length + enough;
    this.more.hidden = true;
    while (text === this.#text && this.#first !== 1 && this.results.children.length < until) {
      const part = await this.#read(text);
      if (!part || text !== this.#text) return;
      this.#first = part.first;
      this.results.append(...part.events.reverse().map((u) => this.#result(u.event, text)));
      this.#say();
    }
    this.more.hidden = this.#first === 1;
  }

  async #read(text) {
    try {
      return await this.#room.history({ search: text, before: this.#first, limit: enough });
    } catch (problem) {
      setText(this.state, problem.message);
      return null;
    }
  }

  #say() {
    const n = this.results.children.length, found = n ? count(n, "result") : "Nothing found";
    setText(this.state, this.#first > 1 ? `${found} so far, back to event ${this.#first}` : found);
  }

  #result(e, text) {
    const b = e.body, key = b.turn ? `turn-${b.turn}` : `event-${e.seq}`;
    const who = this.#page.name(b.message?.from_agent ?? b.participant ?? e.actor);
    const where = [b.turn ? `#${b.turn}` : "", `${day(e.at)}, ${hour(e.at)}`].filter(Boolean).join(" · ");
    return el("li", {}, el("button", { type: "button", onclick: () => this.#show(key) },
      el("strong", {}, who), el("span", {}, where), el("span", { class: "snippet" }, ...snippet(words(b), text))));
  }

  #show(key) {
    if (matchMedia("(max-width: 640px)").matches) this.close();
    this.#page.toRow(key);
  }
}

const words = (b) => [b.message?.text, b.message?.summary, b.text, b.reason, b.error, b.why, b.permission?.command, b.permission?.title].filter(Boolean);

// snippet is the part of the first text with the words that were searched, marked.
function snippet(texts, text) {
  const want = text.toLowerCase();
  const whole = texts.find((t) => t.toLowerCase().includes(want)) ?? texts[0] ?? "";
  const at = whole.toLowerCase().indexOf(want);
  if (at < 0) return [whole.slice(0, 160)];
  const from = Math.max(0, at - 50), end = at + text.length;
  return [(from ? "…" : "") + whole.slice(from, at), el("mark", {}, whole.slice(at, end)), whole.slice(end, end + 100) + (whole.length > end + 100 ? "…" : "")];
}

// sign is a magnifying glass.
function sign() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  const path = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "path"));
  path.setAttribute("d", "M13.5 13.5 18 18M8.5 15a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Z");
  return svg;
}
