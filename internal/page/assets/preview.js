// The preview of a policy: what it would have decided in the rounds of this room.
import { el, hueOf, setText } from "./dom.js";
import { Problem, postLines } from "./api.js";
import { count } from "./format.js";

const listed = 50; // decisions that differ, before the person asks for all
const longest = 16000; // of the address of a report: the server reads no longer ones

// openPreview asks the server for a preview and shows it in a dialog. what is the policy
// and its settings; inForce those of the room. use chooses the policy, null if the room
// has it. refuse gets the problem of a policy that cannot be used.
export function openPreview(room, what, { inForce, others, use, refuse }) {
  const ended = new AbortController();
  const before = document.activeElement;
  const id = `preview-${crypto.randomUUID()}`;
  const bar = el("progress", { max: 1, "aria-label": "Progress" });
  const said = el("p", { class: "hint", role: "status" }, "Reading the transcript…");
  const body = el("div", { class: "preview-body" }, bar, said);
  const buttons = el("div", { class: "preview-actions" }, el("button", { type: "button", onclick: () => dialog.close() }, "Close"));
  const dialog = el("dialog", { class: "preview", "aria-labelledby": id, onclose: () => {
    ended.abort(); // the server ends the replay
    dialog.remove();
    if (before?.isConnected) before.focus();
  } }, el("h2", { id }, "Preview of ", el("strong", {}, what.policy), " on this transcript"), body, buttons);
  document.body.append(dialog);
  dialog.showModal();
  run(room, what, ended.signal, ({ read, events, made, of }) => {
    bar.max = Math.max(1, of ?? events);
    bar.value = made ?? read;
    setText(said, made ? `${made} of ${count(of, "decision")}` : `Reading the transcript: ${read} of ${count(events, "event")}`);
  }).then((preview) => {
    body.replaceChildren(...result(room, preview, () => dialog.close()), report(room, what, inForce, others));
    if (!use) return;
    buttons.prepend(el("button", { type: "button", class: "primary", onclick: async (e) => {
      e.target.disabled = true;
      await use();
      dialog.close();
    } }, "Use this policy"));
  }).catch((problem) => {
    if (ended.signal.aborted) return;
    dialog.close();
    refuse(problem);
  });
}

// run returns the result of a preview.
async function run(room, what, signal, tell) {
  for await (const line of postLines(`${room.path}/preview`, what, signal)) {
    if (line.progress) tell(line.progress);
    if (line.problem) throw new Problem(line.problem);
    if (line.preview) return line.preview;
  }
  throw new Problem({ code: "PAGE-OFFLINE", detail: "the server has ended the preview", fix: "try again" });
}

// result draws a preview.
function result(room, p, close) {
  if (p.asked === 0) return [el("p", { role: "status" }, p.cut ? "The policy made no decision within 10 seconds." : "No policy has decided in this room yet, so there is nothing to compare.")];
  const differ = p.decisions.filter((d) => !d.same);
  const part = p.cut ? `The first ${p.asked} of the last rounds, because the time was over. ` : p.asked < p.points ? `The last ${p.asked} of ${p.points} rounds. ` : "";
  return [
    el("p", { class: "preview-sum", role: "status" }, el("strong", {}, differ.length === 0 ? "Every decision is the same." : `${differ.length} of ${count(p.asked, "decision")} would differ.`),
      ` ${part}${p.merged ? "No policy has decided in this room: its turns are the rounds. " : ""}`,
      el("span", { class: "hint" }, "Each decision is made on what really followed. The recorded choice is what happened, not what was best.")),
    strip(room, p), sums(room, p), differences(room, differ, close),
  ];
}

const who = (room, c) => ({ speak: room.name(c.agent), decline: "declined", finish: "completed", error: "failed" })[c.action] ?? c.action;

// cell is one decision in the picture.
function cell(room, c) {
  const e = el("i", { class: `cell cell-${c.action}` });
  if (c.agent) e.style.setProperty("--hue", hueOf(c.agent));
  return e;
}

