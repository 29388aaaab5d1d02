// What waits for a person, in all rooms. Listeners get:
//
//   change  {began: item, known, first}: known if it waited before and has changed, first
//           if it waited when the page was opened; {ended: {id, answer}}; or {checked}
import { get, post, Problem, socketURL } from "./api.js";

// mostAnswers is how many answers the page remembers.
const mostAnswers = 256;

class Inbox extends EventTarget {
  items = new Map(); // by id, the oldest first
  answers = new Map(); // of items that have ended, by id
  #own = new Set(); // ids that this page has answered
  #stale = new Set(); // ids that are not known to wait still
  #started = null;
  #checked = false; // the list of the first connection is complete
  #tries = 0;

  // start follows the items, if this browser may see them. It returns a promise of
  // whether it may.
  start() {
    this.#started ??= get("/api/caller").then((caller) => {
      const may = caller.scope === "control" || caller.scope === "admin";
      if (may) this.#connect();
      return may;
    }, () => false);
    return this.#started;
  }

  // of returns the items of a room and of the child rooms below it.
  of(room) {
    return [...this.items.values()].filter((x) => isBelow(x, room));
  }

  // answer gives a person's answer to an item. A failure is a Problem.
  async answer(item, body) {
    this.#own.add(item.id);
    try {
      const person = await personIn(item.room);
      await post(`/api/inbox/${item.id.split("/").map(encodeURIComponent).join("/")}/answer`, { as: person || undefined, ...body });
    } catch (problem) {
      this.#own.delete(item.id);
      throw problem;
    }
  }

  // answered reports whether this page has answered the item.
  answered(id) {
    return this.#own.has(id);
  }

  #connect() {
    const socket = new WebSocket(socketURL("/api/inbox/changes"));
    socket.onopen = () => { this.#tries = 0; this.#check(); };
    socket.onmessage = (m) => this.#receive(JSON.parse(m.data));
    socket.onclose = () => setTimeout(() => this.#connect(), Math.min(10000, 250 * 2 ** this.#tries++) * (0.5 + Math.random() / 2));
  }

  // check removes items that have ended while there was no connection: those that
  // neither the server lists nor this connection has brought.
  async #check() {
    this.#stale = new Set(this.items.keys());
    try {
      for (const x of (await get("/api/inbox")).items) this.#stale.delete(x.id);
    } catch {
      return; // the connection is lost again
    }
    const gone = [...this.#stale];
    this.#stale.clear();
    for (const id of gone) this.#end({ id });
    this.#checked = true;
    this.#emit({ checked: true });
  }

  #receive({ item, ended }) {
    if (ended) {
      this.#end(ended);
    } else if (item) {
      this.#stale.delete(item.id);
      const known = this.items.has(item.id);
      this.items.set(item.id, item);
      this.#emit({ began: item, known, first: !this.#checked });
    }
  }

  #end(ended) {
    if (ended.answer) this.answers.set(ended.id, ended.answer);
    if (this.answers.size > mostAnswers) this.answers.delete(this.answers.keys().next().value);
    if (this.items.delete(ended.id)) this.#emit({ ended });
  }

  #emit(detail) {
    this.dispatchEvent(new CustomEvent("change", { detail }));
    document.dispatchEvent(new CustomEvent("moot-inbox", { detail: { items: [...this.items.values()] } })); // for parts that count only
  }
}

export const inbox = new Inbox();

// isBelow reports whether an item waits in a room or in a child room below it.
export const isBelow = (item, room) => item.room === room || Boolean(item.chain?.some((link) => link.room === room));

// chainOf says who called whom until the agent was called that waits, "" for an agent
// that no other has called.
export function chainOf({ chain = [], agent }, name) {
  return chain.map((link, i) => `${name(link.agent)} called ${name(chain[i + 1]?.agent ?? agent)}`).join(", ");
}

const views = new Map(); // promises of the views of rooms, for their names

// viewOf returns a promise of the view of a room as it stood when it was first asked for.
export function viewOf(room) {
  if (!views.has(room)) views.set(room, get(`/api/rooms/${encodeURIComponent(room)}`));
  return views.get(room);
}

// personIn returns who answers in a room: its first person of this device, "" for the
// host.
const personIn = async (room) => (await viewOf(room)).participants.find((p) => p.kind === "human" && !p.device && p.phase !== "removed")?.id ?? "";

// described says what an answer was: "approved by ann on the page at 14:02:11".
export function described({ what, by, via, at }) {
  const from = { page: "on a page", socket: "in another terminal", terminal: "in the terminal", http: "over HTTP", mcp: "by a tool" }[via] ?? "";
  const who = by && by !== "room" ? `by ${by}` : "";
  return [what, who, from, at ? `at ${new Date(at).toLocaleTimeString()}` : ""].filter(Boolean).join(" ");
}

// waitsFor returns what an item waits for.
export const waitsFor = (item) => ({ draft: "approval", permission: "permission", question: "answer" })[item.kind];

// wordsOf says why an answer was refused, as a line for the person.
export const wordsOf = (problem) => problem instanceof Problem ? [problem.message, problem.fix].filter(Boolean).join("; ") : "the page has failed";
