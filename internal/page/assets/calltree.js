// The calls of a child room: of the agent that was called in it. They are followed while
// the call of the room is open, and read once when it has ended.
//
// A CallTree has the calls by their ids, oldest first. It sends the event change.
import { get, socketURL } from "./api.js";

const most = 100; // calls of one room
const retry = 2000; // ms until a lost connection is made again

export class CallTree extends EventTarget {
  calls = new Map();
  #room;
  #socket = null;
  #over = false; // the room has ended, so that nothing follows
  #read = false; // the calls of an ended room were read
  #after = 0; // the number of the newest event that was received
  #timer = 0;

  constructor(room) {
    super();
    this.#room = `/api/rooms/${encodeURIComponent(room)}`;
  }

  // show says how the call of the room stands, so that the tree follows it or reads it.
  show(call) {
    const open = isOpen(call);
    if (open && call.nested && call.state !== "submitted" && !this.#socket) this.#follow();
    if (open) return;
    this.#over = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
    if (!this.#read && call.result?.calls > 0) this.#load();
  }

  #follow() {
    this.#socket = new WebSocket(socketURL(`${this.#room}/events?after=${this.#after}`));
    this.#socket.onmessage = (m) => this.#receive(JSON.parse(m.data));
    this.#socket.onclose = () => { this.#timer = setTimeout(() => this.#over || this.#follow(), retry); };
  }

  #receive({ event: e, end }) {
    if (e) this.#after = e.seq;
    if (end?.code === "ended") this.#over = true;
    if (e && applyCall(this.calls, e)) this.#changed();
  }

  async #load() {
    this.#read = true;
    try {
      for (const c of (await get(`${this.#room}/calls`)).calls) this.calls.set(c.call_id, c);
      this.#changed();
    } catch (problem) {
      this.#read = problem.status === 404; // else the server was away
    }
  }

  #changed() {
    for (const id of this.calls.keys()) {
      if (this.calls.size <= most) break;
      this.calls.delete(id);
    }
    this.dispatchEvent(new Event("change"));
  }
}

const openStates = new Set(["submitted", "working", "input_required", "auth_required"]);

// isOpen reports whether a call has no result yet.
export const isOpen = (call) => openStates.has(call.state);

// applyCall takes an event about a call into a map of calls by their ids. It returns
// whether a call has changed.
export function applyCall(calls, { type, body: b }) {
  const known = calls.get(b?.call_id);
  const rest = { asked: "", text: "", canceling: "", wait_until_ns: 0 }; // an event leaves them out if they are empty
  if (type === "call.started" && !known) calls.set(b.call_id, b);
  else if ((type === "call.changed" || type === "call.ended") && known) calls.set(b.call_id, { ...known, ...rest, ...b });
  else return false;
  return true;
}
