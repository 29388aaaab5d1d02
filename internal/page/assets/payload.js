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
