// The timeline: one row for each message, turn and declined round.
import { el, setHTML } from "./dom.js";

customElements.define("moot-timeline", class extends HTMLElement {
  connect(room) {
    this.rows = el("ol", { class: "rows", role: "log", "aria-live": "off", tabindex: "0", "aria-label": "Timeline" });
    this.append(this.rows);
    room.addEventListener("history", ({ detail }) => detail.events.forEach((u) => this.add(room, u)));
    room.addEventListener("event", ({ detail }) => this.add(room, detail));
  }

  add(room, { event, html }) {
    if (event.type !== "message.posted") return;
    const text = el("div", { class: "text" });
    setHTML(text, html ?? "");
    this.rows.append(el("li", { class: "row" }, el("strong", {}, room.name(event.body.message.from_agent)), text));
  }
});
