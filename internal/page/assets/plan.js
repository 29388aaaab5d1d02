// The plan of a room: one line that says how far it is, and the card that it opens: the
// intent with its criteria, the tasks, and the proposals that wait for the manager.
// Readers without control get no plan.
import { el, hueOf, setText } from "./dom.js";
import { count } from "./format.js";
import { bindKey } from "./keys.js";

const states = {
  submitted: ["○", "to do"], working: ["…", "working"], input_required: ["!", "input required"], auth_required: ["!", "sign-in required"],
  completed: ["✓", "completed"], failed: ["✗", "failed"], canceled: ["■", "canceled"], rejected: ["✗", "rejected"],
};
const stateName = (state) => (Object.hasOwn(states, state) ? state : "submitted");

customElements.define("moot-plan", class extends HTMLElement {
  connect(room) {
    this.room = room;
    this.stored = `moot plan ${room.id}`; // in localStorage: open, or nothing
    this.hidden = true;
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", "Plan");
    this.text = el("span", { class: "plan-line" });
    this.button = el("button", { type: "button", class: "plan-button", "aria-controls": "plan-body", "aria-keyshortcuts": "o", onclick: () => this.toggle() }, el("b", {}, "Plan"), this.text);
    this.body = el("div", { class: "plan-body", id: "plan-body", role: "group", "aria-label": "Criteria and tasks", tabindex: "0" });
    this.append(this.button, this.body);
    this.#show(localStorage.getItem(this.stored) === "open");
    bindKey("o", "Open or close the plan", () => this.hidden || this.toggle(true));
    room.addEventListener("view", () => this.draw());
  }

  // toggle opens or closes the card. The page remembers it for the room.
  toggle(focus = false) {
    this.#show(this.body.hidden);
    if (this.body.hidden) localStorage.removeItem(this.stored);
    else localStorage.setItem(this.stored, "open");
    if (focus) (this.body.hidden ? this.button : this.body).focus();
  }

  #show(open) {
    this.body.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
  }

  // draw shows the plan of the view. Where a person has scrolled to stays in sight.
  draw() {
    const { intent, criteria = [], tasks = [], proposals = [], steering = [], participants } = this.room.view;
    this.hidden = !intent && tasks.length === 0 && proposals.length === 0;
    const key = JSON.stringify([intent, criteria, tasks, proposals, steering, participants.map((p) => [p.id, p.name])]);
    if (this.hidden || key === this.key) return;
    this.key = key;
    setText(this.text, summary(criteria, tasks, proposals));
    const top = this.body.scrollTop, name = (id) => this.room.name(id);
    this.body.replaceChildren(...[drawIntent(intent), drawCriteria(criteria, name), drawTasks(tasks, name), drawProposals(proposals, name), drawSteering(steering, name)].filter(Boolean));
    this.body.scrollTop = top;
  }
});

// summary says in a line how far the plan is.
function summary(criteria, tasks, proposals) {
  const settled = criteria.filter((c) => c.met || c.waived).length, done = tasks.filter((t) => t.state === "completed").length;
  const waits = tasks.filter((t) => t.state === "input_required" || t.state === "auth_required").length;
  return [
    criteria.length && `${settled} of ${count(criteria.length, "criterion", "criteria")}`, tasks.length && `${done} of ${count(tasks.length, "task")}`,
    waits && `${waits} waiting`, proposals.length && count(proposals.length, "proposal"),
  ].filter(Boolean).join(" · ");
}

const section = (title, content) => el("section", {}, el("h2", {}, title), content);
const list = (items) => el("ul", {}, ...items.map((text) => el("li", {}, text)));

function drawIntent(intent) {
  if (!intent) return null;
  const parts = [["Constraints", intent.constraints], ["Targets", intent.targets], ["Approvals and decisions", intent.approvals]];
  return el("div", {}, intent.objective ? el("p", { class: "plan-objective" }, intent.objective) : null, ...parts.filter(([, all]) => all?.length).map(([title, all]) => section(title, list(all))));
}

// line is one line of the card: a sign with its word, the text, and what belongs to it.
function line(state, [sign, word], text, notes) {
  return el("li", { "data-state": state }, el("span", { class: "plan-state" }, el("span", { "aria-hidden": "true" }, sign), ` ${word}`), el("span", { class: "plan-text" }, ...text),
    ...notes.filter(Boolean).map((n) => el("span", { class: "plan-note" }, n)));
}

function drawCriteria(criteria, name) {
  if (criteria.length === 0) return null;
  return section("Criteria", el("ul", { class: "plan-lines" }, ...criteria.map((c) => {
    const state = c.waived ? "waived" : c.met ? "met" : c.by ? "unmet" : "open";
    const word = { met: ["✓", "met"], waived: ["–", "waived"], unmet: ["✗", "not met"], open: ["○", "open"] }[state];
    return line(state, word, [c.criterion ?? ""], [c.evidence, c.by && `said by ${name(c.by)}`]);
  })));
}

function drawTasks(tasks, name) {
  if (tasks.length === 0) return null;
  const ended = new Set(tasks.filter((t) => t.state === "completed" || t.state === "canceled").map((t) => t.id));
  return section("Tasks", el("ul", { class: "plan-lines" }, ...tasks.map((t) => {
    const state = stateName(t.state), waits = (t.after ?? []).filter((id) => !ended.has(id));
    const owner = el("span", { class: "plan-owner" }, t.owner ? name(t.owner) : "free");
    if (t.owner) owner.style.setProperty("--hue", hueOf(t.owner));
    else owner.classList.add("is-free");
    return line(state, states[state], [el("b", {}, t.id), ` ${t.title ?? ""} `, owner], [waits.length && `waits for ${waits.join(", ")}`, t.reason]);
  })));
}

function drawProposals(proposals, name) {
  if (proposals.length === 0) return null;
  return section("Proposals that wait for the manager", el("ul", { class: "plan-lines" }, ...proposals.flatMap((p) => p.tasks.map((t) =>
    line("open", ["?", "proposed"], [el("b", {}, t.id), ` ${t.title ?? ""} `], [`by ${name(p.from_agent)}`, change(t, name)])))));
}

// drawSteering shows what the manager has made of the requests of people.
function drawSteering(steering, name) {
  if (steering.length === 0) return null;
  return section("Requests of people", el("ul", { class: "plan-lines" }, ...steering.map((s) => {
    const request = el("a", { href: `#event-${s.seq}` }, `event ${s.seq}`), by = ` ${name(s.from_agent)}${s.for_agent ? `, for ${name(s.for_agent)}` : ""}`;
    if (!s.reply_id) return line("open", ["○", "not answered"], [request, by], []);
    return line("met", ["✓", "answered"], [request, by], [`${s.reply_kind.replaceAll("_", " ")} to ${name(s.reply_to)}, event ${s.reply_seq}`]);
  })));
}

// change says what a proposal changes of a task.
const change = (t, name) => [
  t.state && `state ${states[stateName(t.state)][1]}`, t.owner && `owner ${name(t.owner)}`, t.owner === "" && "without an owner", t.after?.length && `after ${t.after.join(", ")}`, t.reason,
].filter(Boolean).join(", ");
