// Rows that fold several events: declined rounds, and the beginning of a room.
import { el, setText } from "./dom.js";
import { count, time } from "./format.js";

// drawDeclined draws declined rounds: one as a sentence, more as one line that opens.
export function drawDeclined() {
  const one = el("p"), title = el("summary"), list = el("ol"), more = el("details", {}, title, list);
  const e = el("article", { tabindex: "-1" }, one, more);
  e.patch = ({ items }) => {
    const last = items.at(-1);
    setText(one, `Round declined: ${last.reason}${last.policy ? ` · ${last.policy}` : ""}`);
    setText(title, `${count(items.length, "round")} declined, at last: ${last.reason}`);
    one.hidden = items.length > 1;
    more.hidden = items.length < 2;
    for (const item of items.slice(list.children.length)) list.append(el("li", {}, el("time", {}, time(item.at)), ` ${item.reason}`));
  };
  return e;
}

// drawOpened draws the beginning of a room.
export function drawOpened() {
  const title = el("h2"), who = el("p"), rules = el("ul");
  const e = el("article", { tabindex: "-1" }, title, who, rules);
  e.patch = ({ spec, seats, at }, page) => {
    setText(title, `The room began at ${time(at)}`);
    setText(who, `With ${list(seats.map((s) => s.name || s.id))}. ${opening(spec, page)}`);
    rules.replaceChildren(...(spec.constraints ?? []).map((c) => el("li", {}, c)));
  };
  return e;
}

const list = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);

function opening(spec, page) {
  const out = [`The policy ${spec.policy.name || spec.policy.use} chooses who speaks`];
  if (spec.limits.max_turns) out.push(`at most ${count(spec.limits.max_turns, "turn")}`);
  const from = spec.forked_from ? ` Forked from room ${spec.forked_from.room} after event ${spec.forked_from.seq}.` : "";
  return `${out.join(", ")}.${from}`;
}
