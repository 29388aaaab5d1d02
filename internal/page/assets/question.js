// The form of a question that an agent puts. Its texts are the agent's own.
import { el } from "./dom.js";
import { exact } from "./exact.js";

// fewOptions is the most options of which all are shown at once.
const fewOptions = 6;

// A Question is the form for the fields of a question. form is its element.
export class Question {
  #fields;

  constructor({ message, fields }) {
    this.#fields = (fields ?? []).map(drawField);
    this.form = el("form", { class: "question", onsubmit: (e) => e.preventDefault() },
      message ? el("p", { class: "asked" }, ...exact(message)) : "", ...this.#fields.map((f) => f.element));
  }

  // values returns what the person has entered, null if something is missing; the browser
  // then says what. An optional field without an entry is null.
  values() {
    if (!this.form.reportValidity()) return null;
    return Object.fromEntries(this.#fields.map((f) => [f.name, f.value()]));
  }

  focus() {
    this.form.querySelector("input, select, textarea")?.focus();
  }
}

// drawField returns the name of a field, its element, and how its value is read.
function drawField(f) {
  const id = `field-${crypto.randomUUID()}`;
  if (f.type === "array") return several(f, id);
  if (f.options) return f.options.length > fewOptions ? select(f, id) : radios(f, id);
  if (f.type === "boolean") return checkbox(f, id);
  return f.type === "number" || f.type === "integer" ? number(f, id) : text(f, id);
}

const title = (f) => [...exact(f.title || f.name, true), f.required ? el("span", { class: "hint" }, " (required)") : ""];
const about = (f, id) => f.description ? el("p", { class: "hint", id: `${id}-about` }, ...exact(f.description)) : "";
const described = (f, id) => ({ id, "aria-describedby": f.description ? `${id}-about` : null });
const labelled = (f, id, input) => el("div", { class: "field" }, el("label", { for: id }, ...title(f)), input, about(f, id));

function text(f, id) {
  const long = !f.max_length || f.max_length > 80;
  const type = { email: "email", uri: "url", date: "date" }[f.format] ?? "text";
  const same = { ...described(f, id), required: f.required, maxlength: f.max_length, minlength: f.min_length };
  const input = long && type === "text" ? el("textarea", { ...same, rows: 2 }) : el("input", { ...same, type, placeholder: f.format === "date-time" ? "2026-11-23T14:00:00Z" : null });
  input.value = f.default ?? "";
  return { name: f.name, element: labelled(f, id, input), value: () => input.value === "" ? null : input.value };
}

function number(f, id) {
  const input = el("input", { ...described(f, id), type: "number", step: f.type === "integer" ? 1 : "any", min: f.minimum, max: f.maximum, required: f.required });
  input.value = f.default ?? "";
  return { name: f.name, element: labelled(f, id, input), value: () => input.value === "" ? null : input.valueAsNumber };
}

function checkbox(f, id) {
  const input = el("input", { ...described(f, id), type: "checkbox", checked: f.default === true });
  return { name: f.name, element: el("div", { class: "field" }, el("label", { class: "option" }, input, el("span", {}, ...title(f))), about(f, id)), value: () => input.checked };
}

function select(f, id) {
  const input = el("select", { ...described(f, id), required: f.required }, el("option", { value: "" }, "Choose…"), ...f.options.map((o) => el("option", { value: o.value }, o.title || o.value)));
  input.value = f.default ?? "";
  return { name: f.name, element: labelled(f, id, input), value: () => input.value || null };
}

// group draws all options of a field, of which one (radio) or several (checkbox) are
// chosen.
function group(f, id, type, chosen) {
  const inputs = f.options.map((o) => el("input", { type, name: id, value: o.value, checked: chosen.includes(o.value), required: type === "radio" && f.required }));
  const element = el("fieldset", described(f, id), el("legend", {}, ...title(f)), about(f, id),
    ...f.options.map((o, i) => el("label", { class: "option" }, inputs[i], el("span", {}, ...exact(o.title || o.value, true), o.description ? el("span", { class: "hint" }, " ", ...exact(o.description)) : ""))));
  return { element, chosen: () => inputs.filter((x) => x.checked).map((x) => x.value) };
}

function radios(f, id) {
  const { element, chosen } = group(f, id, "radio", [f.default]);
  return { name: f.name, element, value: () => chosen()[0] ?? null };
}

function several(f, id) {
  const { element, chosen } = group(f, id, "checkbox", f.default ?? []);
  return { name: f.name, element, value: chosen };
}
