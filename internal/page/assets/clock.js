// The clocks of a room: how long it has run, and how long its turn has.

// A Clock calls tick once a second while the room is live, so that times on the page go on
// between two events.
export class Clock {
  #room;
  #at = 0; // when the newest event was written, as this device measures time
  #since = 0; // the same for the grant of the open turn

  constructor(room, tick) {
    this.#room = room;
    room.addEventListener("history", ({ detail }) => detail.last === detail.tail && detail.events.forEach((u) => this.#note(u.event)));
    room.addEventListener("event", ({ detail }) => this.#note(detail.event));
    setInterval(() => { if (room.view?.phase === "live" && !document.hidden) tick(); }, 1000);
  }

  // now returns the running time of the room in nanoseconds. It stands still while the
  // room does.
  now() {
    const v = this.#room.view;
    return v.clock_ns + (v.phase === "live" && this.#at ? Math.max(0, Date.now() - this.#at) * 1e6 : 0);
  }

  // turn returns the time since the floor was given, in nanoseconds.
  turn() {
    return this.#since ? Math.max(0, Date.now() - this.#since) * 1e6 : 0;
  }

  #note(event) {
    this.#at = Date.parse(event.at);
    if (event.type === "turn.granted") this.#since = this.#at;
  }
}
