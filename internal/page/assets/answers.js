// A card for one thing that waits for a person: a draft, a permission request or a
// question.
import { avatar, el, hueOf, setText } from "./dom.js";
import { ask, tell } from "./dialogs.js";
import { chainOf, described, inbox, wordsOf } from "./waiting.js";
import { diff, exact } from "./exact.js";
import { clock, count } from "./format.js";
import { Question } from "./question.js";

// settleTime is how long in ms a card that takes the place of another one is not
// answered, so that a click or a key does not reach the wrong item.
const settleTime = 500;

// What the kinds of items are called, and how they end for want of an answer.
const nouns = { draft: "draft", permission: "request", question: "question" };
const ends = { draft: "not sent", permission: "refused", question: "declined" };

// A Card shows one item until it ends. name returns the name of a participant of the
// item's room, left the nanoseconds until the item ends by itself, null for never.
export class Card extends HTMLElement {
  item = null;
  #left = null;
  #editor = null;
  #question = null;
  #outcome = el("p", { class: "outcome", role: "status" });
  #time = el("span", { class: "left" });
  #actions = el("div", { class: "actions" });
  #body = el("div", { class: "said" });
  #chain = el("p", { class: "chain", hidden: true });
  #quiet = 0; // until when no answer is taken

  show(item, { name = (id) => id, left, link } = {}) {
    const renamed = this.name !== undefined && name(item.agent) !== this.name(item.agent);
    this.name = name;
    this.#left = left ?? (() => (item.until ? (Date.parse(item.until) - Date.now()) * 1e6 : null));
    const phase = this.item?.phase;
    this.item = item;
    if (phase === undefined) this.#build(link);
    if (renamed) this.querySelector("h3").replaceChildren(...this.#title());
    setText(this.#chain, chainOf(item, name));
    this.#chain.hidden = !item.chain?.length;
    if (phase !== item.phase && !this.#editor) this.#drawActions();
    this.tick();
  }

  // settle ignores answers for a moment, because the card has moved.
  settle() {
    this.#quiet = performance.now() + settleTime;
    this.setAttribute("data-settling", "");
    setTimeout(() => this.removeAttribute("data-settling"), settleTime);
  }

  // tick shows how long the item still waits.
  tick() {
    const left = this.#left();
    const end = ends[this.item.kind];
    setText(this.#time, left === null ? "" : left <= 0 ? `${end} now` : `${end} in ${clock(left)}`);
  }

  get ended() {
    return this.classList.contains("is-ended");
  }

  // end says how the item has ended. A text that is being edited stays to be copied.
  end(answer) {
    this.classList.add("is-ended");
    this.#time.remove();
    this.#actions.replaceChildren(el("button", { type: "button", onclick: () => this.remove() }, "Close"));
    if (this.#editor) this.#editor.readOnly = true;
    const noun = nouns[this.item.kind];
    setText(this.#outcome, answer ? `This ${noun} was ${described(answer)}.` : `This ${noun} ended with its turn.`);
    if (this.#editor) this.#outcome.append(" Your text was not sent.");
  }

  #build(link) {
    const x = this.item, id = `item-${crypto.randomUUID()}`;
    this.className = `item item-${x.kind}`;
    this.dataset.id = x.id;
    this.setAttribute("role", "group");
    this.setAttribute("aria-labelledby", id);
    this.style.setProperty("--hue", hueOf(x.agent));
    this.append(el("div", { class: "item-head" }, avatar(x.agent, this.name(x.agent)), el("h3", { id }, ...this.#title()), link ?? null, this.#time),
      this.#chain, this.#body, this.#outcome, this.#actions);
    this.#drawBody();
  }

  #title() {
    const x = this.item, who = el("strong", {}, this.name(x.agent));
    if (x.kind === "question") return [who, " asks you"];
    if (x.permission?.kind === "call") return [who, " asks whether it may call other agents"];
    if (x.kind !== "draft") return [who, ` asks for your permission: ${x.permission.kind}`];
    return [who, x.to && x.to !== "broadcast" ? ` wants to say to ${this.name(x.to)}` : " wants to say to everybody"];
  }

  #drawBody() {
    const x = this.item;
    if (x.kind === "question") this.#question = new Question(x.question);
    this.#body.replaceChildren(...(x.kind === "draft" ? draftParts(x) : x.kind === "question" ? [this.#question.form] : permissionParts(x.permission)));
  }

  #drawActions() {
    const button = (label, key, run, c = "", more = {}) => el("button", { type: "button", class: c, "aria-keyshortcuts": key, onclick: () => this.#once(run), ...more }, label);
    if (this.item.kind === "draft") {
      const live = this.item.phase === "live";
      this.#actions.replaceChildren(button("Approve", "a", () => this.approve(), "primary approve", { disabled: !live }),
        button("Edit", "e", () => this.edit(), "edit"), button("Reject…", "x", () => this.reject(), "danger reject"),
        el("span", { class: "hint" }, live ? this.item.why : `The room is ${this.item.phase}: a draft is sent only while it is live.`));
      return;
    }
    if (this.item.kind === "question") {
      this.#actions.replaceChildren(button("Answer", "a", () => this.#fillIn(), "primary fill-in"), button("Decline…", "x", () => this.reject(), "danger reject"));
      return;
    }
    this.#actions.replaceChildren(button("Allow once", "a", () => this.approve(), "primary allow"),
      ...(this.item.permission.always ? [button("Allow always", null, () => this.#answer({ answer: "always" }), "always")] : []),
      button("Deny", "x", () => this.#answer({ answer: "deny" }), "danger deny"), button("Deny with a reason…", null, () => this.reject(), "link deny-why"));
  }

  // once runs what a person asks for, unless the card has just moved.
  #once(run) {
    if (performance.now() < this.#quiet) setText(this.#outcome, "The item before this one has ended. Look at this one, then answer.");
    else run();
  }

  // act does what a key asks for: approve, edit or reject.
  act(what) {
    if (this.ended || this.#editor) return;
    this.#once(() => what === "reject" && this.item.kind === "permission" ? this.#answer({ answer: "deny" }) : this[what]());
  }

  approve() {
    if (this.item.kind === "question") return this.#question.focus(); // a key must not send a form
    if (this.item.kind !== "draft") return this.#answer({ answer: "allow" });
    if (this.item.phase === "live") return this.#answer({ answer: "approve" });
  }

  #fillIn() {
    const values = this.#question.values();
    if (values) this.#answer({ answer: "approve", values });
  }

  async reject() {
    const who = this.name(this.item.agent);
    const [title, action] = { draft: [`Do not send the draft of ${who}`, "Reject"], permission: [`Deny what ${who} asks for`, "Deny"], question: [`Do not answer ${who}`, "Decline"] }[this.item.kind];
    const got = await ask({ title, label: this.item.kind === "permission" ? "Reason, which the agent is told (optional)" : "Reason (optional)", actions: [{ label: action, value: "reject" }] });
    if (got && !this.ended) await this.#answer({ answer: "reject", reason: got.text || undefined });
  }

  // edit lets the person write another text in place of the draft.
  edit() {
    if (this.item.kind !== "draft") return;
    this.#editor = el("textarea", { "aria-label": "Text to send in place of the draft", rows: 4, onkeydown: (e) => {
      if (e.key === "Escape") { e.stopPropagation(); this.#leaveEditor(); }
      if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) this.#sendEdited(false);
    } });
    this.#editor.value = this.item.text ?? "";
    this.#body.replaceChildren(this.#editor);
    const button = (label, c, run) => el("button", { type: "button", class: c, onclick: run }, label);
    this.#actions.replaceChildren(button("Send edited", "primary send", () => this.#sendEdited(false)), button("Keep for approval", "keep", () => this.#sendEdited(true)),
      button("Cancel", "cancel", () => this.#leaveEditor()), el("span", { class: "hint" }, "Both texts are kept."));
    this.#editor.focus();
  }

  #sendEdited(keep) {
    const text = this.#editor.value;
    if (text.trim() === "") setText(this.#outcome, "The text is empty. Reject the draft to send nothing.");
    else this.#answer({ answer: "edit", text, keep });
  }

  #leaveEditor() {
    this.#editor = null;
    this.#drawBody();
    this.#drawActions();
    this.querySelector("button.edit")?.focus();
  }

  async #answer(body) {
    const buttons = [...this.#actions.querySelectorAll("button:enabled")];
    for (const b of buttons) b.disabled = true;
    try {
      setText(this.#outcome, "");
      await inbox.answer(this.item, body);
    } catch (problem) {
      if (this.ended) return;
      if (!this.isConnected) { // another person was first, and the card is gone
        await tell({ title: "Your answer changed nothing" }, el("p", {}, wordsOf(problem)));
        return;
      }
      setText(this.#outcome, wordsOf(problem));
      for (const b of buttons) b.disabled = false;
    }
  }
}
customElements.define("moot-item", Card);

function draftParts(x) {
  return [el("pre", { tabindex: "0", class: "draft-text", "aria-label": "Text of the draft" }, ...exact(x.text ?? "")),
    x.edited ? el("p", { class: "hint" }, "A person has edited this text. The first text is in the log.") : ""];
}

// permissionParts shows all that an agent says of an action, in its own words.
function permissionParts(p) {
  const line = (label, ...value) => el("div", {}, el("dt", {}, label), el("dd", {}, ...value));
  const facts = [
    p.title && p.title !== p.command && line("says", ...exact(p.title, true)),
    p.command && line("command", el("pre", { tabindex: "0", "aria-label": "Command" }, ...exact(p.command, true))),
    p.argv?.length && line("words", ...p.argv.flatMap((w) => [el("code", { class: "word" }, ...exact(w, true)), " "])),
    p.paths?.length && line(count(p.paths.length, "file"), el("ul", {}, ...p.paths.map((f) => el("li", {}, el("code", {}, ...exact(f, true)))))),
    p.detail && !repeats(p) && line("detail", el("pre", { tabindex: "0", "aria-label": "Detail" }, ...exact(p.detail))),
  ].filter(Boolean);
  return [facts.length ? el("dl", { class: "asks" }, ...facts) : "", ...(p.diffs ?? []).map(diff),
    p.long ? el("p", { class: "warn" }, "What it writes is too long to be shown.") : ""];
}

// repeats reports whether the detail of an action says no more than its command.
function repeats({ detail, command }) {
  try {
    const said = JSON.parse(detail);
    return Object.keys(said).join() === "command" && said.command === command;
  } catch {
    return false;
  }
}
