// The dialog that makes a room: its objective, its agents, how they are approved, the
// policy and the limits.
import { el, setText } from "./dom.js";
import { get, post } from "./api.js";
import { roomOf, slug } from "./roomspec.js";
import { SchemaForm } from "./schemaform.js";
import { modeMeans } from "./words.js";

export const modes = [["manual", "Manual"], ["semi_auto", "Semi-automatic"], ["full_auto", "Automatic"]];

// modeField is a choice of the approval mode, which says what it means.
export function modeField() {
  const hint = el("span", { class: "hint" });
  const select = el("select", { name: "mode", onchange: () => setText(hint, modeMeans(select.value)) }, ...modes.map(([value, text]) => el("option", { value }, text)));
  setText(hint, modeMeans("manual"));
  return { select, element: el("label", { class: "field" }, "Approval of messages", select, hint) };
}

// start makes a room and opens its page. A failure is shown in problem.
export async function start(yaml, dir, problem, button) {
  button.disabled = true;
  problem.replaceChildren();
  try {
    const { room } = await post("/api/rooms", { yaml: JSON.stringify(yaml), dir });
    location.assign(`/rooms/${encodeURIComponent(room)}`);
  } catch (p) {
    button.disabled = false;
    showProblem(problem, p);
  }
}

// showProblem shows why no room was made: all that is wrong, and what to do.
export function showProblem(place, p) {
  const causes = p.errors?.length ? p.errors.map((e) => el("li", {}, [e.where?.replace(/^.*?:\d+:\d+: ?/, ""), e.what].filter(Boolean).join(": "))) : [];
  place.replaceChildren(el("p", {}, p.message), ...(causes.length ? [el("ul", {}, ...causes)] : []), ...(p.fix ? [el("p", { class: "hint" }, p.fix)] : []));
  place.scrollIntoView({ block: "nearest" });
}

