// The agents that are shared with this device: one line for each paired device, and the
// form that lets your agent work with one of theirs.
import { avatar, el, setText } from "./dom.js";
import { get } from "./api.js";
import { modeField, openModal, remember, rememberedOf, showProblem, start } from "./create.js";
import { chat, oneToOne, slug } from "./roomspec.js";

customElements.define("moot-shared", class extends HTMLElement {
  async connectedCallback() {
    this.hidden = true;
    if ("own" in document.body.dataset) return;
    try {
      const caller = await get("/api/caller");
      if (caller.scope !== "admin") return;
      this.agents = await get("/api/agents");
    } catch {
      return; // the list of rooms says what is wrong
    }
    const { peers } = this.agents;
    this.hidden = peers.length === 0;
    this.replaceChildren(el("h2", {}, "Shared with you"), el("ul", { class: "peer-list" }, ...peers.map((p) => this.row(p))));
  }

  row(peer) {
    const known = rememberedOf(peer);
    return el("li", { class: "peer", "data-peer": peer.name }, avatar(peer.device, peer.name),
      el("div", { class: "room-body" }, el("strong", {}, peer.name), el("p", { class: "hint" }, peer.changed ? "Its keys have changed: run `moot peers verify`" : known.length ? known.join(", ") : peer.device.slice(0, 12) + "…")),
      el("button", { type: "button", disabled: peer.changed, onclick: () => this.open(peer) }, "Work with an agent"));
  }

  open(peer) {
    const form = new Together(this.agents, peer);
    openModal(`Work with an agent of ${peer.name}`, form.form);
    form.first.focus();
    form.ask();
  }
});

// A Together is the form: a chat with a shared agent, or, with "Use my agent", a room in
// which your agent works with it.
class Together {
  constructor(agents, peer) {
    this.agents = agents;
    this.peer = peer;
    const known = rememberedOf(peer);
    this.shared = el("input", { name: "shared", required: true, maxlength: 32, pattern: "[A-Za-z][A-Za-z0-9_\\-]*", title: "the name of the profile that the other owner shares", list: "shared-names", autocomplete: "off", spellcheck: "false", value: known[0] });
    this.names = el("datalist", { id: "shared-names" }, ...known.map((x) => el("option", { value: x })));
    this.offers = el("p", { class: "hint offers", role: "status" });
    this.objective = el("textarea", { name: "objective", rows: 3, required: true, maxlength: 16000, placeholder: "Such as: review this API for security issues" });
    this.own = el("input", { type: "checkbox", role: "switch", name: "own", onchange: () => this.show() });
    this.mine = el("select", { name: "mine" }, ...this.locals().map(({ title }, i) => el("option", { value: i }, title)));
    this.folder = el("input", { name: "folder", value: agents.folder, spellcheck: "false" });
    this.mode = modeField();
    this.asks = el("select", { name: "asks" }, ...peer.asks.map((name) => el("option", {}, name)));
    this.problem = el("div", { class: "problem", role: "alert" });
    this.submit = el("button", { class: "primary", type: "submit" }, "Start");
    this.about = el("p", { class: "hint" });
    this.inner = el("div", { class: "own-agent" }, el("label", { class: "field" }, "My agent", this.mine), el("label", { class: "field" }, "Folder in which it works", this.folder), this.mode.element);
    this.form = el("form", { onsubmit: (e) => { e.preventDefault(); this.start(); } },
      el("label", { class: "field" }, "Shared agent", this.shared), this.names, this.offers,
      el("label", { class: "field" }, "Objective", this.objective),
      el("label", { class: "switch" }, this.own, el("span", {}, "Use my agent")), this.about, this.inner,
      peer.asks.length > 1 && el("label", { class: "field" }, "On behalf of the profile", this.asks),
      this.permission(), this.problem, el("div", { class: "row-end" }, this.submit));
    this.own.disabled = this.locals().length === 0;
    this.first = known.length ? this.objective : this.shared;
    this.show();
  }

  // ask asks the other device which agents it shares with this one.
  async ask() {
    setText(this.offers, `Asking ${this.peer.name} which agents it shares…`);
    try {
      const { agents } = await get(`/api/peers/${encodeURIComponent(this.peer.device)}/agents`);
      setText(this.offers, agents.length ? `${this.peer.name} shares: ${agents.join(", ")}` : `${this.peer.name} shares no agent with you now.`);
      this.names.replaceChildren(...agents.map((x) => el("option", { value: x })));
      if (agents.length && !this.shared.value) this.shared.value = agents[0];
    } catch (p) {
      setText(this.offers, `${p.message}.`);
    }
  }

  // locals are the agents of this device.
  locals() {
    const { installed, profiles } = this.agents;
    return [
      ...profiles.filter((p) => p.kind && p.kind !== "relay").map((profile) => ({ title: profile.name, agent: { profile } })),
      ...installed.filter((x) => x.found).map((x) => ({ title: x.title, agent: { installed: x } })),
    ];
  }

  // permission says what to write into the settings if nothing may ask this device.
  permission() {
    if (this.peer.asks.length > 0) return null;
    return el("div", { class: "problem" }, el("p", {}, `No profile of your settings may ask agents of ${this.peer.name}. Add one to the settings file, then open this form again:`),
      el("pre", {}, el("code", {}, `profiles:\n  - name: orchestrator\n    allowSharedAgentCalls: true\n    allowedSharedDeviceIds: [${this.peer.device}]`)));
  }

  show() {
    this.inner.hidden = !this.own.checked;
    const { installed } = this.locals()[this.mine.value]?.agent ?? {};
    this.folder.parentElement.hidden = !installed?.tools;
    this.mine.onchange = () => this.show();
    setText(this.about, this.own.checked
      ? "Your agent drafts each message, the shared agent answers, and so on until a limit, or until you stop it. You can pause, approve and take over at any time."
      : this.own.disabled ? "No agent was found on this machine." : "You write, and the shared agent answers.");
  }

  async start() {
    const { peer, shared, objective, mode, agents } = this;
    const theirs = { peer, shared: shared.value, asks: this.asks.value };
    const room = { name: slug(objective.value), objective: objective.value, theirs, you: "You", mode: mode.select.value };
    if (this.own.checked) {
      const { agent } = this.locals()[this.mine.value];
      room.mine = { ...agent, folder: this.folder.value.trim() };
    }
    remember(peer, shared.value);
    await start(room.mine ? oneToOne(room) : chat(room), agents.dir, this.problem, this.submit);
  }
}
