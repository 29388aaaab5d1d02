// Mentions in texts: "@DBA" gets the colour of its participant.
import { el, hueOf } from "./dom.js";

// markMentions marks the participants that are mentioned with @ below e.
export function markMentions(e, participants) {
  const ids = new Map(participants.flatMap((p) => [p.id, p.name].filter(Boolean).map((name) => [name.toLowerCase(), p.id])));
  if (ids.size === 0 || !e.textContent.includes("@")) return;
  const names = [...ids.keys()].sort((a, b) => b.length - a.length).map(escape);
  const mention = new RegExp(`@(${names.join("|")})(?![\\p{L}\\p{N}_-])`, "giu");
  const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), found = [];
  while (texts.nextNode()) {
    if (!texts.currentNode.parentElement.closest("code, pre, a")) found.push(texts.currentNode);
  }
  for (const text of found) text.replaceWith(...parts(text.data, mention, ids));
}

const escape = (name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function parts(text, mention, ids) {
  const out = [];
  let at = 0;
  for (const m of text.matchAll(mention)) {
    const e = el("span", { class: "mention" }, m[0]);
    e.style.setProperty("--hue", hueOf(ids.get(m[1].toLowerCase())));
    out.push(text.slice(at, m.index), e);
    at = m.index + m[0].length;
  }
  return [...out, text.slice(at)];
}
