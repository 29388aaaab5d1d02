// The card of a call of one agent by another: who calls whom for what, how the call
// stands, its result, and the calls that were made below it, each in the same form.
//
// A card keeps its height while its state changes: each part has its place from the
// beginning.
import { isOpen } from "./calltree.js";
import { el, hueOf, setText } from "./dom.js";
import { clock, cost, count, hour, seconds, time, tokens } from "./format.js";

const states = {
  submitted: ["◷", "submitted"], working: ["…", "working"], input_required: ["!", "input required"], auth_required: ["!", "sign-in required"],
  completed: ["✓", "completed"], failed: ["✗", "failed"], canceled: ["■", "canceled"], rejected: ["✗", "rejected"],
};
const stateName = (state) => (Object.hasOwn(states, state) ? state : "working");

// drawCall makes the element of a row of a call.
export function drawCall(row) {
  const at = el("time"), which = el("span", { class: "sr" });
  const link = el("a", { class: "n", href: `#${row.key}` }, at, which), body = drawBody(link);
  const e = el("article", { tabindex: "-1", "data-kind": "call" }, ...body.parts);
  e.patch = (r, page) => {
    setText(at, hour(r.at));
    at.title = time(r.at);
    setText(which, `event ${r.from}`);
    body.patch(e, r.call, page);
    e.setAttribute("aria-label", `${body.title}, ${states[stateName(r.call.state)][1]}, event ${r.from}`);
  };
  return e;
}

// drawBody makes the parts of a card, in the timeline or in the card of a call above.
function drawBody(link = null) {
  const p = {
    title: el("strong"), state: el("span", { class: "card-state" }), task: el("p", { class: "call-task" }), now: el("p", { class: "call-now" }),
    acts: el("p", { class: "call-acts" }), more: drawMore(), below: el("ol", { class: "call-below" }),
  };
  const body = { parts: [el("header", {}, p.title, p.state, link), p.task, p.now, p.acts, p.more, p.below], title: "" };
  body.patch = (e, call, page) => {
    const state = stateName(call.state), [sign, word] = states[state];
    body.title = `${page.name(call.caller)} calling ${page.name(call.agent_name)}`;
    e.dataset.state = call.canceling && isOpen(call) ? "canceling" : state;
    e.dataset.call = call.call_id;
    e.style.setProperty("--hue", hueOf(call.agent_name));
    setText(p.title, body.title);
    setText(p.state, `${sign} ${word}`);
    setText(p.task, call.task);
    setText(p.now, now(call, page));
    patchActs(p.acts, call, page);
    p.more.patch(call);
    patchBelow(p.below, call, page);
  };
  return body;
}

// now says in a sentence how a call stands, or what it has returned.
function now(call, page) {
  const { text, asked } = call;
  if (!isOpen(call)) return returned(call, page);
  if (call.canceling) return `It is being cancelled: ${call.canceling}`;
  const what = text ? `: ${text}` : "";
  if (call.state === "submitted") return "Its room is being opened";
  if (call.state === "auth_required") return `It waits for a sign-in${what}`;
  if (call.state === "input_required") return asked === "owner" ? `It waits for you${what}` : `It asks ${page.name(asked)}${what}`;
  return call.wait_until_ns ? `${page.name(call.caller)} waits for its result` : "Its result will be a message";
}

function returned({ result: r, agent_name: agent }, page) {
  if (!r) return "It has ended";
  const facts = [`${tokens(r.tokens_used, r.estimated)} tokens`, seconds(r.duration_seconds * 1e9)];
  if (r.cost > 0) facts.push(cost(r.cost, r.cost_estimated));
  const used = r.tool_calls?.length ? `, used ${r.tool_calls.join(", ")}` : "", below = r.calls > 0 ? `, made ${count(r.calls, "call")}` : "";
  const why = r.success || !r.errors?.length ? "" : `: ${r.errors[0]}`;
  return `${page.name(agent)} returned: ${r.success ? "SUCCESS" : "FAILED"} (${facts.join(", ")})${used}${below}${why}`;
}

// patchActs offers the child room, the answer that the call waits for, and its end. What
// is not possible now keeps its place, so that nothing moves.
function patchActs(e, call, page) {
  if (!e.children.length) {
    e.append(el("a", {}, "Open its room", el("span", { class: "sr" }, `, of call ${call.call_id}`)), el("button", { type: "button", class: "link call-cancel" }, "Cancel…"), el("button", { type: "button", class: "link call-answer" }, "Answer"));
  }
  const [link, cancel, answer] = e.children, open = isOpen(call);
  link.href = `/rooms/${encodeURIComponent(call.room)}`;
  const place = (b, shown, run) => {
    b.style.visibility = shown ? "visible" : "hidden";
    b.onclick = run;
  };
  place(cancel, open && !call.canceling && page.mayCall, () => page.cancelCall(call));
  place(answer, open && call.asked === "owner" && page.mayCall, () => page.answerCall(call));
}

// drawMore makes the folded facts of a call: what it may do and use, and its result.
function drawMore() {
  const list = el("dl"), e = el("details", { class: "payload call-more" }, el("summary", {}, "Limits and result"), list);
  e.patch = (call) => {
    const key = JSON.stringify([call.rights, call.reserved, call.result]);
    if (e.key === key) return;
    e.key = key;
    list.replaceChildren(...facts(call).filter(([, text]) => text).map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text))));
  };
  return e;
}

const facts = ({ rights, reserved = {}, timeout_ns: timeout, result: r, depth, nested, permission }) => [
  ["may use", rights?.length ? rights.join(", ") : "no tools"],
  ["reserved", [reserved.tokens && `${tokens(reserved.tokens)} tokens`, reserved.cost && cost(reserved.cost), reserved.calls > 1 && count(reserved.calls - 1, "call")].filter(Boolean).join(", ")],
  ["time", clock(timeout ?? 0)],
  ["depth", `${depth}${nested ? ", it may call agents itself" : ""}`],
  ["allowed by", permission && `the permission request ${permission}`],
  ["output", r?.output],
  ["errors", r?.errors?.join("\n")],
];

// patchBelow shows the calls that the called agent has made.
function patchBelow(e, call, page) {
  const tree = page.calls(call.room);
  e.call = call;
  tree.show(call);
  const list = [...tree.calls.values()];
  e.hidden = list.length === 0;
  while (e.children.length > list.length) e.lastChild.remove();
  list.forEach((c, i) => {
    const line = e.children[i] ?? e.appendChild(drawNested());
    line.patch(c, page);
  });
  if (e.tree === tree) return;
  e.tree = tree;
  tree.addEventListener("change", () => patchBelow(e, e.call, page));
}

function drawNested() {
  const body = drawBody(), e = el("li", {}, ...body.parts);
  e.patch = (call, page) => {
    body.patch(e, call, page);
    e.setAttribute("aria-label", body.title);
  };
  return e;
}
