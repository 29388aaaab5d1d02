// Budgets of seats in words.
import { cost, time } from "./format.js";

const windows = { hour: "an hour", day: "a day", room: "the room" };
const figures = { toolCalls: "tool calls" };

const amount = (m, n) => (m.what === "cost" ? cost(n) : n.toLocaleString("en"));

// budgetText says how much of a budget is used. A spectator is told no figures.
export function budgetText(m) {
  if (!m.what) return m.level === "used" ? `its budget of ${windows[m.window]}` : `most of its budget of ${windows[m.window]}`;
  const used = `${m.estimated ? "~" : ""}${amount(m, m.used)} of ${amount(m, m.limit)}`;
  return `${m.share} % of the ${figures[m.what] ?? m.what} of ${windows[m.window]} (${used})${m.next ? `, and the next prompt needs about ${amount(m, m.next)}` : ""}`;
}

// budgetNote says what a mark means for a seat.
export function budgetNote(m, who) {
  if (m.level === "free") return `${who} has a budget of ${windows[m.window]} again`;
  if (m.level === "near") return `${who} has used ${budgetText(m)}`;
  return `${who} gets no turn: it has used ${budgetText(m)}${m.until ? `. The next turn is possible from ${time(m.until)}` : ""}`;
}
