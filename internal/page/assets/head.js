// The head of a room: its name, objective, phase and meters.
import { el, setText } from "./dom.js";

customElements.define("moot-head", class extends HTMLElement {
  connect(room) {
    const phase = el("span", { class: "phase" });
    const objective = el("p", { class: "objective" });
    this.append(phase, objective);
    room.addEventListener("view", () => {
      setText(phase, room.view.phase);
      setText(objective, room.view.objective);
    });
  }
});
