// Making and changing elements.

// el makes an element: el("p", {class: "why", hidden: true, onclick: f}, "text", child).
export function el(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (value === true) e.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(key, value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

// setText changes the text of e only when it differs, so that nothing is drawn again.
export function setText(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

const policy = window.trustedTypes
  ? window.trustedTypes.createPolicy("moot", { createHTML: (html) => html })
  : { createHTML: (html) => html };

// setHTML shows HTML that the server has made of a text: the field html of an update,
// which is sanitized. It is the only place that parses HTML.
export function setHTML(e, html) {
  e.innerHTML = policy.createHTML(html);
}

const hues = new Map();

// assignHues gives the participants of a room hues that are far from each other, in the
// order of the roster, to which new ones are appended.
export function assignHues(ids) {
  for (const id of ids) if (!hues.has(id)) hues.set(id, Math.round(250 + 137.5 * hues.size) % 360);
}

// hueOf returns the hue of a participant; that of a stranger to the roster is made of its id.
export function hueOf(id) {
  let hash = 2166136261;
  for (const c of id) hash = Math.imul(hash ^ c.codePointAt(0), 16777619) >>> 0;
  return hues.get(id) ?? (hash % 24) * 15;
}

// avatar makes the sign of a participant.
export function avatar(id, name = id) {
  const e = el("span", { class: "avatar", "aria-hidden": "true" }, [...name][0]?.toUpperCase() ?? "?");
  e.style.setProperty("--hue", hueOf(id));
  return e;
}

// typing reports whether the focus is where a person types, so keys are text.
export function typing() {
  const e = document.activeElement;
  return e !== null && (e.matches("input, textarea, select") || e.isContentEditable);
}
