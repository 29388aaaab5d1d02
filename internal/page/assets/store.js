// What the page knows of its room. The parts of the page listen to it:
//
//   history  the newest stored events have come: {events, first, last, tail}
//   event    an event has come: {event, html}
//   live     text of the turn that runs, or "pausing"
//   view     how the room stands has changed: this.view is new, this.before the one before
//   mail     what has become of messages has changed: this.mail and this.deliveries are
//            new; {changed} are the ids of messages
//   thread   a person has chosen an internal message: {seq}
//   answer   a person wants to answer what waits in a child room: {room}
//   link     the connection has changed: this.link is connecting, open, waiting or ended
//   select   a person has chosen what the inspector shows: {turn} or {seq} or {seat}
//   problem  a request has failed: a Problem
import { assignHues } from "./dom.js";
import { get, post, socketURL } from "./api.js";

const scopes = ["read", "talk", "control", "admin"];

export class Room extends EventTarget {
  view = null;
  before = null;
  caller = null;
  mail = null; // {internal, dead, letters}; null for readers who may not see it
  deliveries = new Map(); // by message and receiver
  link = "connecting";
  last = 0; // the number of the newest event that was received
  pausing = false; // a person has paused the room, and the event has not come yet
  #newest = null; // the newest event, for the clock
  #socket = null;
  #tries = 0;
  #timer = 0;

  constructor(id) {
    super();
    this.id = id;
    this.path = `/api/rooms/${encodeURIComponent(id)}`;
  }

  // start reads the newest events, then follows.
  async start() {
    this.caller = await get("/api/caller");
    const h = await this.history({});
    this.last = h.tail;
    this.#newest = h.events.at(-1)?.event;
    this.#show(await get(this.path));
    this.#emit("history", h);
    this.#connect();
    window.addEventListener("online", () => this.#now());
    document.addEventListener("visibilitychange", () => document.hidden || this.#now());
  }

  // history reads stored events: {before} or {after}, those around a {turn}, or the
  // newest; with {search} only those with a text.
  history({ limit = 300, ...part }) {
    const q = new URLSearchParams({ limit });
    for (const [key, value] of Object.entries(part)) if (value) q.set(key, value);
    return get(`${this.path}/history?${q}`);
  }

  // may reports whether this browser has a scope.
  may(scope) {
    return scopes.indexOf(this.caller?.scope) >= scopes.indexOf(scope);
  }

  // seat returns a participant of the view.
  seat(id) {
    return this.view?.participants.find((p) => p.id === id);
  }

  // name returns the name of a participant.
  name(id) {
    return this.seat(id)?.name || id;
  }

  // you returns the id of the person who uses this page: the first one of this device on
  // the roster, "" if that is the host.
  get you() {
    return this.caller?.seat ?? this.view?.participants.find((p) => p.kind === "human" && !p.device && p.phase !== "removed")?.id ?? "";
  }

  // clock returns the running time of the room now, in nanoseconds.
  clock() {
    const { phase, clock_ns } = this.view;
    if (phase !== "live" || !this.#newest) return clock_ns;
    return this.#newest.clock_ns + Math.max(0, Date.now() - Date.parse(this.#newest.at)) * 1e6;
  }

  // command sends what a person does. The id makes a repeated request harmless. A failure
  // is shown to the person, and the result is then null.
  async command(act) {
    try {
      return await post(`${this.path}/commands`, { id: crypto.randomUUID(), as: this.you || undefined, ...act });
    } catch (problem) {
      this.fail(problem);
      return null;
    }
  }

  fail(problem) {
    this.#emit("problem", problem);
  }

  select(what) {
    this.selected = what;
    this.#emit("select", what);
  }

  #connect() {
    clearTimeout(this.#timer);
    const socket = new WebSocket(socketURL(`${this.path}/events?form=page&follow=true&after=${this.last}`));
    this.#socket = socket;
    socket.onopen = () => { this.#tries = 0; this.#setLink("open"); };
    socket.onmessage = (m) => this.#receive(JSON.parse(m.data));
    socket.onclose = () => {
      if (this.#socket !== socket || this.link === "ended") return;
      this.#setLink("waiting");
      const wait = Math.min(10000, 250 * 2 ** this.#tries++) * (0.5 + Math.random() / 2);
      this.#timer = setTimeout(() => this.#connect(), wait);
    };
  }

  #now() {
    if (this.link === "waiting") this.#connect();
  }

  #receive(u) {
    if (u.event) {
      if (u.event.seq <= this.last) return;
      this.last = u.event.seq;
      this.#newest = u.event;
      if (/^room\.(?!claimed)/.test(u.event.type)) this.pausing = false;
      this.#emit("event", u);
    } else if (u.view) {
      this.#show(u.view);
    } else if (u.mail) {
      this.#showMail(u.mail);
    } else if (u.live) {
      this.pausing ||= Boolean(u.live.pausing);
      this.#emit("live", u.live);
    } else if (u.end) {
      if (u.end.code === "ended") this.#setLink("ended");
    }
  }

  #show(view) {
    this.before = this.view;
    this.view = view;
    assignHues(view.participants.map((p) => p.id));
    this.#emit("view");
  }

  #showMail({ internal, dead, letters = [], deliveries = [] }) {
    const known = new Set(this.mail?.letters.map((l) => l.seq));
    this.mail = { internal, dead, letters: [...this.mail?.letters ?? [], ...letters.filter((l) => !known.has(l.seq))].slice(-50) };
    for (const d of deliveries) {
      if (!this.deliveries.has(d.message_id)) this.deliveries.set(d.message_id, new Map());
      this.deliveries.get(d.message_id).set(d.to_agent, d);
    }
    for (const id of this.deliveries.keys()) {
      if (this.deliveries.size <= 1000) break;
      this.deliveries.delete(id);
    }
    this.#emit("mail", { changed: new Set(deliveries.map((d) => d.message_id)) });
  }

  // answer shows what waits in the child room of a call, or below it.
  answer(room) {
    this.#emit("answer", { room });
  }

  // thread shows an internal message.
  thread(seq) {
    this.#emit("thread", { seq });
  }

  #setLink(link) {
    this.link = link;
    this.#emit("link");
  }

  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
