// How long the turn of a room has run. The time of the room is room.clock().

// A Clock calls tick once a second while the room is live, so that times on the page go on
// between two events.
export class Clock {
  #since = 0; // when the open turn was granted, as this device measures time

  constructor(room, tick) {
    room.addEventListener("history", ({ detail }) => detail.last === detail.tail && detail.events.forEach((u) => this.#note(u.event)));
    room.addEventListener("event", ({ detail }) => this.#note(detail.event));
    setInterval(() => { if (room.view?.phase === "live" && !document.hidden) tick(); }, 1000);
  }

  // turn returns the time since the floor was given, in nanoseconds.
  turn() {
    return this.#since ? Math.max(0, Date.now() - this.#since) * 1e6 : 0;
  }

  #note(event) {
    if (event.type === "turn.granted") this.#since = Date.parse(event.at);
  }
}
