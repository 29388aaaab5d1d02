// The dock: what waits for an answer, the message field, and the controls.
import { el } from "./dom.js";

customElements.define("moot-dock", class extends HTMLElement {
  connect(room) {
    const text = el("textarea", { rows: 1, "aria-label": "Message" });
    const form = el("form", { class: "composer", onsubmit: async (e) => {
      e.preventDefault();
      if (text.value.trim() && await room.command({ do: "say", text: text.value })) text.value = "";
    } }, text, el("button", { class: "primary", type: "submit" }, "Send"));
    this.append(form);
  }
});
