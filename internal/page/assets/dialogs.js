// Questions to the person, as modal dialogs.
import { el } from "./dom.js";

// open shows a modal dialog and returns a promise of its result, null if it was left.
// The focus goes back to where it was.
function open(title, content) {
  const before = document.activeElement;
  return new Promise((done) => {
    let result = null;
    const id = `dialog-${crypto.randomUUID()}`;
    const dialog = el("dialog", { class: "ask", "aria-labelledby": id, onclose: () => {
      dialog.remove();
      if (before?.isConnected) before.focus();
      done(result);
    }, onclick: (e) => e.target === dialog && dialog.close() });
    const finish = (value) => { result = value; dialog.close(); };
    dialog.append(el("h3", { id }, title), ...content(finish));
    document.body.append(dialog);
    dialog.showModal();
  });
}

const cancel = (finish) => el("button", { type: "button", class: "cancel", onclick: () => finish(null) }, "Cancel");

// choose lets the person choose one of options: [{label, hint, value, disabled}]. It
// returns a promise of the value, null for none. The arrow keys move.
export function choose({ title, text, options }) {
  return open(title, (finish) => {
    const buttons = options.map((o) => el("button", { type: "button", disabled: o.disabled, onclick: () => finish(o.value) },
      el("span", {}, o.label), o.hint ? el("span", { class: "hint" }, o.hint) : null));
    const list = el("div", { class: "choices", onkeydown: (e) => moveFocus(e, buttons) }, ...buttons);
    return [text ? el("p", { class: "hint" }, text) : "", list, el("div", { class: "row-end" }, cancel(finish))];
  });
}

function moveFocus(e, buttons) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (!step) return;
  e.preventDefault();
  const open = buttons.filter((b) => !b.disabled);
  open[(open.indexOf(document.activeElement) + step + open.length) % open.length]?.focus();
}

// ask asks for a text, which may be empty, and lets the person choose one of actions:
// [{label, value, danger}]. It returns a promise of {text, value}, null for none. Enter
// in the text chooses the first.
export function ask({ title, text, label, actions }) {
  return open(title, (finish) => {
    const input = el("input", { maxlength: 400, autocomplete: "off" });
    const done = (value) => finish({ text: input.value.trim(), value });
    const buttons = actions.map((a, i) => el("button", { type: i === 0 ? "submit" : "button", class: a.danger ? "danger" : i === 0 ? "primary" : "",
      onclick: (e) => { e.preventDefault(); done(a.value); } }, a.label));
    return [text ? el("p", { class: "hint" }, text) : "", el("form", { onsubmit: (e) => e.preventDefault() },
      el("label", { class: "field" }, label, input), el("div", { class: "row-end" }, cancel(finish), ...buttons.reverse()))];
  });
}

// tell shows something until the person closes it.
export function tell({ title }, ...content) {
  return open(title, (finish) => [...content, el("div", { class: "row-end" }, el("button", { type: "button", class: "primary", onclick: () => finish(null) }, "Close"))]);
}
