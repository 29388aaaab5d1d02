// The inspector: what stands behind what the page shows. Its tabs are drawn when they are
// opened, and again when what they show has changed.
import { el } from "./dom.js";
import { DecisionPanel } from "./decision.js";
import { SeatPanel } from "./seatpanel.js";
import { RoomPanel } from "./roompanel.js";
import { SharePanel } from "./sharepanel.js";
import { openSheet } from "./sheets.js";
import "./policy.js";

// The panel of the policy is an element of its own.
class PolicyPanel {
  title = "Policy";

  connect(room, body) {
    const panel = document.createElement("moot-policy");
    body.append(panel);
    panel.connect(room);
  }

  show() {}
}

customElements.define("moot-inspector", class extends HTMLElement {
  #panels = { decision: new DecisionPanel(), seat: new SeatPanel(), policy: new PolicyPanel(), room: new RoomPanel(), share: new SharePanel() };
  #open = "decision";

  connect(room) {
    this.room = room;
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", "Details");
    this.tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Details", onkeydown: (e) => this.#key(e) });
    this.append(this.tabs);
    for (const [id, panel] of Object.entries(this.#panels)) this.#add(id, panel);
    room.addEventListener("view", () => this.#panels[this.#open].show());
    room.addEventListener("history", ({ detail }) => detail.events.forEach((u) => this.#panels.decision.note(u.event)));
    room.addEventListener("event", ({ detail }) => this.#panels.decision.note(detail.event));
    room.addEventListener("select", ({ detail }) => this.#select(detail));
    this.open("decision");
  }

  #add(id, panel) {
    panel.tab = el("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`, onclick: () => this.open(id) }, panel.title);
    panel.body = el("div", { class: "panel", role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, tabindex: 0 });
    this.tabs.append(panel.tab);
    this.append(panel.body);
    panel.connect(this.room, panel.body);
  }

  // open shows one tab.
  open(id) {
    this.#open = id;
    for (const [other, { tab, body }] of Object.entries(this.#panels)) {
      tab.setAttribute("aria-selected", String(other === id));
      tab.tabIndex = other === id ? 0 : -1;
      body.hidden = other !== id;
    }
    if (this.room.view) this.#panels[id].show();
  }

  #select(what) {
    const id = what.seat ? "seat" : "decision";
    this.#panels[id].select(what);
    this.open(id);
    openSheet("moot-inspector");
  }

  #key(e) {
    const ids = Object.keys(this.#panels);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!step) return;
    const id = ids[(ids.indexOf(this.#open) + step + ids.length) % ids.length];
    this.open(id);
    this.#panels[id].tab.focus();
    e.preventDefault();
  }
});
