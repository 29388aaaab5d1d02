// The rail: all rooms, and what waits.
import { el } from "./dom.js";

customElements.define("moot-rail", class extends HTMLElement {
  connect(room) {
    this.replaceChildren(el("a", { href: "/", "aria-label": "All rooms" }, "m"));
  }
});