// openModal shows a form as a modal dialog and returns the dialog.
export function openModal(title, ...content) {
  const before = document.activeElement;
  const dialog = el("dialog", { class: "create", "aria-labelledby": "create-title", onclose: () => { dialog.remove(); before?.focus(); } });
  dialog.append(el("div", { class: "create-head" }, el("h2", { id: "create-title" }, title), el("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => dialog.close() }, "×")), ...content);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// A Choice is an agent with a box.
function choiceOf(title, note, agent, attributes = {}) {
  const box = el("input", { type: "checkbox", name: "agent", ...attributes });
  return { box, agent, element: el("label", { class: "agent-choice" }, box, el("span", {}, el("strong", {}, title), el("span", { class: "hint" }, note))) };
}

class Creation {
  constructor(agents, policies) {
    this.agents = agents;
    this.policies = policies;
    this.objective = el("textarea", { name: "objective", rows: 3, required: true, maxlength: 16000, placeholder: "What the agents should work on", oninput: () => this.suggestName() });
    this.name = el("input", { name: "name", maxlength: 63, pattern: "[a-z0-9][a-z0-9\\-]*", title: "lower-case letters, digits and -", oninput: () => { this.named = true; } });
    this.folder = el("input", { name: "folder", value: agents.folder, spellcheck: "false" });
    this.you = el("input", { name: "you", value: "You", maxlength: 28, pattern: "[A-Za-z][A-Za-z0-9_\\-]*", title: "a letter, then letters, digits, _ and -" });
    this.mode = modeField();
    this.problem = el("div", { class: "problem", role: "alert" });
    this.submit = el("button", { class: "primary", type: "submit" }, "Create room");
    this.choices = this.findChoices();
    this.form = el("form", { onsubmit: (e) => { e.preventDefault(); this.create(); } },
      el("label", { class: "field" }, "Objective", this.objective), this.agentField(), this.mode.element, this.policyField(),
      el("details", {}, el("summary", {}, "Name, folder and limits"),
        el("div", { class: "field-pair" }, el("label", { class: "field" }, "Name of the room", this.name), el("label", { class: "field" }, "Your name in the room", this.you)),
        el("label", { class: "field" }, "Folder in which the agents work", this.folder), this.limitFields()),
      this.problem, el("div", { class: "row-end" }, this.submit));
  }

  suggestName() {
    if (!this.named) this.name.value = slug(this.objective.value);
  }

  findChoices() {
    const { installed, profiles, peers } = this.agents;
    return [
      ...installed.filter((x) => x.found).map((x) => choiceOf(x.title, x.permissions || x.where, { installed: x }, { value: x.name })),
      ...profiles.filter((p) => p.kind && p.kind !== "relay").map((p) => choiceOf(p.name, `profile, ${p.kind}`, { profile: p }, { value: `profile ${p.name}` })),
      ...peers.flatMap((peer) => rememberedOf(peer).map((shared) => choiceOf(shared, `shared by ${peer.name}`, { peer, shared, asks: peer.asks[0] }, { value: `${peer.name}/${shared}` }))),
    ];
  }

  agentField() {
    const missing = this.agents.installed.filter((x) => !x.found);
    const none = this.choices.length === 0 ? [el("p", { class: "hint" }, "No agent was found on this machine.")] : [];
    return el("fieldset", { class: "agent-choices" }, el("legend", {}, "Agents"), ...none, ...this.choices.map((c) => c.element),
      missing.length > 0 && el("details", {}, el("summary", {}, `${missing.length} more that this machine lacks`),
        el("dl", {}, ...missing.flatMap((x) => [el("dt", {}, x.title), el("dd", {}, el("code", {}, x.fix))]))));
  }

  policyField() {
    this.settings = el("div");
    this.about = el("span", { class: "hint" });
    this.policy = el("select", { name: "policy", onchange: () => this.choosePolicy({}) }, ...this.policies.map((p) => el("option", { value: p.name }, p.name)));
    const mention = this.policies.some((p) => p.name === "mention");
    if (mention) this.policy.value = "mention";
    this.choosePolicy(mention ? { fallback: "roundrobin" } : {});
    return el("div", {}, el("label", { class: "field" }, "Who speaks next: the policy", this.policy, this.about), el("details", {}, el("summary", {}, "Settings of the policy"), this.settings));
  }

  choosePolicy(value) {
    const p = this.policies.find((x) => x.name === this.policy.value);
    setText(this.about, p?.description ?? "");
    this.form_ = p && new SchemaForm({ schema: p.schema, defaults: p.defaults ?? {}, value });
    this.settings.replaceChildren(...(this.form_ ? [this.form_.element] : []));
  }

  limitFields() {
    this.turns = el("input", { type: "number", name: "maxTurns", min: 1, max: 1000000, value: 12 });
    this.minutes = el("input", { type: "number", name: "minutes", min: 1, max: 10000, placeholder: "30" });
    this.tokens = el("input", { type: "number", name: "maxTokens", min: 1, placeholder: "none" });
    return el("div", { class: "field-pair" }, el("label", { class: "field" }, "Turns at most", this.turns), el("label", { class: "field" }, "Minutes at most", this.minutes), el("label", { class: "field" }, "Tokens at most", this.tokens));
  }

  limits() {
    const out = {};
    if (this.turns.value) out.maxTurns = Number(this.turns.value);
    if (this.minutes.value) out.maxDuration = `${this.minutes.value}m`;
    if (this.tokens.value) out.maxTokens = Number(this.tokens.value);
    return out;
  }

  async create() {
    const chosen = this.choices.filter((c) => c.box.checked).map((c) => ({ ...c.agent, folder: this.folder.value.trim() }));
    if (chosen.length === 0) {
      showProblem(this.problem, { message: "No agent is chosen.", fix: "Choose at least one." });
      return;
    }
    if (this.form_ && !this.form_.valid()) return;
    const settings = this.form_?.value() ?? {};
    await start(roomOf({
      name: this.name.value, objective: this.objective.value, agents: chosen, you: this.you.value, mode: this.mode.select.value,
      policy: { use: this.policy.value, ...(Object.keys(settings).length > 0 ? { settings } : {}) }, limits: this.limits(),
    }), this.agents.dir, this.problem, this.submit);
  }
}

// rememberedOf returns the names of the profiles of a peer that were used on this browser.
export function rememberedOf(peer) {
  try {
    return JSON.parse(localStorage.getItem(`shared ${peer.device}`) ?? "[]").filter((x) => typeof x === "string");
  } catch {
    return [];
  }
}

// remember keeps the name of a profile of a peer.
export function remember(peer, shared) {
  const names = [shared, ...rememberedOf(peer).filter((x) => x !== shared)].slice(0, 8);
  localStorage.setItem(`shared ${peer.device}`, JSON.stringify(names));
}

// openCreate opens the dialog. The lists are those of now.
export async function openCreate() {
  const body = el("div", {}, el("p", { class: "hint", role: "status" }, "Looking for agents…"));
  openModal("New room", body);
  try {
    const [agents, { policies }] = await Promise.all([get("/api/agents"), get("/api/policies")]);
    const creation = new Creation(agents, policies);
    body.replaceChildren(creation.form);
    creation.objective.focus();
  } catch (p) {
    showProblem(body, p);
  }
}
