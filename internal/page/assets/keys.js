// The keys of a page. They act only where no key is text: not in a field, not in a
// dialog, not with Ctrl, Alt or the system key.
import { el, typing } from "./dom.js";
import { tell } from "./dialogs.js";

const keys = new Map();

// bindKey makes a key do something. The help lists it with its purpose.
export function bindKey(key, purpose, run) {
  keys.set(key, { purpose, run });
}

// twice is the time in ms within which the second Escape must follow the first.
export const twice = 3000;
let escaped = -Infinity; // when the first was pressed

function pressed(e) {
  if (e.defaultPrevented || e.repeat || e.isComposing || e.ctrlKey || e.altKey || e.metaKey) return;
  if (typing() || document.querySelector("dialog[open]")) return;
  const name = e.key === "Escape" ? escape(e.timeStamp) : e.key;
  if (e.key !== "Escape") escaped = -Infinity;
  const bound = keys.get(name);
  if (!bound) return;
  e.preventDefault();
  bound.run(e);
}

// escape returns the name of the key at the second Escape in a row.
function escape(now) {
  const again = now - escaped < twice;
  escaped = again ? -Infinity : now;
  return again ? "Escape Escape" : "Escape";
}

function help() {
  const rows = [...keys].map(([key, { purpose }]) => el("div", {}, el("dt", {}, ...key.split(" ").flatMap((k) => [el("kbd", {}, k.replace("Escape", "Esc")), " "])), el("dd", {}, purpose)));
  tell({ title: "Keys" }, el("p", { class: "hint" }, "They work while no text field has the focus. Esc leaves the message field."), el("dl", { class: "keys" }, ...rows));
}

bindKey("?", "Show this help", help);
document.addEventListener("keydown", pressed);
