// The page with all rooms.
import { el } from "./dom.js";
import { get } from "./api.js";
import "./rail.js";

customElements.define("moot-rooms", class extends HTMLElement {
  async connectedCallback() {
    const rooms = await get("/api/rooms");
    this.replaceChildren(el("ul", {}, ...rooms.reverse().map((r) => el("li", {}, el("a", { href: `/rooms/${r.room}` }, r.name || r.room), ` ${r.phase}`))));
  }
});
for (const part of document.querySelectorAll("moot-rail")) part.connect(null);
