// Sheets: on a narrow screen the participants and the details have no column. Buttons
// open them above the page.
import { el } from "./dom.js";

const parts = [
  { name: "moot-roster", label: "Participants", icon: "M7 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm-5 8c0-3 2-5 5-5s5 2 5 5M13 3.5a3 3 0 0 1 0 5.5M15 12.5c2 .8 3 2.3 3 4.5" },
  { name: "moot-inspector", label: "Details", icon: "M10 18a8 8 0 1 0 0-16 8 8 0 0 0 0 16ZM10 9v5M10 6v.5" },
];

let shown = null; // the part that is open as a sheet
let opener = null; // what had the focus before

// openSheet shows a part of the page as a sheet, if it has no column now.
export function openSheet(name) {
  const part = document.querySelector(name);
  if (!part || part === shown || getComputedStyle(part).position !== "fixed") return;
  closeSheet();
  opener = document.activeElement;
  shown = part;
  part.classList.add("is-open");
  part.tabIndex = -1;
  const around = [...document.querySelectorAll(".scrim, .sheet-close")];
  for (const e of around) e.hidden = false;
  for (const other of document.body.querySelectorAll(".skip, .app > *")) other.inert = other !== part && !around.includes(other);
  part.focus();
}

// closeSheet gives the page back, and the focus to where it was.
export function closeSheet() {
  if (!shown) return;
  shown.classList.remove("is-open");
  shown.removeAttribute("tabindex");
  shown = null;
  for (const e of document.querySelectorAll(".scrim, .sheet-close")) e.hidden = true;
  for (const other of document.body.querySelectorAll(".skip, .app > *")) other.inert = false;
  opener?.focus();
}

function icon(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(svg.namespaceURI, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

customElements.define("moot-panels", class extends HTMLElement {
  connect() {
    this.append(...parts.map((p) =>
      el("button", { type: "button", class: `panel-button for-${p.name}`, title: p.label, "aria-haspopup": "true", onclick: () => openSheet(p.name) },
        icon(p.icon), el("span", {}, p.label))));
    this.after(el("div", { class: "scrim", hidden: true, onclick: closeSheet }), el("button", { type: "button", class: "sheet-close", hidden: true, onclick: closeSheet }, "Close"));
    document.addEventListener("keydown", (e) => {
      if (e.key !== "Escape" || !shown || document.querySelector("dialog[open]")) return;
      e.stopImmediatePropagation();
      closeSheet();
    }, true);
    window.addEventListener("resize", () => {
      if (shown && getComputedStyle(shown).position !== "fixed") closeSheet();
    });
  }
});
