// The elements of the rows in their order. A change of one row changes one element.
import { draw } from "./rows.js";

export class RowList {
  #box;
  #page;
  #elements = new Map(); // by key

  constructor(box, page) {
    this.#box = box;
    this.#page = page;
  }

  element(key) {
    return this.#elements.get(key);
  }

  // patch shows the rows that have changed. Their neighbours have not moved.
  patch(rows, changed) {
    for (const row of changed) {
      const e = this.#elements.get(row.key);
      if (row.gone) this.#remove(row.key);
      else if (e) e.patch(row, this.#page);
      else this.#insert(rows, row);
    }
  }

  // reset shows exactly these rows, with the elements that are there.
  reset(rows) {
    const wanted = new Set(rows.map((row) => row.key));
    for (const key of [...this.#elements.keys()]) if (!wanted.has(key)) this.#remove(key);
    let at = this.#box.firstElementChild;
    for (const row of rows) {
      let e = this.#elements.get(row.key);
      if (e) e.patch(row, this.#page);
      else this.#elements.set(row.key, e = draw(row, this.#page));
      if (e === at) at = at.nextElementSibling;
      else this.#box.insertBefore(e, at);
    }
  }

  // again draws the names of participants again.
  again(rows) {
    for (const row of rows) this.#elements.get(row.key)?.patch(row, this.#page);
  }

  #insert(rows, row) {
    let next = rows.lastIndexOf(row) + 1;
    while (next < rows.length && !this.#elements.has(rows[next].key)) next++; // they are new too
    const e = draw(row, this.#page);
    this.#box.insertBefore(e, this.#elements.get(rows[next]?.key) ?? null);
    this.#elements.set(row.key, e);
  }

  #remove(key) {
    this.#elements.get(key)?.remove();
    this.#elements.delete(key);
  }
}
