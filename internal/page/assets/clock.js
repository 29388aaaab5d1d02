// The clocks of a room: how long it has run, and how long its turn has.

// A Clock calls tick once a second while the room is live, so that times on the page go on
// between two events.
export class Clock {
  #room;
  #since = 0; // when the open turn was granted, as this device measures time

  constructor(room, tick) {
    this.#room = room;
    room.addEventListener("history", ({ detail }) => detail.last === detail.tail && detail.events.forEach((u) => this.#note(u.event)));
    room.addEventListener("event", ({ detail }) => this.#note(detail.event));
    setInterval(() => { if (room.view?.phase === "live" && !document.hidden) tick(); }, 1000);
  }

  // now returns the running time of the room in nanoseconds. It stands still while the
  // room does.
  now() {
    return this.#room.clock();
  }

  // turn returns the time since the floor was given, in nanoseconds.
  turn() {
    return this.#since ? Math.max(0, Date.now() - this.#since) * 1e6 : 0;
  }

  #note(event) {
    if (event.type === "turn.granted") this.#since = Date.parse(event.at);
  }
}
