// The panel of the room: what it has used of its limits, and what each participant costs.
import { el } from "./dom.js";
import { clock, cost, seconds, tokens } from "./format.js";
import { facts } from "./decision.js";
import "./limits.js";
import "./limits.js";

// gauge draws how much of a limit is used.
function gauge(name, used, limit, words) {
  const share = limit ? `${Math.min(100, Math.round((100 * used) / limit))} % of ` : "";
  return limit && el("div", { class: "gauge" }, el("span", {}, name),
    el("meter", { min: 0, max: limit, high: 0.8 * limit, value: Math.min(used, limit), "aria-label": name, title: share + words(limit) }),
    el("span", {}, `${words(used)} / ${words(limit)}`));
}

export class RoomPanel {
  title = "Room";

  connect(room, body) {
    this.room = room;
    this.state = el("div");
    const limits = document.createElement("moot-limits");
    body.append(this.state, limits);
    limits.connect(room);
  }

  show() {
    const v = this.room.view;
    const { tally: t, limits: l } = v;
    const plain = String;
    this.state.replaceChildren(
      el("h2", {}, "Limits"),
      el("div", { class: "gauges" }, ...[
        gauge("Turns", t.turns, l.max_turns, plain), gauge("Time", v.clock_ns, l.max_duration_ns, clock), gauge("Tokens", t.tokens, l.max_tokens, (n) => tokens(n)),
        gauge("Cost", t.cost, l.max_cost, (n) => cost(n)), gauge("Failures in a row", t.failures, l.max_failures, plain), gauge("Declined in a row", t.declines, l.max_declines, plain),
      ].filter(Boolean)),
      facts([
        ["Messages", String(t.messages)], ["Declined rounds", String(t.declined)], ["Passed turns", t.passed && String(t.passed)], ["Failed turns", String(t.errors)],
        ["Tokens", tokens(t.tokens, t.estimated)], ["Cost", t.cost > 0 && cost(t.cost, t.cost_estimated)], ["Ended", v.ending?.reason],
        ["Time of a turn", l.turn_timeout_ns && `at most ${clock(l.turn_timeout_ns)}`], ["Draft", l.draft_timeout_ns && `not sent after ${clock(l.draft_timeout_ns)}`],
        ["Permission", l.permission_timeout_ns && `refused after ${clock(l.permission_timeout_ns)}`], ["Events", String(v.seq)], ["Room", el("code", {}, v.room)],
      ]),
      el("h2", {}, "Participants"), this.#table(v));
  }

  #table(v) {
    const agents = v.participants.filter((p) => p.badge !== "human");
    return el("table", { class: "costs" },
      el("thead", {}, el("tr", {}, ...["", "Turns", "Latency", "Tokens", "Cost"].map((h) => el(h ? "th" : "td", h ? { scope: "col" } : {}, h)))),
      el("tbody", {}, ...agents.map((p) => el("tr", {}, el("th", { scope: "row" }, p.name || p.id), el("td", {}, String(p.turns)), el("td", {}, p.avg_latency_ns ? seconds(p.avg_latency_ns) : "–"),
        el("td", {}, tokens(p.tokens, p.estimated)), el("td", {}, p.cost ? cost(p.cost, p.cost_estimated) : "–")))));
  }
}
