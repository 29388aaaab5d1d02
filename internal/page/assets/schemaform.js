// A form for the settings of a policy, drawn from their JSON Schema. What a form cannot
// show, such as a setting of several types, is a field of JSON. The server checks the
// settings; its errors name fields by JSON pointers.
import { el, setText } from "./dom.js";

// Bounds of what is drawn, because the schema may be a stranger's: settings that are
// nested more deeply, and objects and choices with more parts, are fields of JSON.
const deepest = 3, most = 200;
let numbers = 0; // of ids, which are unique on the page

// A SchemaForm shows settings and reads them again.
export class SchemaForm {
  #root;
  #fields = new Map(); // by JSON pointer

  // schema may be absent: any object is allowed then. value are the settings, defaults
  // those that hold without them. seats are the participants that a setting may name.
  constructor({ schema, value = {}, defaults = {}, seats = [], onchange = () => {} }) {
    this.schema = schema ?? {};
    this.seats = seats;
    this.element = el("div", { class: "settings", oninput: () => { this.clear(); onchange(); } });
    const known = this.resolve(this.schema);
    if (drawable(known) || !known.properties && known.additionalProperties === false) this.#root = this.object("settings", known, value, defaults, 0);
    else this.#root = this.json("settings", { title: "Settings", description: "An object in JSON." }, value);
    this.element.append(this.#root.element);
    this.empty = this.#fields.size === 0;
  }

  // value returns the settings that differ from the defaults. It throws a SyntaxError if
  // a field is not as its type wants it.
  value() { return this.#root.read() ?? {}; }

  // valid tells the person what is wrong, and reports whether nothing is.
  valid() {
    this.clear();
    for (const input of this.element.querySelectorAll("input, select, textarea")) {
      if (!input.checkValidity()) { input.reportValidity(); return false; }
    }
    try {
      this.value();
      return true;
    } catch (e) {
      this.fail(e.pointer, e.message);
      this.#point();
      return false;
    }
  }

  // show shows the errors of a problem at their fields, and reports whether it could.
  show(problem) {
    this.clear();
    for (const { where, what } of problem.errors) this.fail(where, what);
    this.#point();
    return problem.errors.length > 0;
  }

  // point moves the focus to the first field with an error.
  #point() { this.element.querySelector("[aria-invalid]")?.focus(); }

  clear() {
    for (const { input, error } of this.#fields.values()) {
      input.removeAttribute("aria-invalid");
      setText(error, "");
    }
    this.general?.remove();
  }

  // fail shows an error at the field of a pointer, or at the one around it.
  fail(pointer, what) {
    for (let at = pointer ?? ""; at; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
      const field = this.#fields.get(at);
      if (!field) continue;
      field.input.setAttribute("aria-invalid", "true");
      setText(field.error, what);
      return;
    }
    this.general = el("p", { class: "error", role: "alert" }, what);
    this.element.append(this.general);
  }

  // resolve follows a reference within the schema.
  resolve(s, left = 8) {
    if (typeof s?.$ref !== "string" || left === 0) return s ?? {};
    if (!s.$ref.startsWith("#")) return {};
    const steps = s.$ref.slice(1).split("/").slice(1).map((x) => x.replaceAll("~1", "/").replaceAll("~0", "~"));
    return { ...this.resolve(steps.reduce((at, x) => own(at, x), this.schema), left - 1), ...without(s, "$ref") };
  }

  // object draws the properties of an object. What the person does not change stays as it
  // is, also what no field could show. Settings that are the defaults are left out.
  object(pointer, schema, value, defaults, depth) {
    const parts = Object.entries(schema.properties ?? {}).map(([key, s]) => {
      const known = this.resolve(s);
      const set = own(value, key);
      const was = own(defaults, key) ?? known.default;
      const field = this.field(`${pointer}/${step(key)}`, { ...known, title: known.title ?? key, need: schema.required?.includes(key) }, set === undefined ? was : set, depth);
      return { key, set, was, field, drawn: attempt(field.read) };
    });
    const rest = without(value, ...parts.map(({ key }) => key));
    return {
      element: el("div", { class: "settings-group" }, ...parts.map(({ field }) => field.element)),
      read: () => {
        const out = Object.assign(Object.create(null), rest);
        for (const { key, set, was, field, drawn } of parts) {
          const read = field.read();
          const now = same(read, drawn) ? set : read;
          if (now !== undefined && (depth > 0 || !same(now, was))) out[key] = now;
        }
        return out;
      },
    };
  }

  // field draws one setting.
  field(pointer, schema, value, depth) {
    const choices = choicesOf(schema);
    if (choices) return this.select(pointer, schema, choices, value);
    switch (schema.type) {
      case "boolean": return this.checkbox(pointer, schema, value);
      case "integer": case "number": return this.number(pointer, schema, value);
      case "string": return schema.format === "participant" ? this.select(pointer, schema, this.participants(), value) : this.text(pointer, schema, value);
      case "array": return this.list(pointer, schema, value);
      case "object":
        if (drawable(schema) && depth < deepest) {
          const inner = this.object(pointer, schema, value, undefined, depth + 1);
          return { element: el("fieldset", {}, el("legend", {}, schema.title), hint(schema), inner.element), read: inner.read };
        }
    }
    return this.json(pointer, schema, value);
  }

  participants() { return this.seats.filter((p) => p.badge !== "human").map((p) => [p.id, p.name || p.id]); }

  // wrap makes a label of input with its description and a place for an error.
  wrap(pointer, schema, input, read, { inline = false } = {}) {
    const id = `setting-${++numbers}`;
    const error = el("span", { class: "error", id: `${id}-error`, "aria-live": "polite" });
    const note = hint(schema, `${id}-hint`);
    input.id = id;
    input.setAttribute("aria-describedby", `${note ? `${id}-hint ` : ""}${id}-error`);
    this.#fields.set(pointer, { input, error });
    const label = el("label", { for: id }, schema.title);
    return { element: el("div", { class: inline ? "setting setting-inline" : "setting", "data-setting": pointer }, ...(inline ? [input, label] : [label, input]), note, error), read };
  }

  select(pointer, schema, choices, value) {
    const at = choices.findIndex(([v]) => same(v, value));
    const options = choices.map(([, name], i) => el("option", { value: i, selected: i === at }, name));
    if (!schema.need || at < 0) options.unshift(el("option", { value: "", selected: at < 0 }, value !== undefined && at < 0 && value !== "" ? String(value) : "not set"));
    const input = el("select", { required: Boolean(schema.need) }, ...options);
    return this.wrap(pointer, schema, input, () => input.value !== "" ? choices[input.value][0] : at < 0 ? value : undefined);
  }

  checkbox(pointer, schema, value) {
    const input = el("input", { type: "checkbox", checked: value === true });
    return this.wrap(pointer, schema, input, () => input.checked || value !== undefined || schema.need ? input.checked : undefined, { inline: true });
  }

  number(pointer, schema, value) {
    const whole = schema.type === "integer";
    const input = el("input", { type: "number", inputmode: whole ? "numeric" : "decimal", min: schema.minimum, max: schema.maximum, step: whole ? 1 : "any", required: Boolean(schema.need), value });
    return this.wrap(pointer, schema, input, () => input.value === "" ? undefined : Number(input.value));
  }

  text(pointer, schema, value) {
    const long = (schema.maxLength ?? 0) > 200 || String(value ?? "").length > 200;
    const input = long ? el("textarea", { rows: 3 }, value ?? "") : el("input", { type: "text", value });
    for (const [name, of] of [["minlength", schema.minLength], ["maxlength", schema.maxLength]]) if (of !== undefined) input.setAttribute(name, of);
    input.required = Boolean(schema.need) && (schema.minLength ?? 0) > 0;
    return this.wrap(pointer, schema, input, () => input.value === "" && value === undefined && !schema.need ? undefined : input.value);
  }

  // list draws an array: boxes where the values are known, else a line for each.
  list(pointer, schema, value) {
    const items = this.resolve(schema.items);
    const choices = choicesOf(items) ?? (items.format === "participant" ? this.participants() : null);
    if (value !== undefined && !Array.isArray(value)) return this.json(pointer, schema, value);
    if (choices && (value ?? []).every((v) => choices.some(([c]) => same(c, v)))) return this.boxes(pointer, schema, choices, value);
    if (!["string", "integer", "number"].includes(items.type)) return this.json(pointer, schema, value);
    const note = [schema.description, "One on each line."].filter(Boolean).join(" ");
    const input = el("textarea", { rows: Math.min(6, Math.max(2, (value ?? []).length + 1)) }, (value ?? []).join("\n"));
    return this.wrap(pointer, { ...schema, description: note }, input, () => {
      const lines = input.value.split("\n").map((x) => x.trim()).filter(Boolean);
      if (lines.length === 0 && value === undefined) return undefined;
      return items.type === "string" ? lines : lines.map((x) => Number.isFinite(Number(x)) ? Number(x) : bad(pointer, `${x} is not a number`));
    });
  }

  boxes(pointer, schema, choices, value) {
    const boxes = choices.map(([v, name]) => [v, el("input", { type: "checkbox", checked: (value ?? []).some((x) => same(x, v)) }), name]);
    const group = el("div", { role: "group", tabindex: "-1", class: "boxes" }, ...boxes.map(([, box, name]) => el("label", { class: "setting-inline" }, box, name)));
    const field = this.wrap(pointer, schema, group, () => {
      const chosen = boxes.filter(([, box]) => box.checked).map(([v]) => v);
      return chosen.length > 0 || value !== undefined || schema.need ? chosen : undefined;
    });
    group.setAttribute("aria-label", schema.title);
    return field;
  }

  json(pointer, schema, value) {
    const input = el("textarea", { rows: 2, class: "code", spellcheck: "false" }, value === undefined ? "" : JSON.stringify(value, null, 1));
    const note = schema.description ?? (schema.type === "object" ? "An object in JSON." : "A value in JSON.");
    return this.wrap(pointer, { ...schema, description: note }, input, () => {
      if (input.value.trim() === "") return undefined;
      try {
        return JSON.parse(input.value);
      } catch {
        return bad(pointer, "this is not valid JSON");
      }
    });
  }
}

// choicesOf returns the values that a schema lists: [[value, name]], null for none. They
// are no objects.
function choicesOf(schema) {
  const list = schema.enum?.map?.((v) => ({ const: v })) ?? schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(list) || list.length === 0 || list.length > most) return null;
  return list.every((x) => x && Object.hasOwn(x, "const") && plain(x.const)) ? list.map((x) => [x.const, x.title ?? String(x.const)]) : null;
}

const drawable = (schema) => schema.properties && Object.keys(schema.properties).length <= most;

const hint = (schema, id) => schema.description ? el("span", { class: "hint", id }, schema.description) : null;
const step = (key) => key.replaceAll("~", "~0").replaceAll("/", "~1");
const own = (of, key) => of && typeof of === "object" && Object.hasOwn(of, key) ? of[key] : undefined;
const plain = (v) => v === null || typeof v !== "object";

// attempt returns what read returns, or what is the same as nothing else.
function attempt(read) {
  try {
    return read();
  } catch {
    return NaN;
  }
}

function without(of, ...keys) {
  const out = Object.create(null);
  for (const [key, v] of Object.entries(of ?? {})) if (!keys.includes(key)) out[key] = v;
  return out;
}

function bad(pointer, message) {
  throw Object.assign(new SyntaxError(message), { pointer });
}

// same compares two values of JSON. The order of keys does not count.
export function same(a, b) {
  if (plain(a) || plain(b)) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((k) => Object.hasOwn(b, k) && same(a[k], b[k]));
}
