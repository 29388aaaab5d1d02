// The cards of typed messages in the timeline: tools, builds, blockers and status
// checks. Their payloads and deliveries are folded.
import { subject } from "./cardmodel.js";
import { drawDeliveries } from "./deliveries.js";
import { avatar, el, hueOf, setHTML, setText } from "./dom.js";
import { hour, time } from "./format.js";
import { kindName } from "./kinds.js";
import { drawPayload } from "./payload.js";
import { progress } from "./payloadfacts.js";

const titles = { tool: "Tool", build: "Build", blocker: "Blocker", check: "Status check" };
const states = { running: ["…", "running"], done: ["✓", "done"], failed: ["✗", "failed"], blocked: ["!", "needs an answer"], answered: ["✓", "answered"], waits: ["…", "waits for an answer"] };

// drawCard makes the element of a card, which stays as wide and as high as its parts.
export function drawCard(row) {
  const p = {
    title: el("strong"), who: el("span"), state: el("span", { class: "card-state" }), at: el("time"), which: el("span", { class: "sr" }),
    parts: el("ol"), became: el("p", { class: "became" }),
  };
  const link = el("a", { class: "n", href: `#${row.key}` }, p.at, p.which);
  const e = el("article", { tabindex: "-1", "data-kind": row.kind }, el("header", {}, p.title, p.who, p.state, link), p.parts, p.became);
  e.patch = (r, page) => patchCard(e, p, r, page);
  return e;
}

function patchCard(e, p, row, page) {
  const first = row.parts[0], who = page.name(row.who), state = stateOf(row), [sign, word] = states[state];
  e.style.setProperty("--hue", hueOf(row.who));
  e.dataset.state = state;
  e.setAttribute("aria-label", `${titles[row.kind]} of ${who}, ${word}, event ${first.seq}`);
  setText(p.title, titles[row.kind]);
  setText(p.who, about(row, page, who));
  setText(p.state, `${sign} ${word}`);
  setText(p.at, hour(row.at));
  p.at.title = time(row.at);
  setText(p.which, `event ${first.seq}`);
  while (p.parts.children.length > row.parts.length) p.parts.lastChild.remove();
  row.parts.forEach((part, i) => (p.parts.children[i] ?? p.parts.appendChild(drawPart())).patch(part, page));
  patchBecame(p.became, row, page);
}

function about(row, page, who) {
  if (row.kind === "check") return `${who} asked ${row.asked.map(page.name).join(", ")}`;
  const name = subject(row.parts[0].message);
  return name ? `${who} · ${name}` : who;
}

function stateOf(row) {
  const last = row.parts.at(-1).message;
  if (row.kind === "check") return row.parts.length > row.asked.length ? "answered" : "waits";
  if (row.kind === "blocker") return row.became.length ? "answered" : "blocked";
  return progress(last) || (last.kind === "tool_result" ? "done" : "running");
}

// drawPart draws one message of a card.
export function drawPart() {
  const who = el("b"), text = el("div", { class: "text" }), payload = drawPayload(), deliveries = drawDeliveries();
  const more = el("button", { class: "link", type: "button" });
  const e = el("li", {}, who, text, more, payload, deliveries);
  e.patch = (part, page) => {
    const m = part.message, whole = page.revealed.get(part.seq), html = whole ?? part.html ?? "";
    setText(who, `${page.name(m.from_agent)}, ${kindName(m)}`);
    if (e.html !== html || e.summary !== m.summary) {
      Object.assign(e, { html, summary: m.summary });
      if (html) setHTML(text, html);
      else setText(text, part.removed ? "The text was removed." : m.summary ?? "");
      page.mark(text);
    }
    const redacted = m.visibility === "user_redacted" && page.mayReveal && !part.removed;
    more.hidden = !redacted;
    setText(more, whole === undefined ? "Show the whole text" : "Show the summary");
    more.onclick = () => page.reveal(part, whole === undefined);
    payload.patch(part, page);
    deliveries.patch(part, page);
  };
  return e;
}

// patchBecame says which message of the manager answers one.
export function patchBecame(e, row, page) {
  const all = row.became ?? [];
  e.hidden = all.length === 0;
  const key = JSON.stringify(all);
  if (e.key === key) return;
  e.key = key;
  e.replaceChildren(...all.flatMap((b, i) => [i ? ", " : "", el("a", { href: `#event-${b.seq}` }, `${kindName(b)} of ${page.name(b.who)} to ${page.name(b.to)}`)]));
}
