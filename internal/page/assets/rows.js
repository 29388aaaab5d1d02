// The elements of rows. A row is drawn once; then only the parts of it that differ
// change, so that what a person has opened or focused remains.
import { drawActions } from "./actions.js";
import { drawCall } from "./callcards.js";
import { drawCard, patchBecame } from "./cards.js";
import { drawDeliveries } from "./deliveries.js";
import { avatar, el, hueOf, setHTML, setText } from "./dom.js";
import { day, hour, time } from "./format.js";
import { note } from "./notes.js";
import { drawDeclined, drawOpened } from "./rowgroups.js";
import { drawPayload } from "./payload.js";
import { facts, outcome, sent, source, tags } from "./rowwords.js";

const drawers = {
  turn: drawSaid, message: drawSaid, note: drawNote, day: drawDay,
  declined: drawDeclined, opened: drawOpened,
  tool: drawCard, build: drawCard, blocker: drawCard, check: drawCard,
  call: drawCall,
};

// draw makes the element of a row. page has the names of participants and reads
// redacted texts; see timeline.js.
export function draw(row, page) {
  const e = drawers[row.kind](row);
  e.id = row.key;
  e.classList.add("row", `row-${row.kind}`);
  e.patch(row, page);
  return e;
}

function drawDay(row) {
  const e = el("div", {}, el("span", {}, day(row.at)));
  e.patch = () => {};
  return e;
}

function drawNote() {
  const mark = el("span", { class: "mark", "aria-hidden": "true" }), text = el("span"), code = el("code"), more = el("pre");
  const e = el("article", { tabindex: "-1" }, el("p", {}, mark, text, code), more);
  e.patch = (row, page) => {
    const n = note(row.event, page.called);
    e.dataset.tone = n.tone ?? "";
    setText(mark, n.mark ?? "");
    mark.hidden = !n.mark;
    setText(text, n.text);
    setText(code, n.code ?? "");
    code.hidden = !n.code;
    setText(more, n.detail ?? "");
    more.hidden = !n.detail;
    e.title = time(row.at);
  };
  return e;
}

// drawSaid draws a turn or a message.
function drawSaid(row) {
  const p = {
    face: el("span"), name: el("strong"), tags: el("span", { class: "tags" }), facts: el("span"),
    at: el("time"), number: el("span"), which: el("span", { class: "sr" }), actions: drawActions(),
    text: el("div", { class: "text" }), live: el("div", { class: "text live" }), outcome: el("p", { class: "outcome" }),
    more: el("div", { class: "more-text" }), payload: drawPayload(), deliveries: drawDeliveries(), became: el("p", { class: "became" }), foot: el("footer"),
  };
  p.link = el("a", { class: "n", href: `#${row.key}` }, p.at, p.number, p.which);
  const e = el("article", { tabindex: "-1" }, p.face, el("div", { class: "said" },
    el("header", {}, el("span", { class: "by" }, p.name, p.tags, p.facts), p.link), p.actions, p.text, p.live, p.outcome, p.more, p.payload, p.deliveries, p.became, p.foot));
  e.patch = (r, page) => patchSaid(e, p, r, page);
  return e;
}

function patchSaid(e, p, row, page) {
  setSpeaker(e, p, row, page);
  setTags(p.tags, tags(row, page));
  setText(p.facts, facts(row, page).join(" · "));
  setText(p.at, hour(row.at));
  p.at.title = time(row.at);
  const number = row.turn ? `turn ${row.turn}` : `event ${row.seq}`;
  setText(p.number, row.turn ? `#${row.turn}` : "");
  setText(p.which, number);
  e.setAttribute("aria-label", `${p.named}, ${number}`);
  p.actions.patch(row, page);
  setBody(p, row, page);
  const end = outcome(row, page);
  setText(p.outcome, end);
  p.outcome.hidden = !end;
  p.payload.patch(row, page);
  p.deliveries.patch(row, page);
  patchBecame(p.became, row, page);
  setText(p.foot, sent(row, page).join(" · "));
}

function setSpeaker(e, p, row, page) {
  Object.assign(e.dataset, { source: source(row, page), state: row.state ?? "posted", visibility: row.message?.visibility ?? "" });
  const name = page.name(row.who);
  if (p.who === row.who && p.named === name) return;
  e.style.setProperty("--hue", hueOf(row.who));
  const face = avatar(row.who, name);
  p.face.replaceWith(face);
  Object.assign(p, { face, who: row.who, named: name });
  setText(p.name, name);
}

function setTags(e, wanted) {
  const key = JSON.stringify(wanted);
  if (e.key === key) return;
  e.key = key;
  e.replaceChildren(...wanted.map((t) => el("span", { class: `tag tag-${t.kind}`, title: t.title }, t.text)));
}

// setBody shows the text: live while the turn runs, else the HTML of the message.
function setBody(p, row, page) {
  const whole = page.revealed.get(row.seq);
  const html = whole ?? row.html ?? "";
  const running = row.state === "speaking";
  p.live.hidden = !running;
  p.text.hidden = running || !html;
  if (running) append(p, row);
  if (p.html !== html) {
    p.html = html;
    setHTML(p.text, html);
    page.mark(p.text);
    p.text.classList.toggle("is-long", isLong(row.message?.text));
  }
  setMore(p, row, page, whole !== undefined);
}

// append adds the live text that has come since to the text node, so that nothing else
// is laid out again.
function append(p, row) {
  p.shown ??= 0;
  if (!p.node || row.live.length < p.shown) {
    p.node = document.createTextNode("");
    p.live.replaceChildren(p.node);
    p.shown = 0;
  }
  if (row.live.length > p.shown) p.node.appendData((p.shown === 0 && row.partial ? "… " : "") + row.live.slice(p.shown));
  p.shown = row.live.length;
}

const isLong = (text = "") => text.length > 6000 || text.split("\n", 61).length > 60;

// setMore offers what a text hides: the rest of a long one, the whole of a redacted
// one, and what an agent wrote before a person changed it.
function setMore(p, row, page, revealed) {
  const long = p.text.classList.contains("is-long");
  const redacted = row.message?.visibility === "user_redacted" && row.state !== "draft" && !row.removed;
  const key = [row.removed, redacted && page.mayReveal, revealed, long, row.first?.html].join("|");
  if (p.more.key === key) return;
  p.more.key = key;
  p.more.replaceChildren();
  if (row.removed) p.more.append(el("p", {}, "The text was removed."));
  if (redacted && page.mayReveal) p.more.append(button(revealed ? "Show the summary" : "Show the whole text", () => page.reveal(row, !revealed)));
  if (long) p.more.append(button("Show all", (e) => setText(e.target, p.text.classList.toggle("is-open") ? "Show less" : "Show all")));
  if (row.first) p.more.append(earlier(row.first.html));
}

const button = (text, onclick) => el("button", { class: "link", type: "button", onclick }, text);

function earlier(html) {
  const text = el("div", { class: "text" });
  setHTML(text, html);
  return el("details", {}, el("summary", {}, "What the agent wrote before the edit"), text);
}