// strip is the picture of all decisions: above the recorded one, below that of the policy.
function strip(room, p) {
  const ids = [...new Set(p.decisions.flatMap((d) => [d.recorded, d.would]).map((c) => c.agent).filter(Boolean))];
  const actions = [...new Set(p.decisions.flatMap((d) => [d.recorded.action, d.would.action]))].filter((a) => a !== "speak");
  const legend = [...ids.map((agent) => ({ action: "speak", agent })), ...actions.map((action) => ({ action }))];
  return el("figure", {},
    el("div", { class: "strip", role: "img", tabindex: 0, "aria-label": "The recorded decisions above, those of the policy below. The tables have the same." },
      ...p.decisions.map((d) => el("span", { class: d.same ? "pair" : "pair pair-differs", title: `round ${d.n}: ${who(room, d.recorded)}${d.same ? "" : `, would be: ${who(room, d.would)}`}` }, cell(room, d.recorded), cell(room, d.would)))),
    el("figcaption", { class: "legend" }, ...legend.map((c) => el("span", {}, cell(room, c), who(room, c))), el("span", {}, el("span", { class: "pair pair-differs" }), "differs"),
      el("span", { class: "hint" }, "above: recorded, below: this policy")));
}

// sums is the table of turns by participant.
function sums(room, p) {
  const most = Math.max(1, ...p.turns.flatMap((t) => [t.recorded, t.would]));
  const bar = (n, hue) => {
    const e = el("span", { class: "turns-bar" });
    e.style.setProperty("--share", `${(100 * n) / most}%`);
    e.style.setProperty("--hue", hue ?? 0);
    return el("td", {}, el("span", { class: "turns-n" }, String(n)), e);
  };
  const row = (name, a, b, hue = null) => el("tr", { class: hue === null ? "turns-rest" : "" }, el("th", { scope: "row" }, name), bar(a, hue), bar(b, hue));
  const rest = [["declined", "declines"], ["completed the room", "finishes"], ["failed: the room pauses", "errors"]].filter(([, key]) => p.recorded[key] + p.would[key] > 0);
  return el("table", { class: "turns" }, el("caption", {}, "Turns by participant"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "participant"), el("th", { scope: "col" }, "recorded"), el("th", { scope: "col" }, "this policy"))),
    el("tbody", {}, ...p.turns.map((t) => row(room.name(t.participant), t.recorded, t.would, hueOf(t.participant))), ...rest.map(([name, key]) => row(name, p.recorded[key], p.would[key]))));
}

// differences is the table of the decisions that differ, with a way to each.
function differences(room, all, close) {
  if (all.length === 0) return "";
  const body = el("tbody");
  const add = (some) => body.append(...some.map((d) => el("tr", {},
    el("th", { scope: "row" }, d.seq ? el("button", { type: "button", class: "link", onclick: () => { close(); room.select({ seq: d.seq }); } }, `round ${d.n}`) : `round ${d.n}`),
    el("td", {}, who(room, d.recorded), reason(d.recorded)), el("td", {}, who(room, d.would), reason(d.would)))));
  add(all.slice(0, listed));
  const more = el("button", { type: "button", onclick: () => { add(all.slice(listed)); more.remove(); } }, `Show the other ${all.length - listed}`);
  return el("div", { class: "differences" }, el("table", {}, el("caption", {}, "Decisions that would differ"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "round"), el("th", { scope: "col" }, "recorded"), el("th", { scope: "col" }, "this policy"))), body), all.length > listed ? more : "");
}

const reason = (c) => c.reason ? el("span", { class: "hint" }, c.reason) : "";

// report lets the person open the report of a replay, with more policies.
function report(room, what, inForce, others) {
  const link = el("a", { target: "_blank", rel: "noopener" }, "Open the report");
  const long = el("span", { class: "hint", hidden: true }, "These settings are too long for an address: use `moot replay`.");
  const boxes = others.map((p) => [p, el("input", { type: "checkbox" })]);
  const simulate = el("input", { type: "checkbox" });
  const draw = () => {
    const same = inForce.policy === what.policy && inForce.digest === what.digest && JSON.stringify(inForce.settings) === JSON.stringify(what.settings);
    const chosen = boxes.filter(([, box]) => box.checked).map(([p]) => ({ policy: p.name, digest: p.digest }));
    const all = [...(same ? [] : [inForce]), what, ...chosen];
    for (const [, box] of boxes) box.disabled = !box.checked && all.length >= 6;
    const q = new URLSearchParams(all.map((p) => ["policy", JSON.stringify(p)]));
    if (simulate.checked) q.set("simulate", "true");
    link.href = `${room.path}/replay?${q}`;
    link.hidden = link.href.length > longest;
    long.hidden = !link.hidden;
  };
  draw();
  return el("details", { class: "report", onchange: draw }, el("summary", {}, "Report with more policies"),
    el("div", { class: "boxes", role: "group", "aria-label": "More policies in the report" }, ...boxes.map(([p, box]) => el("label", { class: "setting-inline" }, box, `${p.name} ${p.version ?? ""}`))),
    el("label", { class: "setting-inline" }, simulate, "Simulate: each policy runs the recorded agents from the start"), el("p", {}, link, long));
}
