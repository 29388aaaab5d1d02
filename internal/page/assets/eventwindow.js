// The part of a room's log that the timeline shows: events without a gap, and their
// rows. It grows by pages at both ends and loses what is far away.
import { RowModel } from "./rowmodel.js";

const most = 300; // rows
const mostEvents = 3000; // many events have no row of their own
const page = 300; // events of one request

export class EventWindow {
  model = new RowModel();
  first = 1; // numbers of the first and last event that are here
  last = 0;
  tail = 0; // of the newest event of the room
  #room;
  #updates = [];
  #busy = null;

  constructor(room) {
    this.#room = room;
  }

  // current reports whether the newest event is here, so that new ones can follow.
  get current() {
    return this.last >= this.tail;
  }

  get full() {
    return this.model.rows.length >= most;
  }

  // reset shows a part of the history and nothing else.
  reset(part) {
    this.#updates = [...part.events];
    this.first = part.first;
    this.last = part.last;
    this.tail = Math.max(this.tail, part.tail);
    this.#rebuild();
  }

  // add takes a new event. It is shown unless older ones are missing, or there are so
  // many rows that those that are read (keep) would go.
  add(update, keep) {
    const follows = this.current && !(keep && this.full);
    this.tail = update.event.seq;
    if (!follows) return false;
    this.last = this.tail;
    this.#updates.push(update);
    this.model.add(update);
    if (this.model.rows.length > most) this.#forget(this.model.trim(most - 40));
    if (this.#updates.length > mostEvents && !keep) this.#shorten();
    return true;
  }

  // older and newer load the page before and behind. They return whether anything came.
  older() {
    if (this.first <= 1) return false;
    return this.#load({ before: this.first, limit: page }, (part) => {
      this.#updates = [...part.events, ...this.#updates];
      this.first = part.first;
      this.#rebuild();
      this.#cutEnd();
    });
  }

  newer() {
    if (this.current) return false;
    return this.#load({ after: this.last, limit: page }, (part) => {
      this.#updates.push(...part.events.filter((u) => u.event.seq > this.last));
      this.last = Math.max(this.last, part.last);
      this.tail = Math.max(this.tail, part.tail);
      this.#rebuild();
      this.#forget(this.model.trim(most));
    });
  }

  // newest shows the end of the room, around the events about number seq, aroundTurn
  // those about a turn. They leave out everything else.
  newest() {
    return this.#load({ limit: page }, (part) => this.reset(part));
  }

  around(seq) {
    return this.#load({ before: seq + page / 2, limit: page }, (part) => this.reset(part));
  }

  aroundTurn(turn) {
    return this.#load({ turn, limit: page }, (part) => this.reset(part));
  }

  // load runs one request at a time.
  async #load(query, take) {
    if (this.#busy) return false;
    this.#busy = this.#room.history(query);
    try {
      take(await this.#busy);
      return true;
    } catch (problem) {
      this.#room.fail(problem);
      return false;
    } finally {
      this.#busy = null;
    }
  }

  #rebuild() {
    const before = this.model;
    this.model = new RowModel();
    for (const u of this.#updates) this.model.add(u);
    if (this.current) this.model.recall(before);
    else this.model.cutOpen();
  }

  // cutEnd forgets the newest rows over the limit.
  #cutEnd() {
    const over = this.model.rows.slice(most);
    if (over.length === 0) return;
    this.last = Math.min(...over.map((row) => row.from)) - 1;
    this.#updates = this.#updates.filter((u) => u.event.seq <= this.last);
    this.#rebuild();
  }

  // forget drops the events before the row that is now the first.
  #forget(first) {
    if (first <= this.first) return;
    this.first = first;
    const at = this.#updates.findIndex((u) => u.event.seq >= first);
    this.#updates.splice(0, at < 0 ? this.#updates.length : at);
  }

  // shorten drops the older half of the events: most of them have no row.
  #shorten() {
    this.#updates.splice(0, mostEvents / 2);
    this.first = this.#updates[0].event.seq;
    this.#rebuild();
  }
}
