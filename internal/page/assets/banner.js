// Banners: why the room does not go on, and what has failed.
import { el } from "./dom.js";

customElements.define("moot-banner", class extends HTMLElement {
  connect(room) {
    room.addEventListener("problem", ({ detail }) => this.replaceChildren(el("p", { role: "alert" }, `${detail.message}. ${detail.fix ?? ""}`)));
  }
});
