// What the agent of a turn does besides writing: its tool calls, folded, and what it
// has asked its owner with the answers, which are given in the dock.
import { el, setText } from "./dom.js";
import { count } from "./format.js";
import { by } from "./notes.js";

// drawActions makes the element of the tool calls and permission requests of a turn.
export function drawActions() {
  const tools = drawTools(), requests = drawRequests();
  const e = el("div", { class: "acts" }, tools, requests);
  e.patch = (row, page) => {
    const calls = row.message?.tools ?? row.used?.tools ?? row.tools ?? [];
    tools.patch(calls, row.message?.tools_more ?? row.used?.more ?? 0, row.state === "speaking");
    requests.patch(row.requests ?? [], page);
    e.hidden = tools.hidden && requests.hidden;
  };
  return e;
}

const marks = { completed: "✓", failed: "✗", in_progress: "…", pending: "…" };
const called = (t) => t.title || [t.kind, ...(t.paths ?? [])].join(" ");

// drawTools shows the number of tool calls and the last one on a line that opens.
function drawTools() {
  const number = el("b"), last = el("code"), list = el("ol");
  const e = el("details", { class: "tools" }, el("summary", {}, number, " ", last), list);
  e.patch = (calls, more, running) => {
    e.hidden = calls.length === 0;
    if (e.hidden) return;
    setText(number, count(calls.length + more, "tool call"));
    setText(last, called(calls.at(-1)) + (running ? " …" : ""));
    while (list.children.length > calls.length) list.lastChild.remove();
    calls.forEach((call, i) => {
      const line = list.children[i] ?? list.appendChild(el("li", {}, el("span", { "aria-hidden": "true" }), el("code"), el("span", { class: "sr" })));
      setText(line.children[0], marks[call.status] ?? "·");
      setText(line.children[1], called(call));
      setText(line.children[2], call.status ? `, ${call.status.replace("_", " ")}` : "");
      line.dataset.status = call.status ?? "";
    });
    e.dataset.more = more ? `and ${more} more` : "";
  };
  return e;
}

// drawRequests shows permission requests. More than two are folded.
function drawRequests() {
  const e = el("div", { class: "requests" }), lines = el("div");
  let title = null;
  e.append(lines);
  e.patch = (all, page) => {
    e.hidden = all.length === 0;
    if (all.length > 2 && !title) e.append(el("details", {}, title = el("summary"), lines));
    all.forEach((r, i) => {
      const line = lines.children[i] ?? lines.appendChild(el("p", { class: "request" }, el("code"), el("span")));
      setText(line.firstChild, action(r.permission));
      setText(line.lastChild, answer(r, page));
      line.dataset.answer = r.answer ? (r.answer.allowed ? "allowed" : "refused") : "waits";
    });
    const waiting = all.filter((r) => !r.answer).length;
    if (title) setText(title, `${all.length} permission requests${waiting ? `, ${waiting} waiting` : ""}`);
  };
  return e;
}

const action = (p) => p.command || p.argv?.join(" ") || p.title || [p.kind, ...(p.paths ?? [])].join(" ");

const refusals = { timeout: "refused: no person answered in time", cancelled: "cancelled with its turn", room: "refused", rule: "refused by a rule" };

function answer({ answer: a }, page) {
  if (!a) return "waits for an answer";
  const because = a.reason && a.by !== "timeout" ? `: ${a.reason}` : "";
  if (!a.allowed) return (refusals[a.by] ?? `denied${by(a.by, page.called)}`) + because;
  if (a.values) return `answered${by(a.by, page.called)}`;
  if (a.by === "rule") return `allowed by the rule ${a.reason}`;
  return `allowed${a.always ? " for good" : ""}${by(a.by, page.called)}`;
}
