// The payload of a message: JSON of an agent, folded, as it is written.
import { get } from "./api.js";
import { el, setText } from "./dom.js";
import { exact } from "./exact.js";

const most = 20_000; // characters that are shown

// drawPayload makes the element of a payload, which is read when it is opened. Pages
// get a long payload only then.
export function drawPayload() {
  const size = el("span"), text = el("pre", { tabindex: "0", "aria-label": "Payload" });
  const e = el("details", { class: "payload" }, el("summary", {}, "Payload", size), text);
  let part, room, drawn = 0;
  e.addEventListener("toggle", async () => {
    if (!e.open || drawn === part.seq) return;
    drawn = part.seq;
    try {
      text.replaceChildren(...exact(written(await payloadOf(part, room))));
    } catch (problem) {
      drawn = 0;
      setText(text, problem.message);
    }
  });
  e.patch = (p, page) => {
    part = p;
    room = page.room;
    const { payload } = p.message ?? {};
    e.hidden = p.removed || payload === undefined && !p.bytes;
    setText(size, p.bytes ? ` (${Math.ceil(p.bytes / 1024)} KB)` : "");
  };
  return e;
}

async function payloadOf({ seq, message, bytes }, room) {
  return bytes ? (await get(`${room.path}/history/${seq}`)).event.body.message.payload : message.payload;
}

function written(payload) {
  const text = JSON.stringify(payload, null, 2) ?? "";
  return text.length > most ? `${text.slice(0, most)}\n… ${text.length - most} characters more` : text;
}

// field returns the first of the fields of a payload that is a text or a number, as a
// text of a line, "" for none.
export function field(message, ...names) {
  const p = message?.payload;
  if (p === null || typeof p !== "object" || Array.isArray(p)) return "";
  for (const name of names) {
    const v = Object.hasOwn(p, name) ? p[name] : undefined;
    if (typeof v === "string" && v.trim() || typeof v === "number") return String(v).split("\n", 1)[0].slice(0, 120);
  }
  return "";
}

const words = {
  failed: ["failed", "failure", "error", "errored", "denied", "refused", "rejected", "cancelled", "canceled", "timeout", "timed_out"],
  done: ["ok", "passed", "pass", "success", "succeeded", "done", "completed", "complete", "built", "finished"],
  running: ["started", "running", "queued", "building", "pending", "in_progress", "working"],
};

// progress returns running, done or failed, as a payload states it, "" if it does not.
export function progress(message) {
  const said = field(message, "status", "state", "outcome", "result").toLowerCase().replace(/[ -]/g, "_");
  for (const [state, all] of Object.entries(words)) if (all.includes(said)) return state;
  const p = message?.payload;
  if (p === null || typeof p !== "object") return "";
  if (p.ok === false || p.success === false || p.error) return "failed";
  if (p.ok === true || p.success === true) return "done";
  const code = p.exit_code ?? p.exitCode;
  return Number.isInteger(code) ? (code === 0 ? "done" : "failed") : "";
}
