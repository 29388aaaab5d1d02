// Declines with all hand-offs, tasks and silences of the input.

import { Input, alloc, answer, decline } from "./roompolicy";

function decide(input: Input): string {
  let s = "";
  const h = input.handoff;
  if (h !== null) s = h.from + ">" + h.to + ":" + h.reason;
  for (let i = 0; i < input.agents.length; i++) {
    const a = input.agents[i];
    s += ";" + a.id;
    const tasks = a.tasks;
    for (let j = 0; j < tasks.length; j++) {
      const t = tasks[j];
      s += " " + t.id + "/" + t.title + "/" + t.state;
      const after = t.after;
      for (let k = 0; k < after.length; k++) s += "+" + after[k];
    }
  }
  s += "|" + input.replaced;
  for (let i = 0; i < input.events.length; i++) {
    const e = input.events[i];
    const silent = e.silent;
    for (let j = 0; j < silent.length; j++) s += "-" + silent[j];
    s += e.kind;
  }
  return decline(s);
}

export function roompolicy_abi_1(): void {}

export function roompolicy_alloc(size: u32): usize {
  return alloc(size);
}

export function roompolicy_decide(at: usize, len: u32): u64 {
  return answer(at, len, decide);
}
