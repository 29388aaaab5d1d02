// The participants.
import { avatar, el } from "./dom.js";

customElements.define("moot-roster", class extends HTMLElement {
  connect(room) {
    const list = el("ul");
    this.append(el("h2", {}, "Participants"), list);
    room.addEventListener("view", () => list.replaceChildren(...room.view.participants.map((p) =>
      el("li", { class: "seat" }, avatar(p.id, p.name), p.name || p.id, " ", el("span", { class: "tag" }, p.badge), " ", p.phase))));
  }
});
