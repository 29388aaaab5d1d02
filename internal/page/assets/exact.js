// Texts of agents that a person decides about, so that each character can be seen.
import { el } from "./dom.js";

// hidden are characters that are not seen or change the order of others: controls,
// format characters, separators but the space, unassigned and private ones. A text may
// have line breaks and tabs; the joiner is part of emoji.
const inText = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;
const inLine = /[\p{C}\p{Z}]/u;

const isHidden = (c, line) => (line ? inLine.test(c) && c !== " " : inText.test(c) && !"\n\t\u200d".includes(c));

// exact returns the nodes that show text; hidden characters are shown as codes. With
// line, a line break is shown as a sign too, because a command goes on behind it.
export function exact(text, line = false) {
  const nodes = [];
  let plain = "";
  for (const c of text) {
    if (!isHidden(c, line)) {
      plain += c;
      continue;
    }
    const sign = c === "\n" ? "⏎" : `U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    nodes.push(plain, el("span", { class: "code-point", title: "a character that cannot be seen" }, sign));
    plain = c === "\n" ? "\n" : "";
  }
  return [...nodes, plain];
}

const lines = (text) => (text ? text.replace(/\n$/, "").split("\n") : []);

// context is how many equal lines are shown before and behind what changes.
const context = 2;

// diff shows what an action writes to a file: the lines between those at both ends
// that stay, and a few of these.
export function diff({ path, old = "", new: text }) {
  const was = lines(old), is = lines(text);
  let head = 0, tail = 0;
  while (head < Math.min(was.length, is.length) && was[head] === is[head]) head++;
  while (tail < Math.min(was.length, is.length) - head && was.at(-1 - tail) === is.at(-1 - tail)) tail++;
  const rows = [
    ...was.slice(Math.max(0, head - context), head).map((l) => row(" ", l)),
    ...was.slice(head, was.length - tail).map((l) => row("−", l)),
    ...is.slice(head, is.length - tail).map((l) => row("+", l)),
    ...is.slice(is.length - tail, is.length - tail + context).map((l) => row(" ", l)),
  ];
  const unchanged = old === text ? "no line changes" : was.length === 0 ? "new file" : `from line ${head + 1}`;
  return el("figure", { class: "diff" }, el("figcaption", {}, el("bdi", {}, ...exact(path, true)), el("span", { class: "hint" }, unchanged)),
    el("pre", { tabindex: "0", "aria-label": `Changes of ${path}` }, ...rows));
}

const marks = { "−": "del", "+": "ins", " ": "span" };

const row = (mark, line) => el(marks[mark], { class: "diff-line" }, `${mark} `, ...exact(line), "\n");
