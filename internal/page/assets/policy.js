// The policy of the room: which one decides, its settings, and a preview of another.
import { el, setText } from "./dom.js";
import { get, post } from "./api.js";
import { SchemaForm, same } from "./schemaform.js";
import { openPreview } from "./preview.js";

// The panels of one page show the same list.
const lists = new WeakMap(); // by room: a promise

function policiesOf(room, again = false) {
  if (again || !lists.has(room)) lists.set(room, get(`${room.path}/policies`).then((list) => list.policies));
  return lists.get(room);
}

// nameOf names a policy among others: two of one name are told apart by their versions.
function nameOf(p, all) {
  const others = all.filter((x) => x.name === p.name);
  const version = others.length > 1 ? ` ${p.version}` : "";
  const module = others.some((x) => x !== p && x.version === p.version) ? ` (${p.digest.slice(0, 8)})` : "";
  return p.name + version + module;
}

const keyOf = (p) => `${p.name} ${p.digest}`;

customElements.define("moot-policy", class extends HTMLElement {
  #all = [];
  #form = null;
  #changed = false; // by the person, and not yet in force

  connect(room) {
    this.room = room;
    this.classList.add("policy");
    this.setAttribute("role", "group");
    this.setAttribute("aria-label", "Policy");
    this.now = el("p", { class: "policy-now" });
    this.append(el("h2", {}, "Policy"), this.now);
    room.addEventListener("view", () => this.follow());
    if (room.view) this.follow();
  }

  // follow shows the policy in force when it has changed, unless the person is about to
  // choose another.
  async follow() {
    const { room } = this;
    const { policy_in_force: now, phase, ending } = room.view;
    this.over = phase === "stopped" || phase === "completed" && ending?.cause !== "settled";
    if (this.use) this.state();
    if (!now || same(now, this.inForce)) return;
    const first = !this.inForce;
    this.inForce = now;
    if (!room.may("control")) {
      setText(this.now, `${now.name} ${now.version ?? ""} decides who speaks next.`);
      return;
    }
    if (first) this.draw();
    if (this.#changed) {
      this.tell(`The room now has the policy ${now.name}.`);
      return;
    }
    await this.load(!first);
  }

  draw() {
    this.choice = el("select", { onchange: () => this.choose(), onpointerdown: () => this.refresh(), onfocus: () => this.refresh() });
    this.about = el("p", { class: "hint" });
    this.place = el("div");
    this.use = el("button", { type: "submit", class: "primary" }, "Use this policy");
    this.undo = el("button", { type: "button", onclick: () => this.reset() }, "Reset");
    this.said = el("p", { class: "hint", role: "status" });
    this.ended = el("p", { class: "hint", hidden: true }, "The room has ended. It takes another policy once it goes on.");
    this.now.replaceWith(el("form", { novalidate: true, onsubmit: (e) => { e.preventDefault(); this.change(); } },
      el("label", { class: "field" }, "Speaker policy", this.choice), this.about, this.place,
      el("div", { class: "policy-actions" }, this.use, this.undo), this.ended,
      el("button", { type: "button", class: "link", onclick: () => this.preview() }, "Preview on this transcript"), this.said));
  }

  // load reads the list of policies, and shows the one in force.
  async load(again) {
    try {
      this.#all = await policiesOf(this.room, again);
    } catch (problem) {
      lists.delete(this.room);
      this.room.fail(problem);
      return;
    }
    if (!this.#changed) this.reset();
  }

  // refresh reads the list again, in which a policy may be that was just installed.
  async refresh() {
    if (Date.now() - (this.read ?? 0) < 2000) return;
    this.read = Date.now();
    const before = this.choice.value;
    const all = await policiesOf(this.room, true).catch(() => this.#all);
    if (all.map(keyOf).join() === this.#all.map(keyOf).join()) return;
    this.#all = all;
    this.list(before);
  }

  // list shows the names of the policies, and chooses one.
  list(key) {
    const options = this.#all.map((p) => el("option", { value: keyOf(p), selected: keyOf(p) === key }, nameOf(p, this.#all)));
    if (!this.#all.some((p) => keyOf(p) === key)) options.unshift(el("option", { value: key, selected: true }, this.inForce.name));
    this.choice.replaceChildren(...options);
  }

  // reset shows the policy in force with its settings.
  reset() {
    this.list(keyOf(this.inForce));
    this.show(this.inForce.settings ?? {});
    this.#changed = false;
    this.state();
  }

  // choose shows the policy that the person has chosen, with its defaults.
  choose() {
    this.show(keyOf(this.inForce) === this.choice.value ? this.inForce.settings ?? {} : {});
    this.touched();
  }

  get chosen() { return this.#all.find((p) => keyOf(p) === this.choice.value); }

  show(value) {
    const p = this.chosen;
    setText(this.about, p ? [p.description, p.origin === "installed" ? `Version ${p.version}, installed.` : p.origin === "log" ? "Kept with this room." : ""].filter(Boolean).join(" ") : "The module of this policy is not here.");
    this.#form = p && new SchemaForm({ schema: p.schema, value, defaults: p.defaults, seats: this.room.view.participants, onchange: () => this.touched() });
    this.place.replaceChildren(...(this.#form ? [this.#form.element] : []));
  }

  touched() {
    this.#changed = true;
    this.tell("");
    this.state();
  }

  state() {
    this.use.disabled = !this.#changed || !this.chosen || this.over;
    this.undo.hidden = !this.#changed;
    this.ended.hidden = !this.over;
  }

  tell(text) { setText(this.said, text); }

  // what returns the policy and the settings of the form, null if they are not valid.
  what() {
    if (!this.#form?.valid()) return null;
    const { name, digest } = this.chosen;
    return { policy: name, digest, settings: this.#form.value() };
  }

  // change makes the room use the policy, and reports whether it does.
  async change() {
    const what = this.what();
    if (!what) return false;
    this.use.disabled = true;
    this.tell("Checking the policy…"); // a policy of others is compiled at its first use
    try {
      await post(`${this.room.path}/commands`, { id: crypto.randomUUID(), as: this.room.you || undefined, do: "policy", ...what });
    } catch (problem) {
      this.tell("");
      this.state();
      if (problem.code !== "ROOM-SETTINGS" || !this.#form.show(problem)) this.room.fail(problem);
      return false;
    }
    this.#changed = false;
    this.choice.focus();
    this.state();
    this.tell(`${what.policy} decides from the next round on.`);
    return true;
  }

  preview() {
    const what = this.what();
    if (!what) return;
    const now = this.inForce;
    openPreview(this.room, what, {
      inForce: { policy: now.name, digest: now.digest, settings: now.settings ?? {} },
      others: this.#all.filter((p) => p !== this.chosen && keyOf(p) !== keyOf(now)),
      use: this.#changed && !this.over ? () => this.change() : null,
      refuse: (problem) => problem.code === "ROOM-SETTINGS" && this.#form.show(problem) || this.room.fail(problem),
    });
  }
});
