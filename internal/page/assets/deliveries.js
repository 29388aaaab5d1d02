// What has become of a message, for each participant that it is addressed to.
import { el, setText } from "./dom.js";
import { time } from "./format.js";
import { deliveryState, stateName } from "./kinds.js";

// drawDeliveries makes the list of the deliveries of a message. It has its lines from
// the beginning, so that nothing moves when their states come.
export function drawDeliveries() {
  const e = el("ul", { class: "deliveries", "aria-label": "Delivery" });
  e.patch = (part, page) => {
    const all = page.deliveries ? deliveriesOf(part, page) : [];
    e.hidden = all.length === 0;
    while (e.children.length > all.length) e.lastChild.remove();
    all.forEach((d, i) => patchLine(e.children[i] ?? e.appendChild(line()), d, page));
  };
  return e;
}

// deliveriesOf returns a delivery for each receiver of a message.
function deliveriesOf({ message: m, at, removed }, page) {
  const known = m && page.deliveries(m.message_id);
  if (known?.size) return [...known.values()];
  if (!m || removed || !m.to_agent || m.to_agent === "broadcast" && !m.receivers?.length) return [];
  return (m.receivers?.length ? m.receivers : [m.to_agent]).map((to) => ({ to_agent: to, state: "posted", at }));
}

const line = () => el("li", {}, el("span", { class: "sign", "aria-hidden": "true" }), el("span"));

function patchLine(e, d, page) {
  const [sign, word, means] = deliveryState(d.state);
  e.dataset.state = stateName(d.state);
  setText(e.firstChild, sign);
  const facts = [d.turn && `turn ${d.turn}`, d.attempts && `${d.attempts} missed`].filter(Boolean).join(", ");
  const said = `${word} ${time(d.at)}${facts ? `, ${facts}` : ""}${d.reason ? `: ${d.reason}` : ""}`;
  setText(e.lastChild, `${page.name(d.to_agent)}: ${said}`);
  e.title = `${said}. ${means}.`;
}
